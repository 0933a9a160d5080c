// The view of advice: a card for each finding, largest gain first.

import { shareBar } from "./bars.js";
import { amount, h, nameOf, visible } from "./dom.js";
import { commandLine, nameLink } from "./links.js";
import { exact, formatted } from "./units.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").Finding} Finding */
/** @typedef {import("./types.d.ts").Advice} Advice */

/**
 * @param {Context} context
 * @returns {import("./types.d.ts").Component}
 */
export function mountAdvice(context) {
  const { findings, quiet, notes } = context.payload.advice;
  const element = h(
    "div",
    { class: "advice" },
    findings.length === 0 && h("p", { class: "advice-none" }, nothing(context.payload.advice)),
    findings.map((finding) => card(context, finding)),
    quiet.length > 0 && findings.length > 0 && h("h2", null, "Checked without findings"),
    quiet.length > 0 && quietList(quiet),
    notes.length > 0 && h("h2", null, "What could not be checked"),
    notes.map((note) => h("p", { class: "remark" }, note)),
  );
  return { element, update: () => undefined };
}

/** @param {Advice} advice */
function nothing({ notes }) {
  if (notes.length === 0) return "The checkers found nothing to improve.";
  return "No findings, but not all checkers could run: see below for what they need. "
    + "“tfprof run PROGRAM” records a program.";
}

/**
 * @param {Context} context
 * @param {Finding} finding
 */
function card(context, finding) {
  const { sentence, gain, checker, command } = finding;
  return h(
    "article",
    { class: "advice-card", "data-checker": checker },
    h("p", { class: "advice-checker" }, checker),
    h("h2", null, sentenceParts(sentence)),
    gain && gainLine(gain),
    evidenceTable(context, finding),
    command && commandLine(command),
  );
}

/**
 * A sentence whose quoted names are set in their own type.
 * @param {string} sentence
 */
export function sentenceParts(sentence) {
  const parts = sentence.split("`");
  // Names come after odd numbers of quotes; without the closing quote it is just a character.
  if (parts.length % 2 === 0) return [visible(sentence)];
  return parts.map((part, place) =>
    (place % 2 === 0 ? visible(part) : h("code", null, nameOf(part))));
}

/** @param {NonNullable<Finding["gain"]>} gain */
function gainLine({ text, share, value }) {
  return h("p", { class: "advice-gain" }, shareBar(share), amount(`Gain: ${text}`, value));
}

/**
 * @param {Context} context
 * @param {Finding} finding
 */
function evidenceTable(context, { evidence: { columns, rows } }) {
  if (rows.length === 0) return null;
  const headings = columns.map(({ heading, unit }) =>
    h("th", { scope: "col", class: unit ? "number" : "" }, heading));
  const body = rows.map((row) =>
    h("tr", null, row.map((cell, place) => evidenceCell(context, columns[place], cell))));
  return h(
    "table",
    { class: "small-table advice-evidence" },
    h("thead", null, h("tr", null, headings)),
    h("tbody", null, body),
  );
}

/**
 * @param {Context} context
 * @param {Finding["evidence"]["columns"][number]} column
 * @param {string | number} cell
 */
function evidenceCell(context, { unit, view }, cell) {
  if (!unit) return h("td", null, nameLink(context, view, String(cell)));
  const value = Number(cell);
  const text = amount(formatted(value, unit), value, { title: exact(value, unit) });
  return h("td", { class: "number" }, text);
}

/** @param {Advice["quiet"]} quiet */
function quietList(quiet) {
  const rows = quiet.map(({ checker, summary }) =>
    h("div", null, h("dt", null, checker), h("dd", null, summary)));
  return h("dl", { class: "advice-quiet" }, rows);
}

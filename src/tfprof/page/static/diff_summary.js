// The top of a diff page: what changed in sentences, and the numbers of the whole model.

import { interval, NOT_SHOWN, percentOfBefore, signed } from "./diff_texts.js";
import { amount, h, nameOf } from "./dom.js";
import { exact, formatted } from "./units.js";

/** @typedef {import("./diff_types.d.ts").DiffPayload} DiffPayload */
/** @typedef {import("./diff_types.d.ts").DiffTotal} DiffTotal */

/** @param {DiffPayload} payload */
export function summaryOf({ sentences, totals }) {
  return [
    h("section", { class: "diff-summary", "aria-label": "Summary" }, sentences.map(sentence)),
    h("section", { class: "cards diff-cards", "aria-label": "Totals" }, totals.map(card)),
  ];
}

/**
 * A sentence in which names are between backticks.
 * @param {string} text
 */
function sentence(text) {
  const parts = text.split("`");
  return h("p", null, parts.map((part, place) =>
    (place % 2 === 1 && place < parts.length - 1 ? h("code", null, nameOf(part)) : nameOf(part))));
}

/** @param {DiffTotal} total */
function card(total) {
  const { label, unit, before, after, detail, times } = total;
  const change = after - before;
  const isShown = change !== 0 && (times === null || times.shown);
  const kind = !isShown ? "none" : change > 0 ? "more-3" : "less-3";
  const limits = times?.is_conclusive
    ? `95 % interval ${interval(times.low, times.high, unit)}` : "";
  return h(
    "div",
    { class: "card" },
    h("div", { class: "card-label" }, label),
    h(
      "div",
      { class: "diff-card-numbers" },
      change === 0 ? [] : [number(before, unit), h("span", { class: "quiet" }, " → ")],
      number(after, unit),
    ),
    h(
      "div",
      { class: "card-detail" },
      h("span", { class: `swatch change-${kind}`, "aria-hidden": "true" }),
      changeOf(total, isShown),
    ),
    [limits, detail].filter(Boolean).map((text) => h("div", { class: "card-detail" }, text)),
  );
}

/**
 * @param {DiffTotal} total
 * @param {boolean} isShown
 */
function changeOf({ before, after, unit }, isShown) {
  if (before === after) return "unchanged";
  const share = before === 0 ? "" : ` (${percentOfBefore(before, after)} of before)`;
  return `${isShown ? "" : `${NOT_SHOWN}\u00a0`}${signed(after - before, unit)}${share}`;
}

/**
 * @param {number} value
 * @param {import("./types.d.ts").Unit} unit
 */
function number(value, unit) {
  return amount(formatted(value, unit), value, { title: exact(value, unit) });
}

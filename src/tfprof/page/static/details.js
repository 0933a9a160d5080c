// The details of the selected row: what it is, all its numbers, what is around it, and actions.

import { copyButton } from "./clipboard.js";
import { actions } from "./details_actions.js";
import { numbersOf } from "./details_numbers.js";
import { neighbours } from "./details_ops.js";
import { fill, h, nameOf, sentence } from "./dom.js";
import { fullName } from "./row_names.js";

/** @typedef {import("./workbench.js").Answer} Answer */
/** @typedef {import("./workbench.js").Bench} Bench */

/**
 * @param {Bench} bench
 * @returns {import("./workbench.js").Panel}
 */
export function mountDetails(bench) {
  const element = h("aside", { class: "details", "aria-label": "Details of the selected row" });
  /** @type {Answer | null} */
  let answer = null;

  function select() {
    if (!answer) return;
    const { row } = bench.store.state;
    // Without a selection, the details are those of everything.
    const place = row < 0 ? 0 : answer.placeOf[row];
    if (place === undefined || place < 0) fill(element, hidden(bench, row));
    else fill(element, detailsOf(bench, answer, answer.rows.row[place]));
    element.scrollTop = 0;
  }

  return {
    element,
    select,
    show(found) {
      answer = found;
      select();
    },
  };
}

/**
 * @param {Bench} bench
 * @param {number} row
 */
function hidden({ store, kind }, row) {
  const names = store.rows.of(kind)?.name;
  const name = names && row < names.length ? names.get(row) : "";
  return [
    title(name),
    h("p", { class: "quiet" }, "This row is not shown with the current options."),
  ];
}

/**
 * @param {Bench} bench
 * @param {Answer} answer
 * @param {number} row
 */
function detailsOf(bench, answer, row) {
  const { data } = answer.rows;
  return [
    title(fullName(data, row)),
    facts(bench, answer, row),
    numbersOf(bench, answer, row),
    ...(row > 0
      ? [...actions(bench, data, row), ...neighbours(bench, answer, row)]
      : [notes(answer.rows.notes)]),
  ];
}

/** @param {string[]} texts */
export function notes(texts) {
  if (texts.length === 0) return null;
  return h(
    "section",
    { class: "details-section" },
    h("h3", null, "Notes"),
    h("ul", { class: "details-notes" }, texts.map(
      (text) => h("li", null, h("bdi", null, sentence(text))),
    )),
  );
}

/** @param {string} name */
export function title(name) {
  const shown = nameOf(name);
  return h(
    "div",
    { class: "details-title" },
    h("h2", null, shown),
    copyButton(name, shown, "Copy the name"),
  );
}

/**
 * What the row is, besides its numbers.
 * @param {Bench} bench
 * @param {Answer} answer
 * @param {number} row
 */
function facts(bench, { rows }, row) {
  const { data } = rows;
  const { ops } = bench.payload;
  const op = data.op[row];
  /** @type {[string, string | HTMLElement][]} */
  const found = data.columns
    .filter(({ key, unit }) => unit === null && key in data.facts)
    .map(({ key, heading }) => [heading, textOf(data.facts[key], row)]);
  if (op >= 0) {
    if (data.kind !== "op") found.push(["kind", textOf(ops.kind, op)]);
    found.push(["device", textOf(ops.device, op)], ["phase", textOf(ops.phase, op)]);
    found.push(["output shape", textOf(ops.shape, op)]);
    if (data.kind !== "layers") found.push(["layer", link(bench, "layers", ops.layer[op], op)]);
    if (data.kind !== "code") found.push(["line", link(bench, "code", ops.line[op], op)]);
  }
  const known = found.filter(([, value]) => value !== "");
  if (known.length === 0) return null;
  return h(
    "dl",
    { class: "details-facts" },
    known.map(([label, value]) => [
      h("dt", null, label),
      h("dd", null, typeof value === "string" ? nameOf(value) : value),
    ]).flat(),
  );
}

/**
 * @param {import("./types.d.ts").Coded} column
 * @param {number} row
 */
function textOf({ codes, values }, row) {
  return values.get(codes[row]);
}

/**
 * A row of another view that contains the op.
 * @param {Bench} bench
 * @param {import("./types.d.ts").ViewKind} kind
 * @param {number} row
 * @param {number} op
 */
function link({ payload, store }, kind, row, op) {
  if (row <= 0) return "";
  const name = payload.views[kind].name.get(row);
  const onclick = () => store.set({ view: kind, row, op });
  return h("button", { class: "link", type: "button", title: name, onclick }, nameOf(name));
}

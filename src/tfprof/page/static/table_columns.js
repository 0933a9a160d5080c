// The columns of a table: the name, the chosen metric, and what else the view offers.

import { amount, h, nameOf } from "./dom.js";
import { ROOT, leafAndScope, shortName } from "./row_names.js";
import { markedName } from "./search_marks.js";
import { shareLevel } from "./shares.js";
import { exact, formatted, percent } from "./units.js";

/** @typedef {import("./workbench.js").Answer} Answer */

/** A bar of less than this share would only be a dot. */
const LEAST_BAR = 0.005;

/**
 * A column. `key` is what siblings can be sorted by, or empty; `metric` is the metric or fact that
 * it shows besides the chosen one; `cell` is the content for a place.
 * @typedef {{
 *   key: string,
 *   metric: string,
 *   heading: string,
 *   group: string,
 *   meaning: string,
 *   class: string,
 *   width: string,
 *   cell: (place: number) => HTMLElement | string,
 * }} TableColumn
 */

/**
 * @param {Answer} answer
 * @returns {TableColumn[]}
 */
export function columnsOf(answer) {
  const { rows, metric } = answer;
  const others = rows.data.columns.filter(({ key }) => key !== metric.key);
  return [
    ...chosen(answer),
    ...others.map((column) => (column.unit ? number(answer, column) : fact(answer, column))),
  ];
}

/**
 * The columns of the chosen metric.
 * @param {Answer} answer
 * @returns {TableColumn[]}
 */
function chosen(answer) {
  const { rows, metric, total, own, whole } = answer;
  const { key, label: group, meaning } = metric;
  const isNested = rows.data.nested;
  /** @type {TableColumn[]} */
  const found = [
    {
      key,
      metric: "",
      heading: isNested ? "total" : "own",
      group,
      meaning,
      class: "table-total",
      width: "132px",
      cell: (place) => bar(total[rows.row[place]], whole, metric.unit),
    },
    {
      key: "",
      metric: "",
      heading: "share",
      group,
      meaning: "Share of the whole.",
      class: "table-number",
      width: "74px",
      cell: (place) => percent(total[rows.row[place]], whole),
    },
  ];
  if (!isNested) return found;
  found.splice(1, 0, {
    key: "",
    metric: "",
    heading: "own",
    group,
    meaning: "Without the rows below it.",
    class: "table-number",
    width: "92px",
    cell: (place) => ownNumber(answer, own, place),
  });
  return found;
}

/**
 * @param {number} value
 * @param {number} whole
 * @param {import("./types.d.ts").Unit} unit
 */
export function bar(value, whole, unit) {
  const length = h("span", { class: `table-bar share-${shareLevel(value, whole)}` });
  const share = whole > 0 ? Math.max(0, Math.min(1, value / whole)) : 0;
  length.style.width = share < LEAST_BAR ? "0" : `${100 * share}%`;
  return h("span", { class: "table-barred" }, length, numberText(value, unit));
}

/**
 * @param {Answer} answer
 * @param {import("./types.d.ts").Numbers} own
 * @param {number} place
 */
function ownNumber({ rows, metric }, own, place) {
  const row = rows.row[place];
  // As in tables of the command line, a row that is not accounted for has no number of its own.
  if (!rows.data.accounted[row]) return h("span", { class: "quiet" }, "–");
  return numberText(own[row], metric.unit);
}

/**
 * A number; zeros are faint, so that others stand out.
 * @param {number} value
 * @param {import("./types.d.ts").Unit} unit
 */
export function numberText(value, unit) {
  const attributes = value === 0 ? { class: "amount table-zero" } : { title: exact(value, unit) };
  return amount(formatted(value, unit), value, attributes);
}

/**
 * @param {Answer} answer
 * @param {import("./types.d.ts").Column} column
 * @returns {TableColumn}
 */
function number({ rows }, { key, column, heading, group, meaning, unit }) {
  const values = rows.total(column);
  const isFact = column in rows.data.facts || key === "held_bytes";
  return {
    key: isFact ? "" : key,
    metric: key,
    heading,
    group,
    meaning,
    class: "table-number",
    width: "92px",
    cell: (place) => {
      const value = values[rows.row[place]];
      return value < 0 && isFact ? "" : numberText(value, unit ?? "count");
    },
  };
}

/**
 * @param {Answer} answer
 * @param {import("./types.d.ts").Column} column
 * @returns {TableColumn}
 */
function fact({ rows }, { key, heading, group, meaning }) {
  const { codes, values } = rows.data.facts[key];
  return {
    key: "",
    metric: key,
    heading,
    group,
    meaning,
    class: "table-text",
    width: key === "layer_class" ? "120px" : "132px",
    cell: (place) => nameOf(values.get(codes[rows.row[place]])),
  };
}

/**
 * The name of a row, below those above it.
 * @param {Answer} answer
 * @param {number} place
 * @param {string} search what to mark in it
 */
export function nameCell({ rows, parent }, place, search) {
  const row = rows.row[place];
  const above = parent[place] < 0 ? -1 : rows.row[parent[place]];
  const name = shortName(rows.data, row, above);
  if (rows.data.kind !== "graph" || row === 0) return [markedName(name, search)];
  const [leaf, scope] = leafAndScope(rows.data, name);
  const before = scope !== "" && markedName(scope, search, { class: "name quiet table-scope" });
  return [markedName(leaf, search), before];
}

/**
 * The name of a row as a tooltip.
 * @param {Answer} answer
 * @param {number} place
 */
export function nameTitle({ rows }, place) {
  const row = rows.row[place];
  return row === 0 ? ROOT : rows.data.name.get(row);
}

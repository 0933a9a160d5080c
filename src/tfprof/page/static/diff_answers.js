// The rows of a view with one number, as the icicle and the table of a diff page show them.

import { children, depths, parents } from "./tree.js";

/** @typedef {import("./diff_types.d.ts").DiffMetric} DiffMetric */
/** @typedef {import("./diff_types.d.ts").DiffNumber} DiffNumber */
/** @typedef {import("./diff_types.d.ts").DiffViewData} DiffViewData */
/** @typedef {import("./types.d.ts").Numbers} Numbers */

/**
 * Rows with their numbers; `total` is the size of a row in the picture, `whole` that of the root.
 * @typedef {import("./icicle_layout.js").ShownTree & {
 *   view: DiffViewData,
 *   metric: DiffMetric,
 *   number: DiffNumber,
 *   change: Float64Array,
 *   oldNames: Map<number, string>,
 * }} DiffAnswer
 */

/**
 * All rows, in the order of the data.
 * @param {DiffViewData} view
 * @param {DiffMetric} metric
 * @returns {DiffAnswer}
 */
export function wholeAnswer(view, metric) {
  const row = Int32Array.from(view.end, (_, place) => place);
  return answerOf(view, metric, row, Int32Array.from(view.end));
}

/**
 * The rows of the table: those that changed and those above them, the largest change first, or all.
 * A selected row is always one of them.
 * @param {DiffViewData} view
 * @param {DiffMetric} metric
 * @param {{ isEverything: boolean, isByName: boolean, selected: number }} how
 */
export function listedAnswer(view, metric, { isEverything, isByName, selected }) {
  const { before, after, listed } = view.numbers[metric.column];
  const above = parents(view.end);
  const flags = isEverything ? new Uint8Array(view.end.length).fill(1) : Uint8Array.from(listed);
  for (let row = selected; row >= 0; row = above[row]) flags[row] = 1;
  flags[0] = 1;
  const size = Float64Array.from(before, (value, row) => Math.abs(after[row] - value));
  const { row, end } = arranged(view.end, flags, isByName ? null : size);
  return answerOf(view, metric, row, end);
}

/**
 * The flagged rows in preorder, with their subtree ends; siblings by descending size, if given.
 * @param {Numbers} end
 * @param {Uint8Array} flags
 * @param {Float64Array | null} size
 */
function arranged(end, flags, size) {
  /** @type {number[]} */
  const rows = [];
  /** @type {number[]} */
  const ends = [];
  // A row that is to be visited, or `~place` where the subtree of a place ends.
  const open = [0];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next < 0) {
      ends[~next] = rows.length;
      continue;
    }
    const below = children(end, next).filter((row) => flags[row]);
    if (size) below.sort((one, other) => size[other] - size[one]);
    open.push(~rows.length, ...below.reverse());
    rows.push(next);
  }
  return { row: Int32Array.from(rows), end: Int32Array.from(ends) };
}

/**
 * @param {DiffViewData} view
 * @param {DiffMetric} metric
 * @param {Int32Array} row
 * @param {Int32Array} end
 * @returns {DiffAnswer}
 */
function answerOf(view, metric, row, end) {
  const number = view.numbers[metric.column];
  const { before, after } = number;
  const placeOf = new Int32Array(view.end.length).fill(-1);
  row.forEach((one, place) => void (placeOf[one] = place));
  const total = sizes(view.end, before, after);
  return {
    view,
    metric,
    number,
    rows: { data: view, row, end, depth: depths(end) },
    parent: parents(end),
    placeOf,
    total,
    whole: total[0],
    change: Float64Array.from(after, (value, one) => value - before[one]),
    oldNames: oldNames(view),
  };
}

/**
 * The larger of before and after, but at least as much as the rows below together: those that were
 * added and removed may not fit otherwise.
 * @param {Numbers} end
 * @param {Numbers} before
 * @param {Numbers} after
 */
function sizes(end, before, after) {
  const above = parents(end);
  const below = new Float64Array(end.length);
  const found = new Float64Array(end.length);
  for (let row = end.length - 1; row >= 0; row -= 1) {
    found[row] = Math.max(before[row], after[row], below[row], 0);
    if (above[row] >= 0) below[above[row]] += found[row];
  }
  return found;
}

/**
 * The names in the base of rows that were renamed or moved.
 * @param {DiffViewData} view
 */
function oldNames({ renamed }) {
  return new Map(Array.from(renamed.row, (row, place) => [row, renamed.name.get(place)]));
}

/**
 * Whether the data shows that a row changed: exactly, or for times as far as the steps show it.
 * @param {Pick<DiffAnswer, "number" | "change">} answer
 * @param {number} row
 */
export function isShown({ number: { times }, change }, row) {
  if (change[row] === 0) return false;
  return times === null || (times.is_conclusive && times.shown[row] === 1);
}

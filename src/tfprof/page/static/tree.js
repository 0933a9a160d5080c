// Trees as arrays in preorder: the rows below row `i` are `i + 1` up to `end[i]`.

/** @typedef {import("./types.d.ts").Numbers} Numbers */
/** @typedef {import("./types.d.ts").ViewData} ViewData */
/** @typedef {import("./types.d.ts").Ops} Ops */

/**
 * The depth of each row; the root has depth 1.
 * @param {Numbers} end
 */
export function depths(end) {
  const found = new Int32Array(end.length);
  /** @type {number[]} */
  const open = [];
  for (let row = 0; row < end.length; row += 1) {
    while (open.length > 0 && open[open.length - 1] <= row) open.pop();
    open.push(end[row]);
    found[row] = open.length;
  }
  return found;
}

/**
 * The children of a row, in order.
 * @param {Numbers} end
 * @param {number} parent
 */
export function children(end, parent) {
  const found = [];
  for (let row = parent + 1; row < end[parent]; row = end[row]) found.push(row);
  return found;
}

/**
 * The sum of a column over each row and the rows below it.
 * @param {Numbers} end
 * @param {Numbers} own
 */
export function sumsBelow(end, own) {
  const running = new Float64Array(own.length + 1);
  for (let row = 0; row < own.length; row += 1) running[row + 1] = running[row] + own[row];
  const found = new Float64Array(own.length);
  for (let row = 0; row < own.length; row += 1) found[row] = running[end[row]] - running[row];
  return found;
}

/**
 * The own numbers of all rows of a view.
 * @param {ViewData} data
 * @param {Ops} ops
 * @param {string} column
 * @returns {Numbers}
 */
export function ownNumbers(data, ops, column) {
  if (column in data.own) return data.own[column];
  const { op } = data;
  const numbers = ops.numbers[column];
  const found = new Float64Array(op.length);
  if (!numbers) return found;
  for (let row = 0; row < op.length; row += 1) if (op[row] >= 0) found[row] = numbers[op[row]];
  return found;
}

/**
 * The totals of all rows of a view.
 * @param {ViewData} data
 * @param {Ops} ops
 * @param {string} column
 * @returns {Numbers}
 */
export function totalNumbers(data, ops, column) {
  if (column in data.total) return data.total[column];
  return sumsBelow(data.end, ownNumbers(data, ops, column));
}

/**
 * The row above each row, -1 for the root.
 * @param {Numbers} end
 */
export function parents(end) {
  const found = new Int32Array(end.length).fill(-1);
  /** @type {number[]} */
  const open = [];
  for (let row = 0; row < end.length; row += 1) {
    while (open.length > 0 && end[open[open.length - 1]] <= row) open.pop();
    if (open.length > 0) found[row] = open[open.length - 1];
    open.push(row);
  }
  return found;
}

// The rows that cost most, without counting anything twice.

/** @typedef {import("./types.d.ts").Numbers} Numbers */

const MOST_ROWS = 8;

/** A row with less than this share of the whole is not divided further. */
const LEAST_SHARE = 0.2;

/**
 * The largest rows. In nested views a large row is replaced by the rows below it, as long as they
 * explain most of it.
 * @param {{ data: { end: Numbers } }} rows
 * @param {Numbers} values
 * @returns {number[]} rows of the view's data
 */
export function largest(rows, values) {
  const { end } = rows.data;
  let found = childrenOf(end, 0);
  for (;;) {
    const divisible = found.find((row) => isDivisible(row, end, values));
    if (divisible === undefined) break;
    found = found.flatMap((row) => (row === divisible ? childrenOf(end, row) : [row]));
  }
  return largestOf(found, values);
}

/**
 * The rows that cost most without the rows below them.
 * @param {Numbers} values
 * @returns {number[]} rows of the view's data
 */
export function largestOwn(values) {
  return largestOf(Array.from(values, (_, row) => row).slice(1), values);
}

/**
 * @param {number[]} rows
 * @param {Numbers} values
 */
function largestOf(rows, values) {
  return rows
    .filter((row) => values[row] > 0)
    .sort((one, other) => values[other] - values[one])
    .slice(0, MOST_ROWS);
}

/**
 * @param {Numbers} end
 * @param {number} parent
 */
function childrenOf(end, parent) {
  const found = [];
  for (let row = parent + 1; row < end[parent]; row = end[row]) found.push(row);
  return found;
}

/**
 * @param {number} row
 * @param {Numbers} end
 * @param {Numbers} values
 */
function isDivisible(row, end, values) {
  const below = childrenOf(end, row);
  const sum = below.reduce((total, child) => total + values[child], 0);
  return below.length > 0 && values[row] > LEAST_SHARE * values[0] && sum > 0.8 * values[row];
}

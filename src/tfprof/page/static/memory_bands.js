// Divides a curve of memory into bands: the largest groups of holders at the peak, and the rest.

import { labelSums, scopeSums } from "./memory_held.js";

/** @typedef {import("./types.d.ts").Numbers} Numbers */
/** @typedef {import("./types.d.ts").Coded} Coded */
/** @typedef {import("./types.d.ts").MemoryHolders} Holders */
/** @typedef {import("./types.d.ts").MemoryChanges} Changes */

/**
 * The group of each holder; holders of no group have the number after the last one.
 * @typedef {{ names: string[], of: Int32Array }} Groups
 */

const MOST_GROUPS = 7;
// A scope with more than this share of the peak is divided into the scopes inside it, if the
// largest of these hold most of its memory.
const LARGE_SHARE = 1 / 3;
const MOST = 1 / 2;

/**
 * The largest groups of holders at the peak by kind of op or line of code.
 * @param {Coded} labels
 * @param {Float64Array} held at the peak
 * @returns {Groups}
 */
export function groupsByLabel(labels, held) {
  const { sums } = labelSums(labels, held);
  const largest = largestOf([...sums.keys()], sums);
  const place = new Map(largest.map((label, group) => [label, group]));
  return {
    names: largest.map((label) => labels.values.get(label)),
    of: Int32Array.from(labels.codes, (code) => place.get(code) ?? largest.length),
  };
}

/**
 * The largest scopes at the peak, where scopes with a large share are divided.
 * @param {Holders} holders
 * @param {Float64Array} held at the peak
 * @returns {Groups}
 */
export function groupsByScope(holders, held) {
  const { end, name } = holders.scopes;
  const { own, total } = scopeSums(holders, held);
  const scopes = new Set(childrenOf(0, end));
  for (const row of scopes) {
    // Scopes that are added here are visited later in the same loop.
    if (own[row] !== 0 || total[row] <= LARGE_SHARE * total[0]) continue;
    const inside = childrenOf(row, end);
    const largest = largestOf(inside, total).reduce((bytes, child) => bytes + total[child], 0);
    if (largest <= MOST * total[row]) continue;
    scopes.delete(row);
    for (const child of inside) scopes.add(child);
  }
  const largest = largestOf([...scopes], total);
  const groupOfRow = new Int32Array(end.length).fill(largest.length);
  largest.forEach((row, group) => groupOfRow.fill(group, row, end[row]));
  return {
    names: largest.map((row) => name.get(row)),
    of: new Int32Array(holders.row.length).map((_, holder) => groupOfRow[holders.row[holder]]),
  };
}

/**
 * @param {number[]} rows
 * @param {Float64Array} sizes
 */
function largestOf(rows, sizes) {
  const held = rows.filter((row) => sizes[row] > 0);
  return held.sort((one, other) => sizes[other] - sizes[one]).slice(0, MOST_GROUPS);
}

/**
 * @param {number} row
 * @param {Numbers} end
 */
function childrenOf(row, end) {
  const found = [];
  for (let child = row + 1; child < end[row]; child = end[child]) found.push(child);
  return found;
}

/**
 * The bytes of each group at each of the ascending times.
 * @param {Groups} groups
 * @param {Changes} changes
 * @param {Numbers} times
 */
export function bandsOver(groups, changes, times) {
  const bands = [...groups.names, "rest"].map(() => new Float64Array(times.length));
  const level = new Float64Array(bands.length);
  let row = 0;
  times.forEach((/** @type {number} */ time, /** @type {number} */ point) => {
    for (; row < changes.time.length && changes.time[row] <= time; row += 1) {
      level[groups.of[changes.holder[row]]] += changes.bytes[row];
    }
    bands.forEach((band, group) => {
      band[point] = level[group];
    });
  });
  return bands;
}

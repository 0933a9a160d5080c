// What holds memory at a time, as `views/memory.py` computes it at the peak.

import { depths, sumsBelow } from "./tree.js";

/** @typedef {import("./types.d.ts").Numbers} Numbers */
/** @typedef {import("./types.d.ts").Coded} Coded */
/** @typedef {import("./types.d.ts").MemoryHolders} Holders */
/** @typedef {import("./types.d.ts").MemoryChanges} Changes */

/**
 * Holders of memory, largest first, each followed by the rows inside it.
 * @typedef {object} Held
 * @property {string[]} name
 * @property {ArrayLike<number>} depth 1 for a row at the top
 * @property {ArrayLike<number>} bytes including the rows inside
 * @property {ArrayLike<number>} ops
 * @property {number} hiddenRows
 * @property {number} hiddenBytes
 */

/**
 * The bytes that each holder holds at a time.
 * @param {Changes} changes
 * @param {number} count of holders
 * @param {number} time
 */
export function heldAt(changes, count, time) {
  const held = new Float64Array(count);
  for (let row = 0; row < changes.time.length && changes.time[row] <= time; row += 1) {
    held[changes.holder[row]] += changes.bytes[row];
  }
  return held;
}

/** @param {Float64Array} column */
export function sum(column) {
  return column.reduce((total, value) => total + value, 0);
}

/**
 * The memory that the holders with each label hold.
 * @param {Coded} labels
 * @param {Float64Array} held
 * @param {number} most rows; -1 for all
 * @returns {Held}
 */
export function heldByLabel(labels, held, most) {
  const { sums, counts } = labelSums(labels, held);
  // The labels are in order of their texts, and sorting is stable, as in Python.
  const rows = [...sums.keys()].filter((row) => sums[row] !== 0);
  rows.sort((one, other) => sums[other] - sums[one]);
  const shown = most < 0 ? rows : rows.slice(0, most);
  const shownBytes = shown.reduce((total, row) => total + sums[row], 0);
  return {
    name: shown.map((row) => labels.values.get(row)),
    depth: shown.map(() => 1),
    bytes: shown.map((row) => sums[row]),
    ops: shown.map((row) => counts[row]),
    hiddenRows: rows.length - shown.length,
    hiddenBytes: sum(held) - shownBytes,
  };
}

/**
 * @param {Coded} labels
 * @param {Float64Array} held
 */
export function labelSums(labels, held) {
  const sums = new Float64Array(labels.values.length);
  const counts = new Float64Array(labels.values.length);
  held.forEach((bytes, holder) => {
    sums[labels.codes[holder]] += bytes;
    if (bytes !== 0) counts[labels.codes[holder]] += 1;
  });
  return { sums, counts };
}

/**
 * The memory that the holders in each scope hold, without scopes that only contain one other.
 * @param {Holders} holders
 * @param {Float64Array} held
 * @param {number} most rows; -1 for all
 * @param {number} mostDepth the root has depth 1
 * @returns {Held}
 */
export function heldByScope(holders, held, most, mostDepth) {
  const { own, total, ops } = scopeSums(holders, held);
  const { end, name } = holders.scopes;
  const depth = depths(end);
  const isKept = (/** @type {number} */ row) =>
    row === 0 || ((total[row] !== 0 || own[row] !== 0) && depth[row] <= mostDepth);
  const rows = withoutChains([...end.keys()].filter(isKept), end, own);
  const shown = largestInOrder(rows, end, total, most);
  const shownDepth = shownDepths(shown, end);
  const top = shown.filter((_, place) => shownDepth[place] === 1);
  return {
    name: shown.map((row) => name.get(row)),
    depth: shownDepth,
    bytes: shown.map((row) => total[row]),
    ops: shown.map((row) => ops[row]),
    hiddenRows: rows.length - 1 - shown.length,
    hiddenBytes: sum(held) - top.reduce((bytes, row) => bytes + total[row], 0),
  };
}

/**
 * What each scope holds itself and in total, and how many ops hold it.
 * @param {Holders} holders
 * @param {Float64Array} held
 */
export function scopeSums(holders, held) {
  const { end } = holders.scopes;
  const own = new Float64Array(end.length);
  held.forEach((bytes, holder) => {
    own[holders.row[holder]] += bytes;
  });
  const total = sumsBelow(end, own);
  const ops = sumsBelow(end, own.map((bytes) => (bytes === 0 ? 0 : 1)));
  return { own, total, ops };
}

/**
 * The rows without those that have exactly one child and hold nothing themselves.
 * @param {number[]} rows ascending, the root first
 * @param {Numbers} end
 * @param {Float64Array} own
 */
function withoutChains(rows, end, own) {
  const children = new Int32Array(end.length);
  for (const parent of parentsAmong(rows, end)) if (parent >= 0) children[parent] += 1;
  return rows.filter((row) => row === 0 || children[row] !== 1 || own[row] !== 0);
}

/**
 * For each of the ascending rows, the nearest of them that contains it, -1 if none does.
 * @param {number[]} rows
 * @param {Numbers} end
 */
function parentsAmong(rows, end) {
  /** @type {number[]} */
  const open = [];
  return rows.map((row) => {
    while (open.length > 0 && end[open[open.length - 1]] <= row) open.pop();
    const parent = open.length > 0 ? open[open.length - 1] : -1;
    open.push(row);
    return parent;
  });
}

/**
 * The rows with the largest totals, each followed by those inside it, siblings largest first.
 * @param {number[]} rows ascending, the root first, which is not one of the result
 * @param {Numbers} end
 * @param {Float64Array} total
 * @param {number} most -1 for all
 */
function largestInOrder(rows, end, total, most) {
  if (most < 0 || rows.length - 1 <= most) return orderedRows(rows, end, total);
  if (most === 0) return [];
  // Sorting numbers is much faster than sorting rows, of which there may be many.
  const sizes = Float64Array.from(rows.slice(1), (row) => total[row]).sort();
  const least = sizes[sizes.length - most];
  const isLarge = (/** @type {number} */ row) => total[row] >= least;
  const ordered = orderedRows(withThoseAround(rows, end, isLarge), end, total).filter(isLarge);
  const bySize = [...ordered].sort((one, other) => total[other] - total[one]);
  const chosen = new Set(bySize.slice(0, most));
  return ordered.filter((row) => chosen.has(row));
}

/**
 * Some of the ascending rows, and the rows that contain them.
 * @param {number[]} rows
 * @param {Numbers} end
 * @param {(row: number) => boolean} isWanted
 */
function withThoseAround(rows, end, isWanted) {
  const parents = parentsAmong(rows, end);
  const isAround = new Uint8Array(end.length);
  for (let place = rows.length - 1; place > 0; place -= 1) {
    const row = rows[place];
    if (isWanted(row) || isAround[row] === 1) isAround[parents[place]] = 1;
  }
  return rows.filter((row) => row === 0 || isAround[row] === 1 || isWanted(row));
}

/**
 * The rows without the root, siblings in descending order of their totals.
 * @param {number[]} rows ascending, the root first
 * @param {Numbers} end
 * @param {Float64Array} total
 */
function orderedRows(rows, end, total) {
  const parents = parentsAmong(rows, end);
  /** @type {Map<number, number[]>} */
  const children = new Map(rows.map((row) => [row, []]));
  rows.forEach((row, place) => children.get(parents[place])?.push(row));
  for (const below of children.values()) below.sort((one, other) => total[other] - total[one]);
  /** @type {number[]} */
  const ordered = [];
  const waiting = [0];
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    if (row !== 0) ordered.push(row);
    for (const child of (children.get(row) ?? []).toReversed()) waiting.push(child);
  }
  return ordered;
}

/**
 * The depths of rows in the order in which they are shown, 1 for those at the top.
 * @param {number[]} rows
 * @param {Numbers} end
 */
function shownDepths(rows, end) {
  /** @type {number[]} */
  const open = [];
  return rows.map((row) => {
    while (open.length > 0) {
      const last = open[open.length - 1];
      if (last < row && row < end[last]) break;
      open.pop();
    }
    open.push(row);
    return open.length;
  });
}

// Divides a long graph into columns side by side, like the columns of a newspaper.

/** @typedef {{ id: string, width: number, height: number }} Box */
/** @typedef {{ from: string, to: string }} Edge */
/** @typedef {{ width: number, height: number }} Size */

/** The distances between boxes, and between columns. */
export const GAP = { x: 28, y: 36, column: 56 };

/** A column ends where at most this many boxes have edges to later columns. */
const MOST_CROSSING = 2;
const MOST_COLUMNS = 12;
/** More columns than needed must make the picture larger by this factor. */
const WORTH = 1.1;

/**
 * The boxes of each column, from left to right, so that the whole fits the room best. Edges that
 * start elsewhere come from above the first column.
 * @param {Box[]} boxes
 * @param {Edge[]} edges
 * @param {Size} room
 * @returns {string[][]}
 */
export function columns(boxes, edges, room) {
  const known = new Set(boxes.map(({ id }) => id));
  const rank = ranks(boxes, edges.filter(({ from }) => known.has(from)));
  const levels = byLevel(boxes, rank);
  const crossing = crossings(edges, rank, levels.length);
  let best = [levels];
  let bestScale = scale(best, room);
  for (let count = 2; count <= Math.min(MOST_COLUMNS, levels.length); count += 1) {
    const found = divided(levels, crossing, count);
    const foundScale = scale(found, room);
    if (bestScale >= 1 || foundScale < bestScale * WORTH) continue;
    best = found;
    bestScale = foundScale;
  }
  return best.map((column) => column.flat().map(({ id }) => id));
}

/**
 * The level of each box: one more than that of the boxes before it. Cycles are cut.
 * @param {{ id: string }[]} boxes
 * @param {Edge[]} edges
 * @returns {Map<string, number>}
 */
export function ranks(boxes, edges) {
  const place = new Map(boxes.map(({ id }, row) => [id, row]));
  /** @type {number[][]} */
  const after = boxes.map(() => []);
  const open = new Int32Array(boxes.length);
  for (const { from, to } of edges) {
    const user = place.get(to) ?? 0;
    after[place.get(from) ?? 0].push(user);
    open[user] += 1;
  }
  const level = new Int32Array(boxes.length);
  const isDone = new Uint8Array(boxes.length);
  const reached = new Int32Array(boxes.length);
  const ready = [...boxes.keys()].filter((row) => open[row] === 0);
  for (let count = 0; count < boxes.length; count += 1) {
    const row = ready.pop() ?? mostReached(isDone, reached);
    isDone[row] = 1;
    for (const user of after[row].filter((one) => !isDone[one])) {
      level[user] = Math.max(level[user], level[row] + 1);
      reached[user] += 1;
      open[user] -= 1;
      if (open[user] === 0) ready.push(user);
    }
  }
  return new Map(boxes.map(({ id }, row) => [id, level[row]]));
}

/**
 * Where to cut a cycle, if all boxes that are left wait for others: the one with most inputs done.
 * @param {Uint8Array} isDone
 * @param {Int32Array} reached
 */
function mostReached(isDone, reached) {
  let found = -1;
  for (let row = 0; row < isDone.length; row += 1) {
    if (!isDone[row] && (found < 0 || reached[row] > reached[found])) found = row;
  }
  return found;
}

/**
 * @param {Box[]} boxes
 * @param {Map<string, number>} rank
 */
function byLevel(boxes, rank) {
  /** @type {Box[][]} */
  const levels = [];
  for (const box of boxes) (levels[rank.get(box.id) ?? 0] ??= []).push(box);
  return Array.from(levels, (level) => level ?? []);
}

/**
 * The number of boxes up to each level that have edges to later levels.
 * @param {Edge[]} edges
 * @param {Map<string, number>} rank
 * @param {number} count
 */
function crossings(edges, rank, count) {
  /** @type {Map<string, number>} */
  const last = new Map();
  for (const { from, to } of edges) {
    last.set(from, Math.max(last.get(from) ?? 0, rank.get(to) ?? 0));
  }
  const found = new Int32Array(count + 1);
  for (const [from, end] of last) {
    const start = Math.max(0, rank.get(from) ?? 0);
    if (end <= start) continue;
    found[start] += 1;
    found[end] -= 1;
  }
  for (let level = 1; level <= count; level += 1) found[level] += found[level - 1];
  return found;
}

/**
 * Levels divided into at most so many columns, as low as possible.
 * @param {Box[][]} levels
 * @param {Int32Array} crossing
 * @param {number} count
 */
function divided(levels, crossing, count) {
  const heights = levels.map((level) => columnSize([level]).height);
  const sum = heights.reduce((one, other) => one + other, 0);
  let [least, most] = [sum / count, sum];
  while (most - least > 1) {
    const middle = (least + most) / 2;
    if (filled(heights, crossing, middle).length <= count) most = middle;
    else least = middle;
  }
  const starts = filled(heights, crossing, most);
  return starts.map((start, place) => levels.slice(start, starts[place + 1]));
}

/**
 * The first level of each column if columns are not higher than a limit, as far as possible.
 * @param {number[]} heights
 * @param {Int32Array} crossing
 * @param {number} limit
 */
function filled(heights, crossing, limit) {
  const starts = [0];
  let height = 0;
  let isOver = false;
  heights.forEach((own, level) => {
    const mayEnd = level > 0 && crossing[level - 1] <= MOST_CROSSING;
    isOver ||= height + own > limit;
    if (isOver && mayEnd) {
      starts.push(level);
      height = 0;
      isOver = own > limit;
    }
    height += own;
  });
  return starts;
}

/**
 * About how much columns can be enlarged in the room, or must be reduced.
 * @param {Box[][][]} found
 * @param {Size} room
 */
function scale(found, room) {
  const sizes = found.map(columnSize);
  const width = sizes.reduce((sum, one) => sum + one.width, 0) + GAP.column * (sizes.length - 1);
  const height = Math.max(...sizes.map((one) => one.height));
  return Math.min(room.width / width, room.height / height);
}

/**
 * @param {Box[][]} levels
 * @returns {Size}
 */
function columnSize(levels) {
  let width = 1;
  let height = 1;
  for (const level of levels) {
    const own = level.reduce((sum, box) => sum + box.width + GAP.x, -GAP.x);
    width = Math.max(width, own);
    height += Math.max(0, ...level.map((box) => box.height)) + GAP.y;
  }
  return { width, height };
}

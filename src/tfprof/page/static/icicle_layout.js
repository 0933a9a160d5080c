// Where the blocks of an icicle are: width is the total, rows are depths, the root is at the top.

/** @typedef {import("./types.d.ts").Numbers} Numbers */
/** @typedef {import("./types.d.ts").RowTexts} RowTexts */

/**
 * The rows of an icicle and their sizes, which may be part of a larger answer. Places are positions
 * among the shown rows; numbers are by row of the data.
 * @typedef {{
 *   rows: { data: RowTexts, row: Int32Array, end: Int32Array, depth: Int32Array },
 *   metric: { label: string },
 *   total: Numbers,
 *   parent: Int32Array,
 *   placeOf: Int32Array,
 *   whole: number,
 * }} ShownTree
 */

/** Blocks narrower than this, in pixels, are drawn together as one faint block. */
const NARROW = 0.5;

/** The place of a block that stands for several narrow ones. */
export const MERGED = -1;

/**
 * A block: the place of its row, its position in pixels and its level, 0 at the top. `parent` is
 * the place of the row above.
 * @typedef {{ place: number, x: number, width: number, level: number, parent: number }} Block
 */

/**
 * The visible blocks below a row, each after the one above it. Subtrees that are too narrow to be
 * seen are skipped, so the number of blocks depends on the size of the picture, not of the tree.
 * @param {ShownTree} answer
 * @param {number} root the place of the row that takes the whole width
 * @param {number} width
 * @param {number} levels
 * @returns {Block[]}
 */
export function layout({ rows, total }, root, width, levels) {
  const { end, row } = rows;
  const whole = total[row[root]];
  /** @type {Block[]} */
  const blocks = [];
  if (!(whole > 0)) return blocks;
  const scale = width / whole;

  /**
   * @param {number} place
   * @param {number} x
   * @param {number} size
   * @param {number} level
   * @param {number} parent
   */
  function add(place, x, size, level, parent) {
    blocks.push({ place, x, width: size, level, parent });
    if (place < 0 || level + 1 >= levels) return;
    const right = x + size;
    let left = x;
    let narrow = 0;
    for (let child = place + 1; child < end[place]; child = end[child]) {
      // Numbers may be negative, and hidden rows may leave more below a row than the row has.
      const below = Math.min(Math.max(0, total[row[child]]) * scale, right - left);
      if (below < NARROW) {
        narrow += below;
      } else {
        if (narrow > 0) add(MERGED, left - narrow, narrow, level + 1, place);
        narrow = 0;
        add(child, left, below, level + 1, place);
      }
      left += below;
    }
    if (narrow > 0) add(MERGED, left - narrow, narrow, level + 1, place);
  }

  add(root, 0, width, 0, -1);
  return blocks;
}

/**
 * The block at a position, or undefined.
 * @param {Block[]} blocks
 * @param {number} x
 * @param {number} level
 */
export function blockAt(blocks, x, level) {
  return blocks.find((one) => one.level === level && one.x <= x && x < one.x + one.width);
}

/**
 * The depth of the tree below a row, the row included.
 * @param {ShownTree} answer
 * @param {number} root
 */
export function depthBelow({ rows }, root) {
  let deepest = 0;
  for (let place = root; place < rows.end[root]; place += 1) {
    if (rows.depth[place] > deepest) deepest = rows.depth[place];
  }
  return deepest - rows.depth[root] + 1;
}

// Which rows of a table are unfolded, and so which are listed.

/** @typedef {import("./icicle_layout.js").ShownTree} ShownTree */

/** Views with at most this many rows are unfolded at first. */
const FEW = 300;

export class Folding {
  constructor() {
    /** Whether each row of the data is unfolded. */
    this.open = new Uint8Array(0);
  }

  /**
   * Rows keep their state, also if a newer profile has other numbers for them.
   * @param {ShownTree} answer
   * @param {number} size the number of rows that decides
   * @param {number} first a place to be listed from the start, -1 if none
   */
  start(answer, size, first) {
    const { end } = answer.rows.data;
    if (this.open.length === end.length) return;
    this.open = new Uint8Array(end.length).fill(size <= FEW ? 1 : 0);
    this.unfold(answer, 0);
    if (first >= 0) this.reveal(answer, first);
  }

  /**
   * The places that are listed.
   * @param {ShownTree} answer
   */
  listed({ rows }) {
    const found = [];
    const { end, row } = rows;
    for (let place = 0; place < row.length;) {
      found.push(place);
      place = this.open[row[place]] ? place + 1 : end[place];
    }
    return Int32Array.from(found);
  }

  /**
   * Unfold a row, and rows below it as long as each is an only child.
   * @param {ShownTree} answer
   * @param {number} place
   */
  unfold({ rows }, place) {
    const { end, row } = rows;
    let current = place;
    this.open[row[current]] = 1;
    while (end[current] > current + 1 && end[current + 1] === end[current]) {
      current += 1;
      this.open[row[current]] = 1;
    }
  }

  /**
   * @param {ShownTree} answer
   * @param {number} place
   */
  fold({ rows }, place) {
    this.open[rows.row[place]] = 0;
  }

  /**
   * Unfold everything above a row, so that it is listed. Returns whether anything changed.
   * @param {ShownTree} answer
   * @param {number} place
   */
  reveal({ rows, parent }, place) {
    let changed = false;
    for (let above = parent[place]; above >= 0; above = parent[above]) {
      changed ||= this.open[rows.row[above]] === 0;
      this.open[rows.row[above]] = 1;
    }
    return changed;
  }
}

// The rows of a view that filters have kept so far, as a tree in preorder.

import { depths } from "./tree.js";

/** @typedef {import("./types.d.ts").Numbers} Numbers */

/** Rows in order, the root first. Places are positions among them. */
export class KeptRows {
  /**
   * @param {Int32Array} rows of the view's data
   * @param {Int32Array} end the place where the subtree of each row ends
   */
  constructor(rows, end) {
    this.rows = rows;
    this.end = end;
  }

  /**
   * All rows of a view.
   * @param {Numbers} end
   */
  static all(end) {
    return new KeptRows(new Int32Array(end.length).map((_, row) => row), Int32Array.from(end));
  }

  get length() {
    return this.rows.length;
  }

  /** The depth of each row; the root has depth 1. */
  get depths() {
    return depths(this.end);
  }

  /**
   * The root and the flagged rows; children of dropped rows move up.
   * @param {Uint8Array} flags by place
   */
  keep(flags) {
    flags[0] = 1;
    const before = new Int32Array(this.length + 1);
    for (let place = 0; place < this.length; place += 1) {
      before[place + 1] = before[place] + flags[place];
    }
    const count = before[this.length];
    if (count === this.length) return this;
    const rows = new Int32Array(count);
    const end = new Int32Array(count);
    for (let place = 0; place < this.length; place += 1) {
      if (!flags[place]) continue;
      rows[before[place]] = this.rows[place];
      end[before[place]] = before[this.end[place]];
    }
    return new KeptRows(rows, end);
  }

  /**
   * For each row, whether any row above it is flagged.
   * @param {Uint8Array} flags by place
   */
  below(flags) {
    const found = new Uint8Array(this.length);
    let until = 0;
    for (let place = 0; place < this.length; place += 1) {
      if (place < until) found[place] = 1;
      else if (flags[place]) until = this.end[place];
    }
    return found;
  }

  /** The same rows, each below the one before it. */
  chained() {
    return new KeptRows(this.rows, new Int32Array(this.length).fill(this.length));
  }

  /** The same rows, all directly below the root. */
  sideBySide() {
    const end = this.rows.map((_, place) => place + 1);
    end[0] = this.length;
    return new KeptRows(this.rows, end);
  }

  /**
   * The same rows with siblings in order; rows that compare as equal stay as they are.
   * @param {(one: number, other: number) => number} compare two rows of the data
   */
  ordered(compare) {
    const { offsets, places } = this.children();
    let isOrdered = true;
    for (let parent = 0; parent < this.length; parent += 1) {
      const siblings = places.subarray(offsets[parent], offsets[parent + 1]);
      if (this.isInOrder(siblings, compare)) continue;
      isOrdered = false;
      siblings.sort((one, other) => compare(this.rows[one], this.rows[other]) || one - other);
    }
    return isOrdered ? this : this.arranged(offsets, places);
  }

  /**
   * @param {Int32Array} siblings
   * @param {(one: number, other: number) => number} compare
   */
  isInOrder(siblings, compare) {
    for (let at = 1; at < siblings.length; at += 1) {
      if (compare(this.rows[siblings[at - 1]], this.rows[siblings[at]]) > 0) return false;
    }
    return true;
  }

  /** The places of the children of each row. */
  children() {
    const offsets = new Int32Array(this.length + 2);
    const parents = this.parents();
    for (let place = 1; place < this.length; place += 1) offsets[parents[place] + 2] += 1;
    for (let at = 2; at < offsets.length; at += 1) offsets[at] += offsets[at - 1];
    const places = new Int32Array(Math.max(this.length - 1, 0));
    for (let place = 1; place < this.length; place += 1) {
      places[offsets[parents[place] + 1]] = place;
      offsets[parents[place] + 1] += 1;
    }
    return { offsets, places };
  }

  /** The place of the parent of each row, -1 for the root. */
  parents() {
    const found = new Int32Array(this.length).fill(-1);
    /** @type {number[]} */
    const open = [];
    for (let place = 0; place < this.length; place += 1) {
      while (open.length > 0 && this.end[open[open.length - 1]] <= place) open.pop();
      found[place] = open[open.length - 1] ?? -1;
      open.push(place);
    }
    return found;
  }

  /**
   * The same rows with the children of each in the given order.
   * @param {Int32Array} offsets
   * @param {Int32Array} places
   */
  arranged(offsets, places) {
    const moved = new Int32Array(this.length);
    const rows = new Int32Array(this.length);
    const end = new Int32Array(this.length);
    // Parents come first, so they have moved already.
    for (let parent = 0; parent < this.length; parent += 1) {
      let next = moved[parent] + 1;
      rows[moved[parent]] = this.rows[parent];
      end[moved[parent]] = moved[parent] + this.end[parent] - parent;
      for (let at = offsets[parent]; at < offsets[parent + 1]; at += 1) {
        const child = places[at];
        moved[child] = next;
        next += this.end[child] - child;
      }
    }
    return new KeptRows(rows, end);
  }
}

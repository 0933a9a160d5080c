// The numbers of the drawn graph's nodes: sums over the ops that each node stands for.

import { FLAG } from "./graph_tree.js";
import { sumsBelow } from "./tree.js";

/** @typedef {import("./graph_tree.js").GraphTree} GraphTree */
/** @typedef {import("./types.d.ts").Numbers} Numbers */

/** The totals of all nodes for one metric, and how much of them is that of gradients. */
export class GraphNumbers {
  /**
   * @param {GraphTree} tree
   * @param {Numbers} values the number of each op
   */
  constructor(tree, values) {
    this.tree = tree;
    this.values = values;
    const groups = [new Float64Array(tree.groupCount), new Float64Array(tree.groupCount)];
    this.rest = [new Float64Array(tree.groupCount), new Float64Array(tree.groupCount)];
    this.cells = [new Float64Array(tree.opCount), new Float64Array(tree.opCount)];
    this.opCounts = new Int32Array(tree.opCount);
    const { flags } = tree.data.ops;
    for (let op = 0; op < tree.opCount; op += 1) {
      const isGradient = !tree.allPhases && flags[op] & FLAG.gradient ? 1 : 0;
      const cell = tree.cell[op];
      const value = this.values[op];
      groups[isGradient][tree.home[op]] += value;
      if (cell >= 0) {
        this.cells[isGradient][cell] += value;
        this.opCounts[cell] += 1;
      } else {
        this.rest[isGradient][tree.home[op]] += value;
      }
    }
    this.groups = groups.map((own) => sumsBelow(tree.data.end, own));
    /** @type {Map<number, number[]>} */
    this.smaller = new Map();
  }

  /**
   * The number of a node without gradients, and that of its gradients.
   * @param {number} node
   * @returns {[number, number]}
   */
  split(node) {
    const { tree } = this;
    const op = tree.opOf(node);
    if (tree.isGroup(node)) return [this.groups[0][node], this.groups[1][node]];
    if (tree.isCell(node)) return [this.cells[0][op], this.cells[1][op]];
    if (op >= 0) return this.ofPart(op);
    const group = tree.groupOf(node);
    if (!tree.isMore(node)) return [this.rest[0][group], this.rest[1][group]];
    const parts = (this.smaller.get(group) ?? []).map((one) => this.split(one));
    return [sum(parts.map(([one]) => one)), sum(parts.map(([, other]) => other))];
  }

  /**
   * @param {number} op
   * @returns {[number, number]}
   */
  ofPart(op) {
    const isGradient = this.tree.data.ops.flags[op] & FLAG.gradient && !this.tree.allPhases;
    return isGradient ? [0, this.values[op]] : [this.values[op], 0];
  }

  /** @param {number} node */
  total(node) {
    const [forward, backward] = this.split(node);
    return forward + backward;
  }

  /**
   * The number of ops that a node stands for.
   * @param {number} node
   * @returns {number}
   */
  opCount(node) {
    const { tree } = this;
    const op = tree.opOf(node);
    if (tree.isCell(node)) return this.opCounts[op];
    if (!tree.isMore(node)) return tree.opsOf(node).length;
    return sum((this.smaller.get(tree.groupOf(node)) ?? []).map((one) => this.opCount(one)));
  }
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((one, other) => one + other, 0);
}

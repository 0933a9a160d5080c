// The drawn graph as a tree of nodes: groups, the ops in them, and the ops folded into those.

import { parents } from "./tree.js";

/** @typedef {import("./types.d.ts").GraphData} GraphData */

/** What a group is, as in `page/groups.py`. */
export const GROUP = {
  layer: 0, scope: 1, names: 2, part: 3, series: 4, backward: 5, alike: 6,
};
/** The bits of `ops.flags`, as in `page/graph.py`. */
export const FLAG = { quiet: 1, call: 2, gradient: 4 };

/** The node of the whole graph. */
export const TOP = 0;

/**
 * Nodes are numbers. The first are the groups. Then each op has two: as a node of its group
 * together with the ops folded into it (a cell), and as a part of such a cell. Each group has two
 * more: the rest of its ops, which have no node, and the smaller nodes if there are very many.
 *
 * Gradients are parts of the cells of their forward ops unless all phases are shown.
 */
export class GraphTree {
  /** @param {GraphData} data */
  constructor(data) {
    this.data = data;
    this.groupCount = data.end.length;
    this.opCount = data.ops.group.length;
    this.parent = parents(data.end);
    this.into = new Int32Array(data.ops.back.length).map((_, op) => op - data.ops.back[op]);
    this.backward = data.kind.indexOf(GROUP.backward);
    /** The group and the cell of each op; the cell is -1 if the op has no node. */
    this.home = new Int32Array(this.opCount);
    this.cell = new Int32Array(this.opCount);
    /** The ops sorted by group: those in and below group `i` are `start[i]` to `start[end[i]]`. */
    this.order = new Int32Array(this.opCount);
    this.start = new Int32Array(this.groupCount + 1);
    this.showPhases(false);
  }

  /**
   * Draw gradients as nodes of their own, or as parts of their layers.
   * @param {boolean} all
   */
  showPhases(all) {
    this.allPhases = all;
    const { group, flags, forward } = this.data.ops;
    const layers = this.forwardGroups();
    let gradient = 0;
    for (let op = 0; op < this.opCount; op += 1) {
      this.home[op] = group[op];
      this.cell[op] = this.into[op];
      if (!(flags[op] & FLAG.gradient)) continue;
      if (!all) {
        const cell = forward[gradient];
        this.cell[op] = cell;
        this.home[op] = cell >= 0 ? group[cell] : layers[group[op]];
      }
      gradient += 1;
    }
    this.sortOps();
  }

  /** For each group of gradients, the group of the same layer in the forward pass. */
  forwardGroups() {
    const { row, end } = this.data;
    const found = new Int32Array(this.groupCount);
    if (this.backward < 0) return found;
    /** @type {Map<number, number>} */
    const byRow = new Map();
    for (let group = 0; group < this.backward; group += 1) {
      if (row[group] >= 0) byRow.set(row[group], group);
    }
    for (let group = this.backward; group < end[this.backward]; group += 1) {
      // Groups inside of a layer have no row of their own.
      found[group] = byRow.get(row[group]) ?? found[this.parent[group]];
    }
    return found;
  }

  sortOps() {
    const { home, order, start } = this;
    start.fill(0);
    for (const group of home) start[group + 1] += 1;
    for (let group = 0; group < this.groupCount; group += 1) start[group + 1] += start[group];
    const next = start.slice();
    for (let op = 0; op < this.opCount; op += 1) {
      order[next[home[op]]] = op;
      next[home[op]] += 1;
    }
  }

  /** @param {number} op */
  cellNode(op) {
    return this.groupCount + op;
  }

  /** @param {number} op */
  partNode(op) {
    return this.groupCount + this.opCount + op;
  }

  /** @param {number} group */
  restNode(group) {
    return this.groupCount + 2 * this.opCount + group;
  }

  /** @param {number} group */
  moreNode(group) {
    return 2 * this.groupCount + 2 * this.opCount + group;
  }

  /** @param {number} node */
  isGroup(node) {
    return node < this.groupCount;
  }

  /** @param {number} node */
  isCell(node) {
    return node >= this.groupCount && node < this.groupCount + this.opCount;
  }

  /** @param {number} node */
  isMore(node) {
    return node >= 2 * this.groupCount + 2 * this.opCount;
  }

  /**
   * The op of a cell or part, -1 for other nodes.
   * @param {number} node
   */
  opOf(node) {
    const place = node - this.groupCount;
    return place < 0 || place >= 2 * this.opCount ? -1 : place % this.opCount;
  }

  /**
   * The group that a node is, or that it is the rest of, -1 for ops.
   * @param {number} node
   */
  groupOf(node) {
    if (this.isGroup(node)) return node;
    const place = node - this.groupCount - 2 * this.opCount;
    return place < 0 ? -1 : place % this.groupCount;
  }

  /**
   * The row of the layers view that a node is, -1 if none.
   * @param {number} node
   */
  rowOf(node) {
    if (!this.isGroup(node) || this.data.kind[node] !== GROUP.layer) return -1;
    return this.data.row[node];
  }

  /**
   * The node that contains a node, -1 for the whole graph.
   * @param {number} node
   */
  parentOf(node) {
    if (this.isGroup(node)) return this.parent[node];
    const op = this.opOf(node);
    if (op < 0) return this.groupOf(node);
    return this.isCell(node) ? this.home[op] : this.cellNode(this.cell[op]);
  }

  /**
   * The ops of a node.
   * @param {number} node
   * @returns {Int32Array}
   */
  opsOf(node) {
    const op = this.opOf(node);
    if (this.isGroup(node)) {
      return this.order.subarray(this.start[node], this.start[this.data.end[node]]);
    }
    if (op >= 0) return this.isCell(node) ? this.partsOf(op) : Int32Array.of(op);
    return this.ownOps(this.groupOf(node)).filter((one) => this.cell[one] < 0);
  }

  /**
   * The ops that belong to a group itself.
   * @param {number} group
   */
  ownOps(group) {
    return this.order.subarray(this.start[group], this.start[group + 1]);
  }

  /**
   * The ops that are drawn as one cell.
   * @param {number} op
   */
  partsOf(op) {
    return this.ownOps(this.home[op]).filter((one) => this.cell[one] === op);
  }

  /**
   * The groups directly in a group that have ops.
   * @param {number} group
   */
  groupsIn(group) {
    const { end } = this.data;
    const found = [];
    for (let inner = group + 1; inner < end[group]; inner = end[inner]) {
      if (this.start[end[inner]] > this.start[inner]) found.push(inner);
    }
    return found;
  }

  /**
   * The number of layers in a group of layers, without those inside of them.
   * @param {number} group
   */
  layersIn(group) {
    const { end, kind } = this.data;
    let count = 0;
    for (let inner = group + 1; inner < end[group];) {
      const isLayer = kind[inner] === GROUP.layer;
      if (isLayer) count += 1;
      inner = isLayer ? end[inner] : inner + 1;
    }
    return count;
  }

  /**
   * The number of ops in a group that are nodes of their own.
   * @param {number} group
   */
  nodesIn(group) {
    return this.ownOps(group).reduce((sum, op) => sum + (this.cell[op] === op ? 1 : 0), 0);
  }

  /**
   * The node that shows an op, if all groups around it are expanded.
   * @param {number} op
   */
  nodeOf(op) {
    return this.cell[op] >= 0 ? this.cellNode(this.cell[op]) : this.home[op];
  }

  /**
   * The nodes around a node, outermost first.
   * @param {number} node
   */
  around(node) {
    const found = [];
    for (let outer = this.parentOf(node); outer >= 0; outer = this.parentOf(outer)) {
      found.unshift(outer);
    }
    return found;
  }
}

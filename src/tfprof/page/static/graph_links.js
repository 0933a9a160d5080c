// The edges that are drawn inside of a node: between its children, and with what is outside.

import { inputsOf, usersOf } from "./edges.js";
import { FLAG } from "./graph_tree.js";

/** @typedef {import("./graph_tree.js").GraphTree} GraphTree */
/** @typedef {import("./types.d.ts").Ops} Ops */

/**
 * All edges between two nodes, as one: its tensors, each as the number of its op and output, and
 * the op and output of the first.
 * @typedef {{ from: number, to: number, tensors: Set<number>, op: number, slot: number }} Link
 */

/**
 * Links between the children of a node, from nodes outside to children, and from them to those.
 * @typedef {{ inside: Link[], into: Link[], outOf: Link[] }} Links
 */

/** More tensors than this are not counted. */
export const MOST_TENSORS = 100;

const SLOTS = 2 ** 16;

/** Finds links in the edges between ops. */
export class GraphLinks {
  /**
   * @param {GraphTree} tree
   * @param {Ops} ops
   */
  constructor(tree, ops) {
    this.tree = tree;
    this.inputs = inputsOf(ops);
    this.users = usersOf(ops);
  }

  /**
   * The links of a node whose children are shown.
   * @param {number} node
   * @param {(node: number) => number} shownAs the node that stands for a node on its level
   * @returns {Links}
   */
  of(node, shownAs) {
    const inside = new LinkTable();
    const into = new LinkTable();
    const outOf = new LinkTable();
    const local = this.children(node, shownAs);
    const outside = this.outside(node, shownAs);
    const isCell = this.tree.isCell(node);
    for (const op of this.tree.opsOf(node)) {
      this.each(this.inputs, op, (source, slot) => {
        if (!this.carriesData(op, slot)) return;
        if (local[source] >= 0) {
          // Inside of a cell, the ops that are folded are drawn too.
          if (!isCell && !this.isDrawn(source, op)) return;
          inside.add(local[source], local[op], source, slot);
        } else if (this.isDrawn(source, op)) {
          into.add(outside(source), local[op], source, slot);
        }
      });
      this.each(this.users, op, (user, slot) => {
        if (local[user] >= 0 || !this.carriesData(user, slot) || !this.isDrawn(op, user)) return;
        outOf.add(local[op], outside(user), op, slot);
      });
    }
    const [within, entering, leaving] = [inside, into, outOf].map((table) =>
      table.links().filter(({ from, to }) => !this.isAside(from) && !this.isAside(to)));
    return { inside: within, into: entering, outOf: leaving };
  }

  /**
   * Call a function with the other end and the slot of each edge of an op.
   * @param {import("./edges.js").Edges} edges
   * @param {number} op
   * @param {(op: number, slot: number) => void} visit
   */
  each(edges, op, visit) {
    for (let edge = edges.offsets[op]; edge < edges.offsets[op + 1]; edge += 1) {
      if (edges.op[edge] >= 0) visit(edges.op[edge], edges.slot[edge]);
    }
  }

  /**
   * The child that each op is in, -1 for ops outside and for ops without a node.
   * @param {number} node
   * @param {(node: number) => number} shownAs
   */
  children(node, shownAs) {
    const { tree } = this;
    const found = new Int32Array(tree.opCount).fill(-1);
    if (!tree.isGroup(node)) {
      for (const op of tree.opsOf(node)) found[op] = tree.partNode(op);
      return found;
    }
    for (const op of tree.ownOps(node)) {
      found[op] = tree.cell[op] < 0 ? tree.restNode(node) : shownAs(tree.cellNode(tree.cell[op]));
    }
    for (const group of tree.groupsIn(node)) {
      const shown = shownAs(group);
      for (const op of tree.opsOf(group)) found[op] = shown;
    }
    return found;
  }

  /**
   * A function that returns the node that an op outside is drawn in, on the level where that is
   * next to a node around the given one.
   * @param {number} node
   * @param {(node: number) => number} shownAs
   */
  outside(node, shownAs) {
    const { tree } = this;
    const around = new Set(tree.around(node));
    /** @type {Map<number, number>} */
    const known = new Map();
    return (/** @type {number} */ op) => {
      const home = tree.home[op];
      if (around.has(home)) return shownAs(tree.cellNode(tree.cell[op]));
      let found = known.get(home) ?? home;
      while (!around.has(tree.parent[found])) found = tree.parent[found];
      known.set(home, found);
      return shownAs(found);
    };
  }

  /**
   * Whether a node is drawn beside the forward pass, and not connected with it.
   * @param {number} node
   */
  isAside(node) {
    const { tree } = this;
    return !tree.allPhases && tree.isGroup(node) && tree.data.aside[node] > 0;
  }

  /**
   * Whether an edge carries data. Those into a call come from its results.
   * @param {number} user
   * @param {number} slot
   */
  carriesData(user, slot) {
    const isCall = (this.tree.data.ops.flags[user] & FLAG.call) > 0;
    return isCall ? slot < 0 : slot >= 0;
  }

  /**
   * @param {number} source
   * @param {number} user
   */
  isDrawn(source, user) {
    const { tree } = this;
    const { flags } = tree.data.ops;
    const both = flags[source] | flags[user];
    if (both & FLAG.quiet || (!tree.allPhases && both & FLAG.gradient)) return false;
    return tree.cell[source] >= 0 && tree.cell[user] >= 0;
  }
}

/** Collects edges by their ends. */
class LinkTable {
  constructor() {
    /** @type {Map<number, Map<number, Link>>} */
    this.found = new Map();
  }

  /**
   * @param {number} from
   * @param {number} to
   * @param {number} op
   * @param {number} slot
   */
  add(from, to, op, slot) {
    let ends = this.found.get(from);
    if (!ends) this.found.set(from, ends = new Map());
    let link = ends.get(to);
    if (!link) ends.set(to, link = { from, to, tensors: new Set(), op, slot });
    if (link.tensors.size <= MOST_TENSORS) link.tensors.add(op * SLOTS + Math.max(slot, 0));
  }

  links() {
    return [...this.found.values()].flatMap((ends) => [...ends.values()]);
  }
}

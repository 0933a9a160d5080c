// What is drawn inside of an expanded node: its children and the links between them.

import { GraphLinks } from "./graph_links.js";
import { GraphNumbers } from "./graph_numbers.js";

/** @typedef {import("./graph_tree.js").GraphTree} GraphTree */
/** @typedef {import("./graph_links.js").Links} Links */
/** @typedef {import("./types.d.ts").Ops} Ops */

/** Of more nodes than this in a group, only the largest are drawn. */
export const MOST_NODES = 150;

/** The children and links of nodes for one metric; both are found when they are first needed. */
export class GraphChildren {
  /**
   * @param {GraphTree} tree
   * @param {Ops} ops
   * @param {import("./types.d.ts").Numbers} values the number of each op
   */
  constructor(tree, ops, values) {
    this.tree = tree;
    this.ops = ops;
    this.numbers = new GraphNumbers(tree, values);
    this.found = new GraphLinks(tree, ops);
    /** @type {Map<number, number[]>} */
    this.known = new Map();
    /** @type {Map<number, Set<number>>} */
    this.smaller = new Map();
    /** @type {Map<number, Links>} */
    this.knownLinks = new Map();
  }

  /**
   * Whether a node can be expanded.
   * @param {number} node
   */
  isExpandable(node) {
    const { tree } = this;
    if (tree.isCell(node)) return this.numbers.opCount(node) > 1;
    if (!tree.isGroup(node)) return false;
    if (tree.groupsIn(node).length > 0) return true;
    return tree.ownOps(node).some((op) => tree.cell[op] >= 0);
  }

  /**
   * The nodes that are drawn inside of a node.
   * @param {number} node
   */
  of(node) {
    const known = this.known.get(node);
    if (known) return known;
    const { tree } = this;
    const found = tree.isGroup(node)
      ? this.limited(node, this.all(node))
      : [...tree.opsOf(node)].map((op) => tree.partNode(op));
    this.known.set(node, found);
    return found;
  }

  /** @param {number} group */
  all(group) {
    const { tree, numbers } = this;
    const rest = tree.restNode(group);
    const cells = [...tree.ownOps(group)].filter((op) => tree.cell[op] === op);
    return [
      ...tree.groupsIn(group),
      ...cells.map((op) => tree.cellNode(op)),
      ...(numbers.total(rest) > 0 ? [rest] : []),
    ];
  }

  /**
   * The largest nodes of a group, and one for the others.
   * @param {number} group
   * @param {number[]} nodes
   */
  limited(group, nodes) {
    if (nodes.length <= MOST_NODES) return nodes;
    const { tree, numbers } = this;
    const totals = new Map(nodes.map((node) => [node, numbers.total(node)]));
    const bySize = [...nodes].sort((a, b) => (totals.get(b) ?? 0) - (totals.get(a) ?? 0));
    const smaller = bySize.slice(MOST_NODES - 1);
    this.smaller.set(group, new Set(smaller));
    numbers.smaller.set(group, smaller);
    const kept = new Set(bySize.slice(0, MOST_NODES - 1));
    return [...nodes.filter((node) => kept.has(node)), tree.moreNode(group)];
  }

  /**
   * The node that stands for a node in the group that contains it.
   * @param {number} node
   */
  shownAs(node) {
    const group = this.tree.parentOf(node);
    if (group < 0 || !this.tree.isGroup(group)) return node;
    this.of(group);
    return this.smaller.get(group)?.has(node) ? this.tree.moreNode(group) : node;
  }

  /**
   * The links inside of a node.
   * @param {number} node
   */
  links(node) {
    const found = this.knownLinks.get(node)
      ?? this.found.of(node, (one) => this.shownAs(one));
    this.knownLinks.set(node, found);
    return found;
  }
}

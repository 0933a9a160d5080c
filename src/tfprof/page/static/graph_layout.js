// Where everything is inside of an expanded node. Only what changed is placed again.

import { GAP } from "./graph_columns.js";
import { clear, components, joined } from "./graph_components.js";
import { edgesOf, entryPorts, exitPorts } from "./graph_ports.js";
import { sheet } from "./graph_sheet.js";
import { TOP } from "./graph_tree.js";

/** @typedef {import("./graph_boxes.js").GraphBoxes} GraphBoxes */
/** @typedef {import("./graph_children.js").GraphChildren} GraphChildren */
/** @typedef {import("./graph_columns.js").Size} Size */
/** @typedef {import("./graph_links.js").Link} Link */
/** @typedef {import("./graph_ports.js").Port} Port */
/** @typedef {import("./graph_sheet.js").Edge} Edge */
/** @typedef {import("./graph_sheet.js").Line} Line */

/** The space between the border of an expanded node and what it shows. */
export const FRAME = { top: 28, side: 16, bottom: 16 };

/** @typedef {{ node: number, x: number, y: number }} Item a node and its upper left corner */

/**
 * What an expanded node shows: its children, lines, where lines from and to nodes outside cross its
 * border, and where nodes that are connected with nothing start, -1 if there are none.
 * @typedef {{
 *   items: Item[], lines: Line[],
 *   entries: Map<number, number>, exits: Map<number, number>,
 *   aside: number, width: number, height: number,
 * }} Inner
 */

/** Nodes without edges between them are not connected with their surroundings if there are more. */
const MOST_SIDE_BY_SIDE = 8;

export class GraphLayout {
  /**
   * @param {GraphChildren} children
   * @param {GraphBoxes} boxes
   * @param {Set<number>} expanded
   * @param {Size} room
   */
  constructor(children, boxes, expanded, room) {
    this.children = children;
    this.boxes = boxes;
    this.expanded = expanded;
    this.room = room;
    /** @type {Map<number, Inner>} */
    this.known = new Map();
  }

  /**
   * Forget the places of what is in a node and in those around it.
   * @param {number} node
   */
  forget(node) {
    for (let one = node; one >= 0; one = this.children.tree.parentOf(one)) this.known.delete(one);
  }

  /**
   * @param {number} node
   * @returns {Size}
   */
  size(node) {
    const box = this.boxes.of(node, this.children);
    if (!this.expanded.has(node)) return box;
    const { width, height } = this.inner(node);
    return {
      width: Math.max(width + 2 * FRAME.side, box.width + 80),
      height: height + FRAME.top + FRAME.bottom,
    };
  }

  /**
   * @param {number} node
   * @returns {Inner}
   */
  inner(node) {
    const found = this.known.get(node) ?? this.place(node);
    this.known.set(node, found);
    return found;
  }

  /**
   * @param {number} node
   * @returns {Inner}
   */
  place(node) {
    const nodes = this.children.of(node);
    const { inside, into, outOf } = this.children.links(node);
    const between = clear(inside.filter(({ from, to }) => from !== to), nodes, this.children.tree);
    // Lines to many nodes side by side would not show anything.
    const isGrid = between.length === 0 && nodes.length > MOST_SIDE_BY_SIDE;
    const entries = isGrid ? [] : entryPorts(into);
    const exits = isGrid ? [] : exitPorts(outOf);
    const edges = edgesOf(between, entries, exits);
    const [main, ...others] = components(nodes, between, edges)
      .map((some) => this.sheetOf(some, edges, entries, exits));
    const found = joined(main, others, this.room);
    const items = [...found.place].filter(([id]) => !Number.isNaN(Number(id)))
      .map(([id, [x, y]]) => ({ node: Number(id), x, y }));
    const placed = new Set(items.map((item) => item.node));
    const single = nodes.filter((one) => !placed.has(one));
    const crossings = (/** @type {Port[]} */ ports) => new Map(
      ports.flatMap(({ id, outside }) =>
        outside.map((one) => [one, found.place.get(id)?.[0] ?? 0])),
    );
    return {
      ...this.withSingle(items, single, found, node === TOP),
      lines: found.lines,
      entries: crossings(entries),
      exits: crossings(exits),
    };
  }

  /**
   * Nodes that are connected with each other, or with ports.
   * @param {number[]} nodes
   * @param {Edge[]} edges
   * @param {Port[]} entries
   * @param {Port[]} exits
   */
  sheetOf(nodes, edges, entries, exits) {
    const ids = new Set(nodes.map(String));
    const isHere = (/** @type {Edge} */ { from, to }) => ids.has(from) || ids.has(to);
    const own = edges.filter(isHere);
    const used = new Set(own.flatMap(({ from, to }) => [from, to]));
    const ports = (/** @type {Port[]} */ all) =>
      all.map(({ id }) => id).filter((id) => used.has(id));
    return sheet(
      nodes.map((one) => ({ id: `${one}`, ...this.size(one) })),
      own,
      ports(entries),
      ports(exits),
      this.room,
      (id, side, some) => this.port(id, side, some),
    );
  }

  /**
   * Where lines cross the border of an expanded node, null if it is not expanded.
   * @param {string} id
   * @param {"entries" | "exits"} side
   * @param {Link[]} links
   */
  port(id, side, links) {
    const node = Number(id);
    if (!this.expanded.has(node)) return null;
    const crossings = this.inner(node)[side];
    const found = links.map(({ from, to }) => crossings.get(side === "exits" ? to : from))
      .find((x) => x !== undefined);
    return found === undefined ? null : this.left(node) + found;
  }

  /**
   * The distance of what an expanded node shows from its left border.
   * @param {number} node
   */
  left(node) {
    return (this.size(node).width - this.inner(node).width) / 2;
  }

  /**
   * Add nodes that are connected with nothing at the right.
   * @param {Item[]} items
   * @param {number[]} single
   * @param {Size} main
   * @param {boolean} isTop
   */
  withSingle(items, single, main, isTop) {
    const start = main.width > 0 ? main.width + GAP.column : 0;
    const area = single.map((one) => this.size(one))
      .reduce((sum, { width, height }) => sum + (width + GAP.x) * (height + GAP.x / 2), 0);
    const square = Math.sqrt((area * this.room.height) / this.room.width);
    const most = Math.max(main.height, Math.min(this.room.height, 400), square);
    let [x, y, columnWidth, bottom] = [start, 0, 0, main.height];
    for (const node of single) {
      const { width, height } = this.size(node);
      if (y > 0 && y + height > most) {
        x += columnWidth + GAP.x;
        [y, columnWidth] = [0, 0];
      }
      items.push({ node, x, y });
      y += height + GAP.x / 2;
      columnWidth = Math.max(columnWidth, width);
      bottom = Math.max(bottom, y - GAP.x / 2);
    }
    const aside = isTop && single.length > 0 && main.width > 0 ? start : -1;
    return { items, aside, width: x + columnWidth, height: bottom };
  }
}

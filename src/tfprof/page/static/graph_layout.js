// Where everything is inside of an expanded node. Only what changed is placed again.

import { GAP } from "./graph_columns.js";
import { entryPorts, exitPorts } from "./graph_ports.js";
import { sheet } from "./graph_sheet.js";
import { TOP } from "./graph_tree.js";

/** @typedef {import("./graph_boxes.js").GraphBoxes} GraphBoxes */
/** @typedef {import("./graph_children.js").GraphChildren} GraphChildren */
/** @typedef {import("./graph_columns.js").Size} Size */
/** @typedef {import("./graph_links.js").Link} Link */
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
    const links = this.children.links(node);
    const entries = entryPorts(links.into);
    const exits = exitPorts(links.outOf);
    /** @type {Edge[]} */
    const edges = links.inside.filter(({ from, to }) => from !== to)
      .map((link) => ({ from: `${link.from}`, to: `${link.to}`, links: [link] }));
    for (const { id, links: own } of entries) {
      for (const [child, some] of own) edges.push({ from: id, to: `${child}`, links: some });
    }
    for (const { id, links: own } of exits) {
      for (const [child, some] of own) edges.push({ from: `${child}`, to: id, links: some });
    }
    const used = new Set(edges.flatMap(({ from, to }) => [from, to]));
    const connected = nodes.filter((one) => used.has(`${one}`));
    const single = nodes.filter((one) => !used.has(`${one}`));
    const main = sheet(
      connected.map((one) => ({ id: `${one}`, ...this.size(one) })),
      edges,
      entries.map(({ id }) => id),
      exits.map(({ id }) => id),
      this.room,
      (id, side, some) => this.port(id, side, some),
    );
    const items = connected.map((one) => {
      const [x, y] = main.place.get(`${one}`) ?? [0, 0];
      return { node: one, x, y };
    });
    const crossings = (/** @type {import("./graph_ports.js").Port[]} */ ports) => new Map(
      ports.flatMap(({ id, outside }) =>
        outside.map((one) => [one, main.place.get(id)?.[0] ?? 0])),
    );
    return {
      ...this.withSingle(items, single, main, node === TOP),
      lines: main.lines,
      entries: crossings(entries),
      exits: crossings(exits),
    };
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
    const most = Math.max(main.height, Math.min(this.room.height, 400));
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

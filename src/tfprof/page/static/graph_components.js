// Parts of a graph that are not connected with each other: each is placed on its own.

import { GAP } from "./graph_columns.js";

/** @typedef {import("./graph_columns.js").Size} Size */
/** @typedef {import("./graph_flow.js").Point} Point */
/** @typedef {import("./graph_links.js").Link} Link */
/** @typedef {import("./graph_sheet.js").Edge} Edge */
/** @typedef {import("./graph_sheet.js").Sheet} Sheet */

/** A group with more nodes than this is crowded. */
const CROWD = 40;
/** In a crowded group, nodes with more links than this are drawn without them. */
const MOST_LINKS = 12;

/**
 * The links that are drawn: in a crowded group, those of nodes that are connected with very many
 * others would hide everything else, such as a learning rate that all updates use.
 * @param {Link[]} links
 * @param {number[]} nodes
 * @param {import("./graph_tree.js").GraphTree} tree
 */
export function clear(links, nodes, tree) {
  if (nodes.length <= CROWD) return links;
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const node of links.flatMap(({ from, to }) => [from, to])) {
    counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  const isClear = (/** @type {number} */ node) =>
    (counts.get(node) ?? 0) <= MOST_LINKS && !tree.isMore(node);
  return links.filter(({ from, to }) => isClear(from) && isClear(to));
}

/**
 * The connected nodes of each part: first all that are connected with ports, then the others from
 * large to small. Nodes without any edge are left out.
 * @param {number[]} nodes
 * @param {Link[]} links
 * @param {Edge[]} edges with those of ports
 */
export function components(nodes, links, edges) {
  const leader = new Map(nodes.map((node) => [node, node]));
  const find = (/** @type {number} */ node) => {
    let found = node;
    while (leader.get(found) !== found) found = leader.get(found) ?? found;
    leader.set(node, found);
    return found;
  };
  for (const { from, to } of links) leader.set(find(from), find(to));
  const used = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const ids = new Set(nodes.map(String));
  const withPorts = new Set(
    edges.filter(({ from, to }) => !ids.has(from) || !ids.has(to))
      .map(({ from, to }) => find(Number(ids.has(from) ? from : to))),
  );
  /** @type {Map<number, number[]>} */
  const parts = new Map();
  for (const node of nodes.filter((one) => used.has(`${one}`))) {
    const key = withPorts.has(find(node)) ? -1 : find(node);
    const part = parts.get(key);
    if (part) part.push(node);
    else parts.set(key, [node]);
  }
  const main = parts.get(-1) ?? [];
  parts.delete(-1);
  const others = [...parts.values()].sort((one, other) => other.length - one.length);
  return main.length > 0 || others.length === 0 ? [main, ...others] : others;
}

/**
 * The first part with the others at its right, in rows.
 * @param {Sheet} main
 * @param {Sheet[]} others
 * @param {Size} room
 * @returns {Sheet}
 */
export function joined(main, others, room) {
  const found = {
    place: new Map(main.place), lines: [...main.lines], width: main.width, height: main.height,
  };
  if (others.length === 0) return found;
  const area = others.reduce(
    (sum, { width, height }) => sum + (width + GAP.x) * (height + GAP.y), 0,
  );
  const start = main.width > 0 ? main.width + GAP.column : 0;
  const square = Math.sqrt((area * room.width) / room.height);
  const most = Math.max(square, ...others.map(({ width }) => width));
  let [x, y, rowHeight] = [0, 0, 0];
  for (const part of others) {
    if (x > 0 && x + part.width > most) {
      y += rowHeight + GAP.y;
      [x, rowHeight] = [0, 0];
    }
    add(found, part, start + x, y);
    x += part.width + GAP.x;
    rowHeight = Math.max(rowHeight, part.height);
  }
  return found;
}

/**
 * @param {Sheet} found
 * @param {Sheet} part
 * @param {number} dx
 * @param {number} dy
 */
function add(found, part, dx, dy) {
  for (const [id, [x, y]] of part.place) found.place.set(id, [x + dx, y + dy]);
  for (const line of part.lines) {
    const points = line.points.map(([x, y]) => /** @type {Point} */ ([x + dx, y + dy]));
    found.lines.push({ ...line, points });
  }
  found.width = Math.max(found.width, dx + part.width);
  found.height = Math.max(found.height, dy + part.height);
}

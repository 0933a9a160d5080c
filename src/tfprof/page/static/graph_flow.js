// Places the boxes of one column from top to bottom, and the lines between them.

import { GAP, ranks } from "./graph_columns.js";
import { Graph, layout } from "./vendor/dagre.js";

/** @typedef {import("./graph_columns.js").Box} Box */
/** @typedef {import("./graph_columns.js").Edge} Edge */
/** @typedef {[number, number]} Point */

/** Lines along more levels than this, taken together, are not led around boxes. */
const MOST_LEVELS = 2000;
/** Above this, a quicker way to assign levels is good enough. */
const MANY_BOXES = 80;
/** The distance between lines that end at the same box. */
const SPREAD = 14;

/**
 * Boxes and points with their place; `x` and `y` are those of the upper left corner. Lines have the
 * points of each edge, in the order of the edges.
 * @typedef {{
 *   place: Map<string, Point>, lines: Point[][], width: number, height: number,
 * }} Placed
 */

/**
 * Place boxes so that edges lead downwards. Points are boxes without a size: entries are on the
 * upper border, exits on the lower one.
 * @param {Box[]} boxes
 * @param {Edge[]} edges
 * @param {string[]} entries
 * @param {string[]} exits
 * @returns {Placed}
 */
export function flow(boxes, edges, entries, exits) {
  const points = [...entries, ...exits].map((id) => ({ id, width: 1, height: 1 }));
  const all = [...boxes, ...points];
  const led = ledEdges(all, edges);
  const graph = new Graph();
  graph.setGraph({
    nodesep: GAP.x,
    ranksep: GAP.y,
    edgesep: SPREAD,
    ranker: all.length > MANY_BOXES ? "tight-tree" : "network-simplex",
  });
  for (const { id, width, height } of all) graph.setNode(id, { width, height });
  for (const { from, to } of led) graph.setEdge(from, to, {});
  if (entries.length > 0) addBorder(graph, "top", entries, graph.sources() ?? [], false);
  if (exits.length > 0) addBorder(graph, "bottom", exits, graph.sinks() ?? [], true);
  layout(graph);
  if (isMirrored(graph, boxes)) mirror(graph);
  return finished(graph, all, edges, new Set(led), new Set(entries), new Set(exits));
}

/**
 * The edges that are led around boxes; the longest are not if that took too long.
 * @param {Box[]} boxes
 * @param {Edge[]} edges
 */
function ledEdges(boxes, edges) {
  const rank = ranks(boxes, edges);
  const lengths = new Map(
    edges.map((edge) => [edge, Math.abs((rank.get(edge.to) ?? 0) - (rank.get(edge.from) ?? 0))]),
  );
  const byLength = [...edges].sort((a, b) => (lengths.get(a) ?? 0) - (lengths.get(b) ?? 0));
  let sum = 0;
  return byLength.filter((edge) => (sum += lengths.get(edge) ?? 0) <= MOST_LEVELS);
}

/**
 * Keep points on a border: they are the first, or the last, of all boxes.
 * @param {Graph} graph
 * @param {string} border
 * @param {string[]} points
 * @param {string[]} ends
 * @param {boolean} isBelow
 */
function addBorder(graph, border, points, ends, isBelow) {
  graph.setNode(border, { width: 1, height: 1 });
  for (const id of new Set([...points, ...ends])) {
    const label = { weight: points.includes(id) ? 8 : 0 };
    if (isBelow) graph.setEdge(id, border, label);
    else graph.setEdge(border, id, label);
  }
}

/**
 * Whether neighbours are rather from right to left than in the order of the model.
 * @param {Graph} graph
 * @param {Box[]} boxes
 */
function isMirrored(graph, boxes) {
  let balance = 0;
  for (let place = 1; place < boxes.length; place += 1) {
    const [one, other] = [graph.node(boxes[place - 1].id), graph.node(boxes[place].id)];
    if (one.y === other.y) balance += Math.sign(other.x - one.x);
  }
  return balance < 0;
}

/** @param {Graph} graph */
function mirror(graph) {
  for (const id of graph.nodes()) graph.node(id).x *= -1;
  for (const edge of graph.edges()) for (const point of graph.edge(edge).points) point.x *= -1;
}

/**
 * @param {Graph} graph
 * @param {Box[]} boxes
 * @param {Edge[]} edges
 * @param {Set<Edge>} led
 * @param {Set<string>} entries
 * @param {Set<string>} exits
 * @returns {Placed}
 */
function finished(graph, boxes, edges, led, entries, exits) {
  const corners = boxes.map(({ id, width, height }) => {
    const { x, y } = /** @type {{ x: number, y: number }} */ (graph.node(id));
    return { id, x: x - width / 2, y: y - height / 2, width, height };
  });
  const routes = edges.map((edge) => (led.has(edge) ? route(graph, edge) : []));
  const xs = [...corners.map(({ x }) => x), ...routes.flat().map(({ x }) => x)];
  const left = Math.min(...xs);
  const right = Math.max(...xs, ...corners.map(({ x, width }) => x + width));
  const top = Math.min(...corners.map(({ y }) => y));
  const bottom = Math.max(...corners.map(({ y, height }) => y + height));
  /** @type {Map<string, Point>} */
  const place = new Map();
  const size = new Map(boxes.map((box) => [box.id, box]));
  for (const { id, x, y } of corners) {
    const border = entries.has(id) ? top : exits.has(id) ? bottom : y;
    place.set(id, [x - left, border - top]);
  }
  const bends = routes.map((points) =>
    points.map(({ x, y }) => /** @type {Point} */ ([x - left, y - top])),
  );
  return {
    place,
    lines: withEnds(edges, bends, place, size),
    width: right - left,
    height: bottom - top,
  };
}

/**
 * The points of a line between its ends.
 * @param {Graph} graph
 * @param {Edge} edge
 */
function route(graph, { from, to }) {
  const { points } = /** @type {{ points: { x: number, y: number }[] }} */ (graph.edge(from, to));
  return points.slice(1, -1);
}

/**
 * Lines from the lower border of a box to the upper border of another one. Lines that end at the
 * same box are next to each other.
 * @param {Edge[]} edges
 * @param {Point[][]} bends
 * @param {Map<string, Point>} place
 * @param {Map<string, Box>} size
 */
function withEnds(edges, bends, place, size) {
  /** @type {(id: string) => number} */
  const middle = (id) => (place.get(id)?.[0] ?? 0) + (size.get(id)?.width ?? 0) / 2;
  const before = edges.map(({ from }, row) => bends[row].at(-1)?.[0] ?? middle(from));
  const shift = spread(edges, before, size);
  return edges.map(({ from, to }, row) => {
    const [, start] = place.get(from) ?? [0, 0];
    const [, end] = place.get(to) ?? [0, 0];
    // A line back, in a cycle, leads upwards.
    const isBack = end < start;
    const low = (size.get(from)?.height ?? 0) * (isBack ? 0 : 1);
    const high = (size.get(to)?.height ?? 0) * (isBack ? 1 : 0);
    return /** @type {Point[]} */ ([
      [middle(from), start + low],
      ...bends[row],
      [middle(to) + shift[row], end + high],
    ]);
  });
}

/**
 * For each edge, how far its end is from the middle of the box.
 * @param {Edge[]} edges
 * @param {number[]} before where the line comes from
 * @param {Map<string, Box>} size
 */
function spread(edges, before, size) {
  /** @type {Map<string, number[]>} */
  const byBox = new Map();
  edges.forEach(({ to }, row) => {
    const rows = byBox.get(to);
    if (rows) rows.push(row);
    else byBox.set(to, [row]);
  });
  const found = new Float64Array(edges.length);
  for (const [id, rows] of byBox) {
    rows.sort((a, b) => before[a] - before[b]);
    const room = (size.get(id)?.width ?? 0) * 0.6;
    const step = Math.min(SPREAD, room / Math.max(1, rows.length - 1));
    rows.forEach((row, place) => {
      found[row] = (place - (rows.length - 1) / 2) * step;
    });
  }
  return found;
}

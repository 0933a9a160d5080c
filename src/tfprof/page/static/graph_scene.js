// The whole picture as a list: all boxes and lines that are shown, with their places.

import { FRAME } from "./graph_layout.js";
import { TOP } from "./graph_tree.js";

/** @typedef {import("./graph_layout.js").GraphLayout} GraphLayout */
/** @typedef {import("./graph_sheet.js").Line} Line */
/** @typedef {import("./graph_flow.js").Point} Point */

/**
 * A box of the picture. `depth` is the number of expanded nodes around it.
 * @typedef {{
 *   node: number, x: number, y: number, width: number, height: number,
 *   depth: number, isExpanded: boolean,
 * }} SceneBox
 */

/**
 * @typedef {{
 *   boxes: Map<number, SceneBox>, lines: Line[], aside: number, width: number, height: number,
 * }} Scene
 */

/**
 * @param {GraphLayout} layout
 * @returns {Scene}
 */
export function sceneOf(layout) {
  /** @type {Map<number, SceneBox>} */
  const boxes = new Map();
  /** @type {Line[]} */
  const lines = [];
  const top = layout.inner(TOP);
  /** @type {{ node: number, x: number, y: number, depth: number }[]} */
  const waiting = [{ node: TOP, x: 0, y: 0, depth: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { x, y, depth } = next;
    const inner = layout.inner(next.node);
    for (const line of inner.lines) {
      const points = line.points.map(([a, b]) => /** @type {Point} */ ([a + x, b + y]));
      lines.push({ ...line, points: toBorder(points, line, depth) });
    }
    for (const item of inner.items) {
      const isExpanded = layout.expanded.has(item.node);
      const box = { node: item.node, x: item.x + x, y: item.y + y, depth, isExpanded };
      boxes.set(item.node, { ...box, ...layout.size(item.node) });
      if (!isExpanded) continue;
      const inside = { x: box.x + layout.left(item.node), y: box.y + FRAME.top };
      waiting.push({ node: item.node, ...inside, depth: depth + 1 });
    }
  }
  return { boxes, lines, aside: top.aside, width: top.width, height: top.height };
}

/**
 * The points of a line. Those from and to the border of an expanded node cross its frame.
 * @param {Point[]} points
 * @param {Line} line
 * @param {number} depth
 * @returns {Point[]}
 */
function toBorder(points, { from, to }, depth) {
  if (depth === 0) return points;
  const [x, y] = points[0];
  const [a, b] = points[points.length - 1];
  /** @type {Point[]} */
  const before = from.startsWith("in ") ? [[x, y - FRAME.top]] : [];
  /** @type {Point[]} */
  const after = to.startsWith("out ") ? [[a, b + FRAME.bottom]] : [];
  return [...before, ...points, ...after];
}

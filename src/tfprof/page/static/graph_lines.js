// Draws the lines between the boxes of the graph.

import { svg } from "./dom.js";
import { MOST_TENSORS } from "./graph_links.js";

/** @typedef {import("./graph_boxes.js").GraphBoxes} GraphBoxes */
/** @typedef {import("./graph_flow.js").Point} Point */
/** @typedef {import("./graph_sheet.js").Line} Line */

const RADIUS = 8;
/** Lines across a larger distance than this have corners. */
const FAR = 60;
/** Labels are not drawn on lines that are shorter. */
const SHORTEST = 30;

/**
 * The elements of a line: the line, and what it carries if the boxes do not say it.
 * @param {Line} line
 * @param {GraphBoxes} boxes
 */
export function lineElements(line, boxes) {
  const count = tensorCount(line);
  const path = svg("path", {
    class: "graph-line",
    d: line.hasCorners ? rounded(line.points) : curved(line.points),
    "stroke-width": Math.min(5, 1.2 + 0.6 * Math.log2(count)),
    "marker-end": line.isEnd ? "url(#graph-arrow)" : null,
  });
  const text = line.isEnd ? carried(line, count, boxes) : "";
  const [[x, start], [, end]] = line.points.slice(-2);
  const [a, b] = line.points[line.points.length - 1];
  if (!text || b - line.points[0][1] < SHORTEST || Math.abs(a - x) > 40) return [path];
  const y = Math.max(start, end - SHORTEST) + 18;
  return [path, svg("text", { class: "graph-carried", x: a + 6, y: Math.min(y, b - 12) }, text)];
}

/** @param {Line} line */
function tensorCount({ links }) {
  return links.reduce((most, { tensors }) => Math.max(most, tensors.size), 1);
}

/**
 * The shape of the only tensor, or how many there are; empty if a box shows it.
 * @param {Line} line
 * @param {number} count
 * @param {GraphBoxes} boxes
 */
function carried({ links }, count, boxes) {
  if (count > MOST_TENSORS) return `over ${MOST_TENSORS} tensors`;
  if (count > 1) return `${count} tensors`;
  const [{ from, op, slot }] = links;
  const { ops } = boxes.payload;
  const shape = slot <= 0 ? ops.shape.values.get(ops.shape.codes[op]) : "";
  return shape === boxes.shape(from) ? "" : shape;
}

/**
 * A path that leaves and reaches all points vertically.
 * @param {Point[]} points
 */
function curved(points) {
  let found = `M${coordinates(points[0])}`;
  for (let place = 1; place < points.length; place += 1) {
    const [x, y] = points[place - 1];
    const [a, b] = points[place];
    const middle = (y + b) / 2;
    const isFar = Math.abs(a - x) > FAR && Math.abs(a - x) > 2 * Math.abs(b - y);
    if (a === x) found += `V${round(b)}`;
    else if (isFar) found += corners([[x, y], [x, middle], [a, middle], [a, b]]);
    else found += `C${coordinates([x, middle], [a, middle], [a, b])}`;
  }
  return found;
}

/**
 * A path with round corners.
 * @param {Point[]} points
 */
function rounded(points) {
  return `M${coordinates(points[0])}${corners(points)}`;
}

/**
 * The way from the first point to the others, with round corners.
 * @param {Point[]} points
 */
function corners(points) {
  let found = "";
  for (let place = 1; place + 1 < points.length; place += 1) {
    const corner = points[place];
    const before = towards(corner, points[place - 1]);
    const after = towards(corner, points[place + 1]);
    found += `L${coordinates(before)}Q${coordinates(corner, after)}`;
  }
  return `${found}L${coordinates(points[points.length - 1])}`;
}

/**
 * The point at a small distance from a corner, on the way to another point.
 * @param {Point} corner
 * @param {Point} other
 * @returns {Point}
 */
function towards([x, y], [a, b]) {
  const length = Math.hypot(a - x, b - y) || 1;
  const part = Math.min(RADIUS, length / 2) / length;
  return [x + (a - x) * part, y + (b - y) * part];
}

/** @param {...Point} points */
function coordinates(...points) {
  return points.map(([x, y]) => `${round(x)},${round(y)}`).join(" ");
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 10) / 10;
}

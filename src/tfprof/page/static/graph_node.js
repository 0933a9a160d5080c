// Draws one box of the graph: its texts, its bar and its sign to expand it.

import { fill, svg } from "./dom.js";
import { BOX, LABEL } from "./graph_boxes.js";
import { formatted, percent } from "./units.js";

/** @typedef {import("./graph_boxes.js").GraphBoxes} GraphBoxes */
/** @typedef {import("./graph_children.js").GraphChildren} GraphChildren */
/** @typedef {import("./graph_scene.js").SceneBox} SceneBox */
/** @typedef {import("./types.d.ts").Metric} Metric */

/**
 * What boxes show: the numbers of a metric, and the largest one nearby, which bars are relative to.
 * @typedef {{
 *   boxes: GraphBoxes, children: GraphChildren, metric: Metric, largest: number,
 * }} Shown
 */

/** The shares of the total from which on a box has the next colour. */
const SHARES = [0.05, 0.2, 0.6];
/** The part of a long name that screen readers get. */
const LONGEST = 300;

/**
 * @param {SVGElement} element
 * @param {SceneBox} box
 * @param {Shown} shown
 */
export function fillNode(element, box, shown) {
  const { boxes, children, metric } = shown;
  const { node } = box;
  const { tree, numbers } = children;
  const [forward, backward] = numbers.split(node);
  const total = forward + backward;
  const share = SHARES.filter((least) => total > least * metric.total).length;
  element.style.transform = `translate(${box.x}px, ${box.y}px)`;
  element.setAttribute("class", `graph-node graph-share-${share}`);
  element.setAttribute("aria-level", String(box.depth + 1));
  if (children.isExpandable(node)) {
    element.setAttribute("aria-expanded", String(box.isExpanded));
  }
  const op = tree.opOf(node);
  Object.assign(element.dataset, op >= 0 ? { op } : { row: tree.rowOf(node) });
  Object.assign(element.dataset, { value: total, backward });
  // A number that is 0 would only distract.
  const texts = [formatted(total, metric.unit), percent(total, metric.total)]
    .map((one) => (total > 0 ? one : ""));
  fill(element, box.isExpanded ? header(box, texts, shown) : [
    ...boxTexts(box, texts, shown), ...bars(box.width, forward, backward, shown.largest),
  ]);
  const read = [...element.querySelectorAll("text")].map((one) => one.textContent?.trim());
  const name = boxes.fullName(node, children).slice(0, LONGEST);
  element.setAttribute("aria-label", `${read.filter((one) => one).join(" ")}, ${name}`);
}

/**
 * @param {SceneBox} box
 * @param {string[]} texts
 * @param {Shown} shown
 */
function boxTexts(box, [number, share], { boxes, children }) {
  const { label, detail } = boxes.of(box.node, children);
  const right = box.width - BOX.margin;
  return [
    boxes.isSeries(box.node) && svg("path", { class: "graph-stack", d: stack(box) }),
    svg("rect", { class: "graph-box", width: box.width, height: box.height, rx: 7 }),
    text("graph-label", BOX.margin, 17, label),
    " ",
    text("graph-detail", BOX.margin, 32, detail),
    " ",
    text("graph-amount", BOX.margin, 47, number),
    " ",
    text("graph-percent", right, 47, share),
    children.isExpandable(box.node) && toggle(right - 5, 13, false),
  ];
}

/**
 * @param {SceneBox} box
 * @param {string[]} texts
 * @param {Shown} shown
 */
function header(box, [number, share], { boxes, children }) {
  const { label } = boxes.of(box.node, children);
  const x = 26;
  return [
    svg("rect", { class: "graph-header", width: box.width, height: 26, rx: 7 }),
    text("graph-label graph-over", x, 17, label),
    " ",
    text("graph-detail graph-over", x + 8 + boxes.measured(label, LABEL), 17, `${number} ${share}`),
    toggle(14, 13, true),
  ];
}

/**
 * @param {string} name
 * @param {number} x
 * @param {number} y
 * @param {string} content
 */
function text(name, x, y, content) {
  return svg("text", { class: name, x, y }, content);
}

/**
 * The visible edges of two boxes behind a box.
 * @param {SceneBox} box
 */
function stack({ width, height }) {
  const edge = (/** @type {number} */ by) =>
    `M${8 + by},${height + by}H${width + by - 7}a7,7 0 0 0 7,-7V${8 + by}`;
  return edge(3) + edge(6);
}

/**
 * A sign to expand or collapse a node.
 * @param {number} x
 * @param {number} y
 * @param {boolean} isExpanded
 */
function toggle(x, y, isExpanded) {
  const lines = isExpanded ? `M${x - 3},${y}h6` : `M${x - 3},${y}h6M${x},${y - 3}v6`;
  return svg(
    "g",
    { class: "graph-toggle" },
    svg("rect", { x: x - 7, y: y - 7, width: 14, height: 14, rx: 3 }),
    svg("path", { d: lines }),
  );
}

/**
 * A bar with a part for the forward pass and one for the backward pass.
 * @param {number} width
 * @param {number} forward
 * @param {number} backward
 * @param {number} largest
 */
function bars(width, forward, backward, largest) {
  if (forward + backward <= 0) return [];
  const room = width - 2 * BOX.margin;
  const [first, second] = [forward, backward].map((value) => (room * value) / largest);
  const place = { y: BOX.height - 9, height: 4 };
  return [
    svg("rect", { class: "graph-track", x: BOX.margin, width: room, ...place, rx: 2 }),
    first > 0 && svg("rect", { class: "graph-forward", x: BOX.margin, width: first, ...place }),
    second > 0 && svg("rect", {
      class: "graph-backward", x: BOX.margin + first, width: second, ...place,
    }),
  ];
}

// Draws the boxes of the graph, and keeps those that are still shown.

import { svg, fill } from "./dom.js";
import { lineElements } from "./graph_lines.js";
import { fillNode } from "./graph_node.js";

/** @typedef {import("./graph_boxes.js").GraphBoxes} GraphBoxes */
/** @typedef {import("./graph_children.js").GraphChildren} GraphChildren */
/** @typedef {import("./graph_scene.js").Scene} Scene */
/** @typedef {import("./graph_scene.js").SceneBox} SceneBox */
/** @typedef {import("./graph_sheet.js").Line} Line */
/** @typedef {import("./types.d.ts").Metric} Metric */

/** Draws scenes. */
export class GraphDrawing {
  /** @param {GraphBoxes} boxes */
  constructor(boxes) {
    this.boxes = boxes;
    this.frames = svg("g", { "aria-hidden": "true" });
    this.lines = svg("g", { "aria-hidden": "true" });
    this.nodes = svg("g", null);
    this.caption = svg("text", { class: "graph-caption", y: -10 });
    this.content = svg("g", null, this.frames, this.lines, this.caption, this.nodes);
    /** @type {Map<number, SVGElement>} */
    this.elements = new Map();
    /** @type {{ line: Line, elements: SVGElement[] }[]} */
    this.drawn = [];
  }

  /**
   * @param {Scene} scene
   * @param {GraphChildren} children
   * @param {Metric} metric
   */
  show(scene, children, metric) {
    for (const [node, element] of this.elements) {
      if (scene.boxes.has(node)) continue;
      element.remove();
      this.elements.delete(node);
    }
    const frames = [...scene.boxes.values()].filter(({ isExpanded }) => isExpanded);
    fill(this.frames, frames.map(frameElement));
    this.drawn = scene.lines.map((line) => ({ line, elements: lineElements(line, this.boxes) }));
    fill(this.lines, this.drawn.flatMap(({ elements }) => elements));
    const largest = this.largest(scene, children);
    for (const box of scene.boxes.values()) {
      const element = this.elements.get(box.node) ?? this.added(box.node);
      fillNode(element, box, {
        boxes: this.boxes, children, metric, largest: largest.get(box.node) ?? 0,
      });
    }
    this.caption.setAttribute("x", String(scene.aside));
    const caption = children.tree.allPhases ? "not connected" : "beside the forward pass";
    fill(this.caption, scene.aside >= 0 ? caption : "");
  }

  /** @param {number} node */
  added(node) {
    const element = svg("g", { class: "graph-node", role: "treeitem", "data-node": node });
    this.elements.set(node, element);
    this.nodes.append(element);
    return element;
  }

  /**
   * The largest total next to each node, to which its bar is relative.
   * @param {Scene} scene
   * @param {GraphChildren} children
   */
  largest(scene, children) {
    const { numbers, tree } = children;
    /** @type {Map<number, number>} */
    const byParent = new Map();
    for (const node of scene.boxes.keys()) {
      const parent = tree.parentOf(node);
      byParent.set(parent, Math.max(byParent.get(parent) ?? 0, numbers.total(node)));
    }
    return new Map(
      [...scene.boxes.keys()].map((node) => [node, byParent.get(tree.parentOf(node)) ?? 0]),
    );
  }
}

/** @param {SceneBox} box */
function frameElement({ x, y, width, height, depth }) {
  return svg("rect", {
    class: `graph-frame graph-frame-${depth % 2}`, x, y, width, height, rx: 8,
  });
}

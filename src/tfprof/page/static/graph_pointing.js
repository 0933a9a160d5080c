// Shows what a node of the graph is connected with, and a tooltip, while the pointer is on it.

import { fill, h } from "./dom.js";
import { tooltip } from "./graph_facts.js";
import { connected } from "./graph_light.js";

/** @typedef {import("./graph_camera.js").Camera} Camera */
/** @typedef {import("./graph_draw.js").GraphDrawing} GraphDrawing */
/** @typedef {import("./graph_scene.js").Scene} Scene */
/** @typedef {import("./graph_scene.js").SceneBox} SceneBox */
/** @typedef {import("./graph_state.js").GraphState} GraphState */
/** @typedef {import("./types.d.ts").Metric} Metric */

const GAP = 8;
const HEADER = 26;

export class Pointing {
  /**
   * @param {Element} picture
   * @param {GraphDrawing} drawing
   * @param {Camera} camera
   */
  constructor(picture, drawing, camera) {
    this.picture = picture;
    this.drawing = drawing;
    this.camera = camera;
    this.node = -1;
    // Screen readers get the same from the label of the node and the line below the picture.
    this.tip = h("div", { class: "graph-tip", "aria-hidden": "true" });
  }

  /**
   * The pointer is on a node, or on none if that is -1.
   * @param {number} node
   * @param {GraphState} state
   * @param {Scene} scene
   * @param {Metric} metric
   */
  at(node, state, scene, metric) {
    if (node === this.node) return;
    this.node = node;
    const box = scene.boxes.get(node);
    this.tip.classList.toggle("graph-tip-shown", box !== undefined);
    this.picture.classList.toggle("graph-lit", box !== undefined);
    const { lines, nodes } = connected(state, scene.lines, node);
    for (const { line, elements } of this.drawing.drawn) {
      for (const element of elements) element.classList.toggle("graph-on", lines.has(line));
    }
    for (const [one, element] of this.drawing.elements) {
      element.classList.toggle("graph-on", nodes.has(one));
    }
    if (!box) return;
    fill(this.tip, tooltip(state, node, metric));
    this.place(box);
  }

  /**
   * Put the tooltip below a box, or above it if there is no room.
   * @param {SceneBox} box
   */
  place(box) {
    const { x, y, scale } = this.camera.look;
    const { width, height } = this.camera.room();
    const { offsetWidth, offsetHeight } = this.tip;
    const below = y + (box.y + (box.isExpanded ? HEADER : box.height)) * scale + GAP;
    const above = y + box.y * scale - offsetHeight - GAP;
    const left = Math.min(x + box.x * scale, width - offsetWidth - GAP);
    this.tip.style.left = `${Math.max(GAP, left)}px`;
    this.tip.style.top = `${below + offsetHeight < height ? below : above}px`;
  }
}

// A small picture of the whole graph that shows which part is in sight.

import { svg } from "./dom.js";

/** @typedef {import("./graph_camera.js").Camera} Camera */
/** @typedef {import("./graph_scene.js").Scene} Scene */

const WIDTH = 168;
const HEIGHT = 112;

export class Minimap {
  /** @param {() => Camera} camera */
  constructor(camera) {
    this.camera = camera;
    this.scale = 1;
    this.boxes = svg("path", { class: "minimap-boxes" });
    this.sight = svg("rect", { class: "minimap-sight", rx: 1 });
    this.element = svg(
      "svg",
      {
        class: "minimap", width: WIDTH, height: HEIGHT, "aria-hidden": "true",
        onpointerdown: (/** @type {PointerEvent} */ event) => this.go(event),
        onpointermove: (/** @type {PointerEvent} */ event) => event.buttons && this.go(event),
      },
      this.boxes,
      this.sight,
    );
  }

  /** @param {Scene} scene */
  show(scene) {
    this.scale = Math.min(WIDTH / scene.width, HEIGHT / scene.height);
    const size = (/** @type {number} */ length) => (length * this.scale).toFixed(1);
    const leaves = [...scene.boxes.values()].filter(({ isExpanded }) => !isExpanded);
    this.boxes.setAttribute("d", leaves.map(({ x, y, width, height }) =>
      `M${size(x)},${size(y)}h${size(width)}v${size(height)}h-${size(width)}z`).join(""));
    this.move();
  }

  move() {
    const { look, size, room } = this.camera();
    const { width, height } = room();
    const isWhole = size.width * look.scale <= width && size.height * look.scale <= height;
    this.element.classList.toggle("minimap-hidden", isWhole);
    const by = this.scale / look.scale;
    const place = { x: -look.x * by, y: -look.y * by, width: width * by, height: height * by };
    for (const [name, value] of Object.entries(place)) {
      this.sight.setAttribute(name, value.toFixed(1));
    }
  }

  /**
   * Move the middle of the view to where the pointer is.
   * @param {PointerEvent} event
   */
  go(event) {
    const camera = this.camera();
    const { left, top } = this.element.getBoundingClientRect();
    const { width, height } = camera.room();
    const { x, y, scale } = camera.look;
    const [a, b] = [(event.clientX - left) / this.scale, (event.clientY - top) / this.scale];
    camera.move(width / 2 - a * scale - x, height / 2 - b * scale - y);
    event.stopPropagation();
  }
}

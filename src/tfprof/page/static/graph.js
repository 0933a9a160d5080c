// The drawn graph of the model: groups that expand, coloured by their share of the metric.

import { fill, h, svg } from "./dom.js";
import { Camera } from "./graph_camera.js";
import { controls, legend } from "./graph_controls.js";
import { GraphDrawing } from "./graph_draw.js";
import { asSvg } from "./graph_export.js";
import { showFacts } from "./graph_facts.js";
import { neighbour } from "./graph_keys.js";
import { Minimap } from "./graph_minimap.js";
import { listen } from "./graph_pointer.js";
import { Pointing } from "./graph_pointing.js";
import { GraphState } from "./graph_state.js";
import { isApplied } from "./options.js";
import { rowsOfOps } from "./row_ops.js";
import { matchingNames } from "./search_text.js";

/** @typedef {import("./graph_scene.js").Scene} Scene */
/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").GraphData} GraphData */

const ARROWS = ["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"];
const HINT = "Click a box to select it, double-click to expand it; drag or scroll to move.";
const MOST_MATCHES = 10_000; // of a search are marked
const DURATION = 220; // of the animation in the style sheet, in milliseconds

export class DrawnGraph {
  /**
   * @param {Context} context
   * @param {GraphData} data
   */
  constructor({ payload, store }, data) {
    this.payload = payload;
    this.store = store;
    this.selected = -1;
    this.focused = -1;
    this.isStarted = false;
    this.metric = payload.metrics[0]; // until the first answer
    this.isFiltered = false;
    this.size = { width: 1000, height: 500 };
    this.picture = svg("svg", {
      class: "graph-picture",
      role: "tree",
      "aria-label": "Graph of the model",
      onclick: (/** @type {MouseEvent} */ event) => this.onClick(event),
      ondblclick: (/** @type {MouseEvent} */ event) => this.toggle(nodeAt(event)),
      onpointerover: (/** @type {PointerEvent} */ event) => this.hover(nodeAt(event)),
      onpointerleave: () => this.hover(-1),
      onfocusin: (/** @type {FocusEvent} */ event) => this.onFocus(nodeAt(event)),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event),
    });
    this.facts = h("div", { class: "graph-facts" });
    this.note = h("span", { class: "graph-note", role: "status" });
    this.stage = h("div", { class: "graph-stage" }, this.picture);
    new ResizeObserver(() => this.measure()).observe(this.stage);
    this.state = new GraphState(payload, data, this.size);
    this.drawing = new GraphDrawing(this.state.boxes);
    this.picture.append(arrow(), this.drawing.content);
    this.minimap = new Minimap(() => this.camera);
    this.camera = new Camera(this.drawing.content, () => this.room(), () => this.minimap.move());
    this.pointing = new Pointing(this.picture, this.drawing, this.camera);
    this.stage.append(this.minimap.element, this.pointing.tip);
    listen(this.picture, this.camera);
    /** @type {Scene} */
    this.scene = { boxes: new Map(), lines: [], aside: -1, width: 1, height: 1 };
    const hasGradients = this.state.tree.backward >= 0;
    this.stage.append(legend(hasGradients));
    this.controls = controls({
      zoom: (factor) => this.camera.zoom(factor),
      fit: () => this.camera.fit(),
      collapse: () => this.collapseAll(),
      showPhases: (all) => this.showPhases(all),
      copy: () => asSvg(this.drawing.content, this.scene),
    }, hasGradients, this.note);
    this.element = h("div", { class: "graph" }, this.stage, this.facts);
  }

  room() {
    return this.size;
  }

  measure() {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (width > 0 && height > 0) this.size = { width, height };
  }

  /**
   * Show the numbers of ops that an answer has.
   * @param {import("./workbench.js").Answer} answer
   */
  show({ rows, metric, whole }) {
    const values = rows.ofOps(metric.column);
    const isSame = this.state.values === values && this.metric.total === whole;
    this.metric = { ...metric, total: whole };
    this.isFiltered = this.payload.options.some(
      (option) => isApplied(option) && option.name !== "order_by" && rows.asked?.[option.name],
    );
    if (!isSame) this.state.setValues(values);
    if (!this.isStarted) {
      this.measure();
      this.state.setRoom(this.room());
      this.render();
      this.camera.begin();
    } else if (!isSame) {
      this.render();
    }
    this.isStarted = true;
    this.describe();
    this.follow();
  }

  render() {
    this.scene = this.state.scene();
    this.camera.size = this.scene;
    this.drawing.show(this.scene, this.state.children, this.metric);
    this.minimap.show(this.scene);
    this.markMatches();
    this.mark();
    this.describe();
  }

  /** Say what the picture covers. */
  describe() {
    const [nodes, ops] = [this.scene.boxes.size, this.payload.ops.count]
      .map((count) => count.toLocaleString("en-US"));
    const isUnconnected = this.payload.ops.inputs.back.length === 0;
    fill(
      this.note,
      `${nodes} nodes for ${ops} ops`,
      isUnconnected && "; how they are connected is unknown",
      this.isFiltered && "; filters apply only to the table",
    );
  }

  /** Show which nodes are selected and focused. */
  mark() {
    const first = this.scene.boxes.keys().next().value ?? -1;
    const tabbed = this.scene.boxes.has(this.focused) ? this.focused : first;
    for (const [node, element] of this.drawing.elements) {
      element.setAttribute("tabindex", node === tabbed ? "0" : "-1");
      element.setAttribute("aria-selected", String(node === this.selected));
    }
    if (this.selected < 0) {
      fill(this.facts, h("span", { class: "graph-quiet" }, HINT));
      return;
    }
    showFacts(this.facts, this.state, this.selected, this.metric, {
      toggle: () => this.toggle(this.selected),
      select: (op) => this.selectOp(op),
      show: (row) => this.store.set({ view: "layers", row, op: -1 }),
    });
  }

  /**
   * Expand or collapse a node, which stays where it is on the screen.
   * @param {number} node
   * @param {boolean} [expand]
   */
  toggle(node, expand) {
    const before = this.scene.boxes.get(node);
    if (!before || !this.state.toggle(node, expand)) return;
    this.hover(-1);
    this.animate();
    this.render();
    const after = this.scene.boxes.get(node) ?? before;
    const { x, y, scale } = this.camera.look;
    const dx = (before.x - after.x) * scale;
    const dy = (before.y - after.y) * scale;
    this.camera.show({ x: x + dx, y: y + dy, scale });
  }

  /** Let boxes and the picture glide to their new places; the style sheet says how. */
  animate() {
    this.picture.classList.add("graph-gliding");
    clearTimeout(this.gliding);
    this.gliding = setTimeout(() => this.picture.classList.remove("graph-gliding"), DURATION);
  }

  collapseAll() {
    this.state.collapseAll();
    this.render();
    this.camera.begin();
  }

  /** @param {boolean} all */
  showPhases(all) {
    this.state.showPhases(all);
    if (!this.payload.ops.count) return;
    this.selected = -1;
    this.render();
    this.camera.begin();
  }

  /**
   * Select a node. An op is selected in the whole page.
   * @param {number} node
   */
  select(node) {
    if (node < 0) return;
    this.selected = node;
    const op = this.state.tree.opOf(node);
    this.mark();
    this.store.set({ op, row: op >= 0 ? this.rowOf(op) : -1 });
  }

  /**
   * The row of an op in the graph view.
   * @param {number} op
   */
  rowOf(op) {
    return rowsOfOps(this.payload, this.payload.views.graph)[op];
  }

  /** @param {number} op */
  selectOp(op) {
    this.store.set({ op, row: this.rowOf(op) });
  }

  /** Follow the selection of the page. */
  follow() {
    const { row, op: chosen } = this.store.state;
    const op = chosen >= 0 ? chosen : this.payload.views.graph.op[row] ?? -1;
    if (op < 0 || op === this.state.tree.opOf(this.selected)) return;
    const shown = this.state.reveal(this.state.tree.nodeOf(op));
    this.selected = shown;
    this.focused = shown;
    this.render();
    const box = this.scene.boxes.get(shown);
    if (box) this.camera.reveal(box);
  }

  /** Mark the nodes that contain what the reader searches for. */
  markMatches() {
    const flags = matchingNames(this.payload.ops.name, this.store.state.search);
    const found = new Set();
    let count = 0;
    for (let op = 0; flags && op < flags.length && count < MOST_MATCHES; op += 1) {
      if (!flags[op]) continue;
      found.add(this.state.shown(op, this.scene));
      count += 1;
    }
    for (const [node, element] of this.drawing.elements) {
      element.classList.toggle("graph-match", found.has(node));
    }
  }

  /** @param {number} node */
  hover(node) {
    this.pointing.at(node, this.state, this.scene, this.metric);
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const node = nodeAt(event);
    const isToggle = /** @type {Element} */ (event.target).closest(".graph-toggle") !== null;
    if (isToggle && event.detail < 2) this.toggle(node);
    else this.select(node);
    this.focus(node);
  }

  /** @param {number} node */
  focus(node) {
    const element = this.drawing.elements.get(node);
    if (!element) return;
    this.focused = node;
    this.mark();
    element.focus({ preventScroll: true });
    const box = this.scene.boxes.get(node);
    if (box) this.camera.reveal(box);
  }

  /** @param {number} node */
  onFocus(node) {
    const box = this.scene.boxes.get(node);
    if (!box || node === this.focused) return;
    this.focused = node;
    this.camera.reveal(box);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const node = nodeAt(event);
    if (ARROWS.includes(event.key)) {
      this.focus(neighbour(this.state, this.scene, node, event.key));
    } else if (event.key === "Enter") {
      this.toggle(node);
      this.focus(node);
    } else if (event.key === " ") {
      this.select(node);
    } else if (event.key === "Escape") {
      this.leave(node);
    } else if (event.key === "+" || event.key === "=") {
      this.camera.zoom(1.25);
    } else if (event.key === "-") {
      this.camera.zoom(1 / 1.25);
    } else if (event.key === "0") {
      this.camera.fit();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * Collapse a node, or the one around it.
   * @param {number} node
   */
  leave(node) {
    const outer = this.state.expanded.has(node) ? node : this.state.tree.parentOf(node);
    if (!this.scene.boxes.has(outer)) return;
    this.toggle(outer, false);
    this.focus(outer);
  }
}

/**
 * The node that an event is about, -1 if none.
 * @param {Event} event
 */
function nodeAt(event) {
  const element = /** @type {Element} */ (event.target).closest(".graph-node");
  return element ? Number(/** @type {SVGElement} */ (element).dataset["node"]) : -1;
}

function arrow() {
  return svg("defs", null, svg(
    "marker",
    {
      id: "graph-arrow", viewBox: "0 0 8 8", refX: 7, refY: 4,
      markerWidth: 7, markerHeight: 7, orient: "auto", markerUnits: "userSpaceOnUse",
    },
    svg("path", { class: "graph-arrow", d: "M0,0.5 L7.5,4 L0,7.5 z" }),
  ));
}

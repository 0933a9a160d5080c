// What the drawn graph shows: which nodes are expanded, for which metric and phases.

import { GraphBoxes } from "./graph_boxes.js";
import { GraphChildren } from "./graph_children.js";
import { GraphLayout } from "./graph_layout.js";
import { sceneOf } from "./graph_scene.js";
import { GROUP, GraphTree, TOP } from "./graph_tree.js";

/** @typedef {import("./graph_columns.js").Size} Size */
/** @typedef {import("./types.d.ts").GraphData} GraphData */
/** @typedef {import("./types.d.ts").Payload} Payload */

export class GraphState {
  /**
   * @param {Payload} payload
   * @param {GraphData} data
   * @param {Size} room
   */
  constructor(payload, data, room) {
    this.payload = payload;
    /** @type {import("./types.d.ts").Numbers} the number of each op */
    this.values = new Uint8Array(payload.ops.count);
    this.room = room;
    this.tree = new GraphTree(data);
    this.boxes = new GraphBoxes(payload, this.tree);
    /** @type {Set<number>} */
    this.expanded = new Set();
    this.children = new GraphChildren(this.tree, payload.ops, this.values);
    this.layout = new GraphLayout(this.children, this.boxes, this.expanded, room);
    this.expandModel();
  }

  /** Expand the only node that contains several layers, the model, and the model inside of it. */
  expandModel() {
    const { tree } = this;
    const isModel = (/** @type {number} */ group) => !tree.data.aside[group]
      && tree.groupsIn(group).filter((inner) => tree.data.kind[inner] !== GROUP.scope).length > 1;
    let models = tree.groupsIn(TOP).filter(isModel);
    while (models.length === 1) {
      this.expanded.add(models[0]);
      models = tree.groupsIn(models[0]).filter(isModel);
    }
  }

  /**
   * Lay out for a picture of this size.
   * @param {Size} room
   */
  setRoom(room) {
    this.room = room;
    this.layout.room = room;
    this.layout.known.clear();
  }

  /** @param {import("./types.d.ts").Numbers} values the number of each op */
  setValues(values) {
    this.values = values;
    this.reset();
  }

  /** @param {boolean} all */
  showPhases(all) {
    this.tree.showPhases(all);
    this.boxes.known.clear();
    this.reset();
  }

  reset() {
    this.children = new GraphChildren(this.tree, this.payload.ops, this.values);
    for (const node of this.expanded) {
      if (!this.children.isExpandable(node)) this.expanded.delete(node);
    }
    this.layout = new GraphLayout(this.children, this.boxes, this.expanded, this.room);
  }

  scene() {
    return sceneOf(this.layout);
  }

  /**
   * Expand or collapse a node; returns whether that changed something.
   * @param {number} node
   * @param {boolean} [expand]
   */
  toggle(node, expand = !this.expanded.has(node)) {
    if (expand === this.expanded.has(node)) return false;
    if (expand && !this.children.isExpandable(node)) return false;
    if (expand) this.expanded.add(node);
    else this.expanded.delete(node);
    this.layout.forget(node);
    return true;
  }

  /** Collapse everything but the model. */
  collapseAll() {
    this.expanded.clear();
    this.expandModel();
    this.layout.known.clear();
  }

  /**
   * Expand all nodes around a node; returns the node that shows it.
   * @param {number} node
   */
  reveal(node) {
    for (const outer of this.tree.around(node)) {
      if (outer !== TOP) this.toggle(outer, true);
      // It may be among the smaller nodes, which are not drawn.
      const inner = this.innerOf(outer, node);
      const shown = this.children.shownAs(inner);
      if (shown !== inner) return shown;
    }
    return node;
  }

  /**
   * The innermost node of a scene that contains an op.
   * @param {number} op
   * @param {import("./graph_scene.js").Scene} scene
   */
  shown(op, scene) {
    let node = this.tree.nodeOf(op);
    while (node !== TOP && !scene.boxes.has(node)) {
      const as = this.children.shownAs(node);
      node = scene.boxes.has(as) ? as : this.tree.parentOf(node);
    }
    return node;
  }

  /**
   * The child of a node that contains another node or is that.
   * @param {number} outer
   * @param {number} node
   */
  innerOf(outer, node) {
    let found = node;
    while (this.tree.parentOf(found) !== outer) found = this.tree.parentOf(found);
    return found;
  }
}

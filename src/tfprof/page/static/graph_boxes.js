// The texts and sizes of the drawn graph's nodes.

import { visible } from "./dom.js";
import { GROUP } from "./graph_tree.js";

/** @typedef {import("./graph_children.js").GraphChildren} GraphChildren */
/** @typedef {import("./graph_tree.js").GraphTree} GraphTree */
/** @typedef {import("./types.d.ts").Payload} Payload */

/**
 * What a box shows besides its number. `label` and `detail` are cut to fit the width.
 * @typedef {{ label: string, detail: string, width: number, height: number }} Box
 */

export const BOX = { height: 62, least: 140, aside: 184, most: 216, margin: 10, toggle: 18 };

/** The font of labels. */
export const LABEL = "600 12px";
const DETAIL = "11px";
/** Names are cut to this before they are measured. */
const LONGEST = 200;

/** Finds what boxes show; all texts are visible characters. */
export class GraphBoxes {
  /**
   * @param {Payload} payload
   * @param {GraphTree} tree
   */
  constructor(payload, tree) {
    this.payload = payload;
    this.tree = tree;
    this.family = getComputedStyle(document.body).fontFamily;
    this.canvas = /** @type {CanvasRenderingContext2D} */ (
      document.createElement("canvas").getContext("2d")
    );
    /** @type {Map<number, Box>} */
    this.known = new Map();
  }

  /**
   * @param {number} node
   * @param {GraphChildren} children
   */
  of(node, children) {
    const known = this.known.get(node);
    if (known) return known;
    const label = short(this.label(node, children));
    const detail = short(this.detail(node, children));
    const toggle = children.isExpandable(node) ? BOX.toggle : 0;
    const inner = Math.max(this.measured(label, LABEL) + toggle, this.measured(detail, DETAIL));
    const isAside = this.tree.isGroup(node) && this.tree.data.aside[node];
    const least = isAside ? BOX.aside : BOX.least;
    const width = Math.min(BOX.most, Math.max(least, Math.ceil(inner) + 2 * BOX.margin));
    const room = width - 2 * BOX.margin;
    const found = {
      label: this.cut(label, LABEL, room - toggle),
      detail: this.cut(detail, DETAIL, room),
      width,
      height: BOX.height,
    };
    // The number of smaller nodes depends on the metric.
    if (!this.tree.isMore(node)) this.known.set(node, found);
    return found;
  }

  /**
   * The name of a node, without those around it.
   * @param {number} node
   * @param {GraphChildren} children
   */
  label(node, children) {
    const { tree } = this;
    const op = tree.opOf(node);
    if (op >= 0) return this.payload.ops.name.get(op).split("/").pop() ?? "";
    const group = tree.groupOf(node);
    if (tree.isGroup(node)) return tree.data.label.get(group);
    if (!tree.isMore(node)) return "other ops";
    const count = children.smaller.get(group)?.size ?? 0;
    return `${count.toLocaleString("en-US")} smaller nodes`;
  }

  /**
   * The whole name of a node: that of the op, the layer or the scope.
   * @param {number} node
   * @param {GraphChildren} children
   */
  fullName(node, children) {
    const { tree, payload } = this;
    const op = tree.opOf(node);
    if (op >= 0) return payload.ops.name.get(op);
    const row = tree.rowOf(node);
    return row > 0 ? payload.views.layers.name.get(row) : this.label(node, children);
  }

  /**
   * The class or kind of a node and the shape of its output.
   * @param {number} node
   * @param {GraphChildren} children
   */
  detail(node, children) {
    return [this.kind(node, children), this.shape(node)].filter((text) => text !== "").join(" · ");
  }

  /**
   * @param {number} node
   * @param {GraphChildren} children
   */
  kind(node, children) {
    const { tree, payload } = this;
    const op = tree.opOf(node);
    if (op >= 0) return payload.ops.kind.values.get(payload.ops.kind.codes[op]);
    if (!tree.isGroup(node)) return counted(children.numbers.opCount(node), "op");
    const kind = tree.data.kind[node];
    if (kind === GROUP.alike) return `${tree.nodesIn(node)} alike`;
    if (kind === GROUP.series) return `${tree.groupsIn(node).length} alike`;
    if (kind === GROUP.names || kind === GROUP.part) return counted(tree.layersIn(node), "layer");
    return this.fact("layer_class", node) || counted(children.numbers.opCount(node), "op");
  }

  /**
   * Whether a node stands for several alike ones.
   * @param {number} node
   */
  isSeries(node) {
    const { kind } = this.tree.data;
    return this.tree.isGroup(node) && [GROUP.series, GROUP.alike].includes(kind[node]);
  }

  /**
   * The shape of the first output of an op, or of the output of a layer; empty if it is unknown.
   * @param {number} node
   */
  shape(node) {
    const op = this.tree.opOf(node);
    if (op >= 0) return this.payload.ops.shape.values.get(this.payload.ops.shape.codes[op]);
    return this.tree.isGroup(node) ? this.fact("output_shape", node) : "";
  }

  /**
   * A fact about the layer that a group is.
   * @param {string} key
   * @param {number} group
   */
  fact(key, group) {
    const row = this.tree.rowOf(group);
    const facts = this.payload.views.layers.facts[key];
    return facts && row > 0 ? facts.values.get(facts.codes[row]) : "";
  }

  /**
   * The width of a text.
   * @param {string} text
   * @param {string} font
   */
  measured(text, font) {
    this.canvas.font = `${font} ${this.family}`;
    return this.canvas.measureText(text).width;
  }

  /**
   * A text that fits, with its middle left out if necessary: names often differ at the end.
   * @param {string} text
   * @param {string} font
   * @param {number} room
   */
  cut(text, font, room) {
    if (this.measured(text, font) <= room) return text;
    const letters = [...text];
    let least = 0;
    let most = letters.length;
    while (least < most) {
      const count = Math.ceil((least + most) / 2);
      if (this.measured(joined(letters, count), font) <= room) least = count;
      else most = count - 1;
    }
    return joined(letters, least);
  }
}

/**
 * The first and last letters of a text.
 * @param {string[]} letters
 * @param {number} count
 */
function joined(letters, count) {
  const start = Math.ceil(count * 0.55);
  const end = letters.length - count + start;
  return `${letters.slice(0, start).join("")}…${letters.slice(end).join("")}`;
}

/** @param {string} text */
function short(text) {
  const shown = visible(text.slice(0, 2 * LONGEST)).replace(/\s+/g, " ");
  return shown.length <= LONGEST ? shown : `${shown.slice(0, LONGEST)}…`;
}

/**
 * @param {number} count
 * @param {string} noun
 */
function counted(count, noun) {
  return `${count.toLocaleString("en-US")} ${count === 1 ? noun : `${noun}s`}`;
}

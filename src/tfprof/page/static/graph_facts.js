// What is known about a node of the drawn graph: as a tooltip, and below the picture if selected.

import { amount, fill, h, nameOf } from "./dom.js";
import { exact, formatted, percent } from "./units.js";

/** @typedef {import("./graph_state.js").GraphState} GraphState */
/** @typedef {import("./types.d.ts").Metric} Metric */

/** At most this many folded ops are listed. */
const MOST_LISTED = 200;

/**
 * @param {GraphState} state
 * @param {number} node
 * @param {Metric} metric
 */
export function tooltip(state, node, metric) {
  return [
    h("strong", null, nameOf(state.boxes.fullName(node, state.children))),
    h("div", null, state.boxes.detail(node, state.children)),
    h("div", null, ...numbers(state, node, metric)),
    h("div", { class: "graph-quiet" }, counts(state, node)),
  ];
}

/**
 * @param {HTMLElement} element
 * @param {GraphState} state
 * @param {number} node
 * @param {Metric} metric
 * @param {{ toggle: () => void, select: (op: number) => void, show: (row: number) => void }} act
 */
export function showFacts(element, state, node, metric, act) {
  const row = state.tree.rowOf(node);
  const folded = foldedOps(state, node);
  const canToggle = state.children.isExpandable(node);
  fill(
    element,
    h(
      "div",
      { class: "graph-facts-line" },
      nameOf(state.boxes.fullName(node, state.children), { class: "name graph-facts-name" }),
      h("span", null, state.boxes.detail(node, state.children)),
      h("span", null, ...numbers(state, node, metric)),
      h("span", { class: "graph-quiet" }, counts(state, node)),
      canToggle && h(
        "button",
        { class: "quiet-button", type: "button", onclick: act.toggle },
        state.expanded.has(node) ? "Collapse" : "Expand",
      ),
      row > 0 && h(
        "button",
        { class: "quiet-button", type: "button", onclick: () => act.show(row) },
        "Show in Layers",
      ),
      folded.length > 0 && foldedList(state, folded, act.select),
    ),
  );
}

/**
 * @param {GraphState} state
 * @param {number} node
 * @param {Metric} metric
 */
function numbers(state, node, metric) {
  const [forward, backward] = state.children.numbers.split(node);
  const total = forward + backward;
  const text = (/** @type {number} */ value) =>
    amount(formatted(value, metric.unit), value, { title: exact(value, metric.unit) });
  const parts = [text(total), ` ${metric.label} (${percent(total, metric.total)})`];
  return backward > 0
    ? [...parts, ": forward ", text(forward), ", backward ", text(backward)]
    : parts;
}

/**
 * @param {GraphState} state
 * @param {number} node
 */
function counts(state, node) {
  const count = state.children.numbers.opCount(node);
  return count === 1 ? "1 op" : `${count.toLocaleString("en-US")} ops`;
}

/**
 * The ops that a node stands for without being shown as nodes.
 * @param {GraphState} state
 * @param {number} node
 */
function foldedOps(state, node) {
  const { tree } = state;
  if (tree.isCell(node)) return [...tree.opsOf(node)].filter((op) => op !== tree.opOf(node));
  const group = tree.groupOf(node);
  if (group < 0 || tree.isMore(node)) return [];
  return [...tree.ownOps(group)].filter((op) => tree.cell[op] < 0);
}

/**
 * @param {GraphState} state
 * @param {number[]} ops
 * @param {(op: number) => void} select
 */
function foldedList(state, ops, select) {
  const { name, kind } = state.payload.ops;
  const items = ops.slice(0, MOST_LISTED).map((op) => h(
    "li",
    null,
    h(
      "button",
      { class: "graph-folded", type: "button", onclick: () => select(op) },
      nameOf(name.get(op)),
    ),
    h("span", { class: "graph-quiet" }, ` ${kind.values.get(kind.codes[op])}`),
  ));
  const more = ops.length - items.length;
  return h(
    "details",
    null,
    h("summary", null, `Folded ops (${ops.length.toLocaleString("en-US")})`),
    h("ul", null, items, more > 0 && h("li", null, `${more.toLocaleString("en-US")} more`)),
  );
}

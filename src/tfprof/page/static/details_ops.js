// The ops of a row: the largest of them, what feeds it and what it feeds.

import { amount, h, nameOf } from "./dom.js";
import { inputsOf, usersOf } from "./edges.js";
import { opsBelow, rowsOfOps } from "./row_ops.js";
import { formatted } from "./units.js";

/** @typedef {import("./workbench.js").Answer} Answer */
/** @typedef {import("./workbench.js").Bench} Bench */

/** The number of links in a list at first. */
const FEW = 6;

/** The most links in a list. */
const MANY = 200;

/**
 * Lists of ops around a row.
 * @param {Bench} bench
 * @param {Answer} answer
 * @param {number} row
 */
export function neighbours(bench, answer, row) {
  const { data } = answer.rows;
  const ops = data.op[row] >= 0 && data.end[row] === row + 1
    ? [data.op[row]]
    : opsBelow(answer.rows, row);
  // In the graph view, the rows below an op are its inputs; only the op itself has neighbours.
  const inside = data.kind === "graph" ? [data.op[row]].filter((op) => op >= 0) : ops;
  return [
    ops.length > 1 && list(bench, answer, "Largest ops", sorted(answer, ops), true),
    list(bench, answer, "Inputs", outside(bench, inside, inputsOf(bench.payload.ops)), false),
    list(bench, answer, "Outputs", outside(bench, inside, usersOf(bench.payload.ops)), false),
  ];
}

/**
 * The ops that have the chosen metric, the largest first.
 * @param {Answer} answer
 * @param {number[]} ops
 */
function sorted({ rows, metric }, ops) {
  const numbers = rows.ofOps(metric.column);
  return ops.filter((op) => numbers[op] > 0).sort((one, other) => numbers[other] - numbers[one]);
}

/**
 * The other ends of the edges of some ops that are not among these ops, each once.
 * @param {Bench} bench
 * @param {number[]} ops
 * @param {import("./edges.js").Edges} edges
 */
function outside({ payload }, ops, edges) {
  const isInside = new Uint8Array(payload.ops.count);
  for (const op of ops) isInside[op] = 1;
  /** @type {Set<number>} */
  const found = new Set();
  for (const op of ops) {
    for (let edge = edges.offsets[op]; edge < edges.offsets[op + 1]; edge += 1) {
      const other = edges.op[edge];
      if (other >= 0 && !isInside[other]) found.add(other);
    }
  }
  return [...found];
}

/**
 * A list of links to ops, a few of them at first.
 * @param {Bench} bench
 * @param {Answer} answer
 * @param {string} title
 * @param {number[]} ops
 * @param {boolean} hasNumbers
 */
function list(bench, answer, title, ops, hasNumbers) {
  if (ops.length === 0) return null;
  const items = h("ul", { class: "details-list" }, ops.slice(0, FEW).map(item));
  const more = Math.min(ops.length, MANY) - FEW;
  const button = h("button", { class: "link", type: "button" }, `Show ${more} more`);
  button.addEventListener("click", () => {
    items.append(...ops.slice(FEW, MANY).map(item));
    button.remove();
  });

  /** @param {number} op */
  function item(op) {
    const { column, unit } = answer.metric;
    const value = answer.rows.ofOps(column)[op];
    return h(
      "li",
      null,
      link(bench, op),
      hasNumbers && amount(formatted(value, unit), value),
    );
  }

  const count = h("span", { class: "quiet" }, ops.length.toLocaleString("en-US"));
  return h(
    "section",
    { class: "details-section" },
    h("h3", null, title, " ", count),
    items,
    more > 0 && button,
  );
}

/**
 * A link to an op: in this view if it has a row of its own there, otherwise in the scope view.
 * @param {Bench} bench
 * @param {number} op
 */
function link({ payload, store, kind }, op) {
  const name = payload.ops.name.get(op);
  const view = payload.views[kind].gathered ? "scope" : kind;
  const onclick = () => {
    store.visit({ view, row: rowsOfOps(payload, payload.views[view])[op], op });
  };
  const slash = name.lastIndexOf("/");
  const leaf = nameOf(name.slice(slash + 1));
  const scope = slash > 0 && nameOf(name.slice(0, slash), { class: "name quiet" });
  return h("button", { class: "link", type: "button", title: name, onclick }, leaf, scope);
}

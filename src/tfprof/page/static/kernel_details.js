// The details of a kernel: its whole name, all its numbers, and how it was launched.

import { copyButton } from "./clipboard.js";
import { notes, title } from "./details.js";
import { cells, number } from "./details_numbers.js";
import { h, nameOf } from "./dom.js";
import { occupancyText, valuesOf } from "./kernel_columns.js";
import { nameLink, rowNamed } from "./links.js";
import { percent } from "./units.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").KernelData} KernelData */
/** @typedef {import("./types.d.ts").KernelFactName} KernelFactName */
/** @typedef {import("./types.d.ts").ViewKind} ViewKind */

/**
 * Facts with their labels, and the view that has rows for their values.
 * @type {[KernelFactName, string, ViewKind | null][]}
 */
const FACTS = [
  ["registers", "Registers per thread", null],
  ["shared_memory", "Shared memory per block", null],
  ["grids", "Grid", null],
  ["blocks", "Block", null],
  ["streams", "Stream", null],
  ["ops", "Launched by", "op"],
  ["modules", "Module", "layers"],
  ["shapes", "Input shapes", null],
];

/**
 * The details of a kernel; without a selection, those of all kernels.
 * @param {Context} context
 * @param {KernelData} kernels
 * @param {number} row
 * @returns {Node[]}
 */
export function kernelDetails(context, kernels, row) {
  const isOne = row > 0;
  const parts = [
    title(kernels.name.get(Math.max(row, 0))),
    isOne && wholeName(kernels, row),
    numbers(kernels, Math.max(row, 0)),
    ...FACTS.map((fact) => isOne && values(context, kernels, row, fact)),
    !isOne && notes(kernels.notes),
  ];
  return parts.filter((part) => part instanceof Node);
}

/**
 * The name in the source, if it is longer.
 * @param {KernelData} kernels
 * @param {number} row
 */
function wholeName({ name, whole }, row) {
  const text = whole.get(row);
  if (text === name.get(row)) return null;
  const shown = h("code", { class: "kernel-whole" }, nameOf(text));
  return section("Whole name", shown, copyButton(text, shown, "Copy the whole name"));
}

/**
 * @param {KernelData} kernels
 * @param {number} row
 */
function numbers(kernels, row) {
  const { launches, total, mean, min, max } = kernels.numbers;
  const occupancy = occupancyText(kernels, row);
  return h(
    "table",
    { class: "details-numbers" },
    h(
      "tbody",
      null,
      cells("launches", false, number(launches[row], "count")),
      cells("total", false, number(total[row], "nanos")),
      cells("share", false, percent(total[row], total[0])),
      cells("mean", false, number(mean[row], "nanos")),
      cells("min", false, number(min[row], "nanos")),
      cells("max", false, number(max[row], "nanos")),
      occupancy && cells("occupancy", false, occupancy),
    ),
  );
}

/**
 * The values of a fact, the one with the most time first.
 * @param {Context} context
 * @param {KernelData} kernels
 * @param {number} row
 * @param {typeof FACTS[number]} fact
 */
function values(context, kernels, row, [key, label, view]) {
  const { texts, left } = valuesOf(kernels.facts[key], row);
  if (texts.length === 0) return null;
  const items = texts.map((text) => h("li", null, valueOf(context, view, text)));
  const more = `… ${left.toLocaleString("en-US")} more: see tfprof kernels --json`;
  const rest = left > 0 && h("li", { class: "quiet" }, more);
  return section(label, h("ul", { class: "details-list" }, items, rest));
}

/**
 * A value, which leads to its row if a view has one.
 * @param {Context} context
 * @param {ViewKind | null} view
 * @param {string} text
 */
function valueOf(context, view, text) {
  const data = view && context.payload.views[view];
  return data && rowNamed(data, text) > 0 ? nameLink(context, view, text) : nameOf(text);
}

/**
 * @param {string} heading
 * @param {...HTMLElement} content
 */
function section(heading, ...content) {
  return h("section", { class: "details-section" }, h("h3", null, heading), content);
}

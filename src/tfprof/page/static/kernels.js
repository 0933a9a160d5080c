// The view of kernels: a table, and the details of the selected kernel.

import { h } from "./dom.js";
import { KERNELS } from "./kernel_columns.js";
import { kernelDetails } from "./kernel_details.js";
import { shownKernels, sortOf } from "./kernel_rows.js";
import { countedMatches, nextMatch } from "./search_rows.js";
import { matchingRows } from "./search_text.js";
import { Table } from "./table.js";
import { fitted } from "./workbench.js";

/** @typedef {import("./types.d.ts").Changed} Changed */
/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").KernelData} KernelData */
/** @typedef {import("./kernel_columns.js").KernelAnswer} KernelAnswer */

/**
 * @param {Context} context
 * @returns {import("./types.d.ts").Component}
 */
export function mountKernels(context) {
  const view = new KernelsView(context, /** @type {KernelData} */ (context.payload.kernels));
  return {
    element: view.element,
    update: (changed) => view.update(changed),
    finder: { find: () => view.found(), go: (step) => view.go(step) },
  };
}

class KernelsView {
  /**
   * @param {Context} context
   * @param {KernelData} kernels
   */
  constructor(context, kernels) {
    this.context = context;
    this.kernels = kernels;
    this.rows = new Map(Array.from(kernels.name.starts, (_, row) => [kernels.name.get(row), row]));
    this.answer = this.answered();
    this.table = new Table(this.bench(), KERNELS);
    this.details = h("aside", { class: "details", "aria-label": "Details of the selected kernel" });
    const main = h("div", { class: "workbench-main" }, this.table.element);
    this.element = h("div", { class: "workbench kernels" }, main, this.details);
    this.fit = fitted(this.element);
  }

  /** What the table needs: the selected kernel as a row, and the order as an option. */
  bench() {
    const view = this;
    const { store } = this.context;
    return {
      kind: /** @type {const} */ ("kernels"),
      select: (/** @type {number} */ row) => this.select(row),
      zoom: { row: 0, to: () => undefined },
      order: () => sortOf(store.state),
      store: {
        get state() {
          const { search, sort_by: key } = store.state;
          return { row: view.row(), search, options: { order_by: key } };
        },
        set: (/** @type {{ options?: Record<string, string> }} */ { options }) =>
          store.set({ sort_by: options?.["order_by"] ?? "" }),
      },
    };
  }

  /** The selected row, -1 if there is none. */
  row() {
    return this.rows.get(this.context.store.state.kernel) ?? -1;
  }

  /** @param {number} row */
  select(row) {
    this.context.store.set({ kernel: this.kernels.name.get(row) });
  }

  /**
   * The kernels that are shown: a flat list below that of all kernels.
   * @returns {KernelAnswer}
   */
  answered() {
    const { kernels, context: { payload, store } } = this;
    const { name, whole, numbers: { total } } = kernels;
    const { row } = shownKernels(payload, kernels, store.state);
    const placeOf = new Int32Array(name.length).fill(-1);
    row.forEach((one, place) => void (placeOf[one] = place));
    const below = (/** @type {number} */ length) =>
      Int32Array.from({ length }, (_, place) => (place === 0 ? length : place + 1));
    const data = {
      kind: "kernels", nested: false, sentence: "", end: below(name.length), name, whole,
    };
    return {
      kernels,
      rows: { data, row, end: below(row.length), depth: row.map((_, place) => (place ? 2 : 1)) },
      metric: { label: "time" },
      total,
      parent: row.map((_, place) => (place ? 0 : -1)),
      placeOf,
      whole: total[0],
    };
  }

  /** @param {Changed} changed */
  update(changed) {
    this.fit();
    if (changed.has("view") || changed.has("options") || changed.has("sort_by")) {
      this.answer = this.answered();
      this.table.show(this.answer);
    } else if (changed.has("kernel")) this.table.select();
    if (changed.has("search")) this.table.mark();
    if (changed.has("view") || changed.has("kernel")) {
      this.details.replaceChildren(...kernelDetails(this.context, this.kernels, this.row()));
      this.details.scrollTop = 0;
    }
  }

  found() {
    const { rows, placeOf } = this.answer;
    const { search } = this.context.store.state;
    const place = placeOf[this.row()] ?? -1;
    const found = countedMatches(rows, search, place);
    return { ...found, unit: "kernels", where: "", merged: this.kernels.left_out.kernels };
  }

  /** @param {number} step */
  go(step) {
    const { rows, placeOf } = this.answer;
    const flags = matchingRows(rows.data, this.context.store.state.search);
    const next = flags ? nextMatch(rows, flags, placeOf[this.row()] ?? -1, step) : -1;
    if (next >= 0) this.select(next);
  }
}

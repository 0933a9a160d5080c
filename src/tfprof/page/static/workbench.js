// A view of rows: picture, table and details, which share the selection.

import { mountDetails } from "./details.js";
import { h } from "./dom.js";
import { mountIcicle } from "./icicle.js";
import { orderOf, questionOf } from "./question.js";
import { mountTable } from "./table.js";
import { parents } from "./tree.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").Changed} Changed */
/** @typedef {import("./types.d.ts").Metric} Metric */
/** @typedef {import("./types.d.ts").Rows} Rows */
/** @typedef {import("./types.d.ts").ViewKind} ViewKind */

/**
 * What the panels of a view show. Places are positions among the shown rows.
 * @typedef {{
 *   rows: Rows,
 *   metric: Metric,
 *   total: import("./types.d.ts").Numbers,
 *   own: import("./types.d.ts").Numbers,
 *   parent: Int32Array,
 *   placeOf: Int32Array,
 *   whole: number,
 * }} Answer
 */

/**
 * A panel: `show` gets a new answer, `select` is called when another row is selected, and `mark`
 * when something else is searched for.
 * @typedef {{
 *   element: HTMLElement,
 *   show: (answer: Answer) => void,
 *   select: () => void,
 *   mark?: () => void,
 * }} Panel
 */

/**
 * What the panels share besides the answer.
 * @typedef {Context & {
 *   kind: ViewKind,
 *   select: (row: number) => void,
 *   zoom: { row: number, to: (row: number) => void },
 *   order: () => string,
 * }} Bench
 */

/**
 * @param {Context} context
 * @param {(bench: Bench) => Panel} mountPicture
 * @param {ViewKind} kind
 * @returns {import("./types.d.ts").Component}
 */
export function mountWorkbench(
  context,
  mountPicture = mountIcicle,
  kind = /** @type {ViewKind} */ (context.store.state.view),
) {
  const { payload, store, provider } = context;
  const bench = { ...context, kind, select, zoom: { row: 0, to: zoomTo }, order };
  const picture = mountPicture(bench);
  const table = mountTable(bench);
  const panels = [picture, table, mountDetails(bench)];
  const main = h("div", { class: "workbench-main" }, picture.element, table.element);
  const element = h("div", { class: "workbench" }, main, panels[2].element);
  let asked = 0;
  /** @type {Answer | null} */
  let shown = null;
  const fit = fitted(element);

  /** @param {number} row */
  function select(row) {
    store.set({ row, op: row < 0 ? -1 : store.rows.of(kind)?.op[row] });
  }

  /** @param {number} row */
  function zoomTo(row) {
    bench.zoom.row = row;
    picture.select();
  }

  /** The key that siblings are sorted by. */
  function order() {
    return orderOf(payload, kind, store.state);
  }

  async function ask() {
    const number = (asked += 1);
    const rows = await provider.ask(kind, questionOf(payload, kind, store.state));
    const metric = payload.metrics.find(({ key }) => key === store.state.metric);
    // Only the latest answer is shown; another view may be visible by now.
    if (number !== asked || !metric || store.state.view !== kind) return;
    const answer = answered(rows, metric);
    const row = store.rows.follow(rows.data, store.state.row);
    if (row !== store.state.row) select(row); // `my_code` and others change the rows themselves
    if (answer.placeOf[bench.zoom.row] === undefined || answer.placeOf[bench.zoom.row] < 0) {
      bench.zoom.row = 0;
    }
    shown = answer;
    for (const panel of panels) panel.show(answer);
  }

  /** @param {Changed} changed */
  function update(changed) {
    fit();
    if (changed.has("view") || changed.has("metric") || changed.has("options")) void ask();
    else if (changed.has("row")) {
      if (shown) bench.zoom.row = rootAround(shown, bench.zoom.row, store.state.row);
      for (const panel of panels) panel.select();
    }
    if (changed.has("search")) for (const panel of panels) panel.mark?.();
  }

  return { element, update, renews: true };
}

/**
 * Let a workbench take the height that is left below the head of the page. The function that is
 * returned measures it again.
 * @param {HTMLElement} element
 */
export function fitted(element) {
  function fit() {
    const above = `${Math.round(element.getBoundingClientRect().top + scrollY)}px`;
    // Only a change is written, because it changes the size, which calls this function again.
    if (element.isConnected && above !== element.style.getPropertyValue("--above")) {
      element.style.setProperty("--above", above);
    }
  }

  new ResizeObserver(fit).observe(element);
  return fit;
}

/**
 * @param {Rows} rows
 * @param {Metric} metric
 * @returns {Answer}
 */
function answered(rows, metric) {
  const total = rows.total(metric.column);
  const placeOf = new Int32Array(rows.data.end.length).fill(-1);
  for (let place = 0; place < rows.row.length; place += 1) placeOf[rows.row[place]] = place;
  return {
    rows,
    metric,
    total,
    own: rows.own(metric.column),
    parent: parents(rows.end),
    placeOf,
    whole: total[0],
  };
}

/**
 * The zoomed row, or the nearest one above it that contains another row.
 * @param {Answer} answer
 * @param {number} zoomed
 * @param {number} row
 */
function rootAround({ rows, parent, placeOf }, zoomed, row) {
  const place = placeOf[row] ?? -1;
  if (place < 0) return zoomed;
  let root = placeOf[zoomed];
  while (root > 0 && (place < root || place >= rows.end[root])) root = parent[root];
  return rows.row[Math.max(0, root)];
}

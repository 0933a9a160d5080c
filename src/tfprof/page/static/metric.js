// The menu that chooses the metric of the whole page.

import { h } from "./dom.js";

/** @typedef {import("./types.d.ts").Context} Context */

/**
 * A menu of all metrics.
 * @param {Context["payload"]} payload
 * @param {Context["store"]} store
 */
export function metricMenu(payload, store) {
  const choices = payload.metrics.map(({ key, label }) => h("option", { value: key }, label));
  const menu = h("select", { "aria-label": "Metric of all views" }, choices);
  const select = /** @type {HTMLSelectElement} */ (menu);
  select.addEventListener("change", () => store.set({ metric: select.value }));
  return select;
}

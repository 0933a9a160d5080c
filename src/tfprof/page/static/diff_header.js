// The head of a diff page: both names, the views, the number of the whole page and the theme.

import { fill, h, nameOf } from "./dom.js";
import { headerFrame, viewTab } from "./header_frame.js";
import { SHORTCUTS } from "./keys.js";

/** @typedef {import("./diff_types.d.ts").DiffContext} DiffContext */

/** The views in the order of their tabs; the digit is the shortcut. */
export const VIEWS = [
  { key: "layers", title: "Layers" },
  { key: "scope", title: "Scope" },
  { key: "graph", title: "Graph" },
  { key: "code", title: "Code" },
  { key: "op", title: "Op" },
];

/**
 * @param {DiffContext} context
 * @param {() => void} help shows the help
 * @returns {import("./diff_types.d.ts").DiffPart}
 */
export function mountHeader({ payload, store }, help) {
  const choices = payload.metrics.map(({ key, label }) => h("option", { value: key }, label));
  const menu = /** @type {HTMLSelectElement} */ (
    h("select", { "aria-label": "Number of the whole page" }, choices)
  );
  menu.addEventListener("change", () => store.set({ metric: menu.value }));
  return headerFrame(store, {
    mark: "tfprof diff",
    title: title(payload),
    facts: facts(payload),
    tools: [],
    tabs: VIEWS.map((view, place) =>
      viewTab(store, view, SHORTCUTS[place], payload.missing[view.key])),
    label: "Number",
    menu,
    others: [],
    help,
  });
}

/** @param {DiffContext["payload"]} payload */
function title({ sides }) {
  const [base, new_] = sides.map(({ name }) => nameOf(name));
  const element = h("span", null);
  fill(element, base, " → ", new_);
  return element;
}

/** @param {DiffContext["payload"]} payload */
function facts({ sides }) {
  const [base, other] = sides.map(({ facts: found }) => found);
  const both = (/** @type {string} */ fact, /** @type {number} */ place) =>
    (fact === other[place] ? fact : `${fact} → ${other[place] ?? "–"}`);
  return base.map(both).join(" · ");
}

// The graph view: the drawn graph above the rows of the view.

import { h } from "./dom.js";
import { mountGraph } from "./graph.js";
import { mountWorkbench } from "./workbench.js";

/** @typedef {import("./types.d.ts").Context} Context */

/**
 * @param {Context} context
 * @returns {import("./types.d.ts").Component}
 */
export function mountGraphView(context) {
  const rows = mountWorkbench(context);
  if (!context.payload.graph) return rows;
  const graph = mountGraph(context);
  return {
    element: h("div", null, graph.element, rows.element),
    update: (changed) => {
      graph.update(changed);
      rows.update(changed);
    },
  };
}

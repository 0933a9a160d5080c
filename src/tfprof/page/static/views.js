// The views of the page: one row each, in the order of the tabs.

import { mountAdvice } from "./advice.js";
import { mountGraphView } from "./graph_view.js";
import { mountKernels } from "./kernels.js";
import { mountMemory } from "./memory.js";
import { mountOverview } from "./overview.js";
import { mountTimeline } from "./timeline.js";
import { mountWorkbench } from "./workbench.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").Component} Component */

/** @type {{ key: string, title: string, mount: (context: Context) => Component }[]} */
export const VIEWS = [
  { key: "overview", title: "Overview", mount: mountOverview },
  { key: "layers", title: "Layers", mount: mountWorkbench },
  { key: "scope", title: "Scope", mount: mountWorkbench },
  { key: "graph", title: "Graph", mount: mountGraphView },
  { key: "code", title: "Code", mount: mountWorkbench },
  { key: "op", title: "Op", mount: mountWorkbench },
  { key: "timeline", title: "Timeline", mount: mountTimeline },
  { key: "memory", title: "Memory", mount: mountMemory },
  { key: "advice", title: "Advice", mount: mountAdvice },
  { key: "kernels", title: "Kernels", mount: mountKernels },
];

/**
 * The views that a page has: most programs have no kernels, and do not miss them.
 * @param {Pick<import("./types.d.ts").Payload, "kernels">} payload
 */
export function viewsOf({ kernels }) {
  return VIEWS.filter(({ key }) => key !== "kernels" || kernels !== null);
}

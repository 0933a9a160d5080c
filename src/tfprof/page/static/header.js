// The head of the page: title, facts, tabs, the metric of the whole page and the theme.

import { nameOf } from "./dom.js";
import { headerFrame, viewTab } from "./header_frame.js";
import { SHORTCUTS } from "./keys.js";
import { metricMenu } from "./metric.js";
import { viewsOf } from "./views.js";

/** @typedef {import("./types.d.ts").Context} Context */

/**
 * @param {Context} context
 * @param {HTMLElement} search the search field
 * @param {() => void} help shows the help
 * @param {HTMLElement[]} others shown beside the metric
 * @returns {import("./types.d.ts").Component}
 */
export function mountHeader({ payload, store }, search, help, others) {
  const counts = /** @type {Record<string, number>} */ ({ advice: payload.advice.findings.length });
  return headerFrame(store, {
    mark: "tfprof",
    title: nameOf(payload.title),
    facts: payload.facts.join(" · "),
    tools: [search],
    tabs: viewsOf(payload).map((view, place) =>
      viewTab(store, view, SHORTCUTS[place], payload.missing[view.key], counts[view.key])),
    label: "Metric",
    menu: metricMenu(payload, store),
    others,
    help,
  });
}

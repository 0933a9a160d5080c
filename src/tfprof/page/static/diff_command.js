// The command that prints the changes which a diff page shows.

import { fill, h } from "./dom.js";
import { commandLine } from "./links.js";
import { depths } from "./tree.js";

/** @typedef {import("./diff_types.d.ts").DiffContext} DiffContext */

/** What the command line shows without `max_depth`. */
const DEFAULT_DEPTH = 10;

/**
 * The line at the bottom of the page; a page of unknown files has none.
 * @param {DiffContext} context
 * @returns {import("./diff_types.d.ts").DiffPart}
 */
export function mountCommand(context) {
  const element = h("div", { class: "command-bar", role: "region", "aria-label": "Command" });
  const update = () => {
    element.hidden = context.payload.words === "";
    fill(element, commandLine(commandOf(context)));
  };
  return { element, update };
}

/** @param {DiffContext} context */
function commandOf({ payload, store }) {
  const { view, metric: key, options } = store.state;
  const metric = payload.metrics.find((one) => one.key === key);
  const depth = deepest(store.rows.of(view));
  return [
    `tfprof diff ${payload.words} -view ${view}`,
    metric && `-select ${metric.select}`,
    depth > DEFAULT_DEPTH && `-max_depth ${depth}`,
    options["order_by"] === "name" && "-order_by name",
    options["unchanged"] === "true" && "-unchanged",
  ].filter(Boolean).join(" ");
}

/**
 * The least `max_depth` that shows all rows.
 * @param {import("./diff_types.d.ts").DiffViewData | undefined} data
 */
function deepest(data) {
  if (!data) return 0;
  if (!data.nested) return data.end.length - 2;
  return depths(data.end).reduce((one, other) => Math.max(one, other), 0);
}

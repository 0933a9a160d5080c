// What can be done with a row: restrict the view to it, leave it out, or see it in other views.

import { h } from "./dom.js";
import { regexOf, withRegex } from "./name_regex.js";

/** @typedef {import("./workbench.js").Bench} Bench */
/** @typedef {import("./types.d.ts").ViewData} ViewData */

/** The options that actions set, and what they do. */
const FILTERS = [
  {
    label: "Show only from here",
    option: "start_name_regexes",
    title: "Start the view at this row",
    adds: false,
  },
  { label: "Hide", option: "hide_name_regexes", title: "Hide this row; totals stay", adds: true },
  { label: "Trim", option: "trim_name_regexes", title: "Drop the rows below this one", adds: true },
];

/** The views that may show the same op. */
const PLACES = ["layers", "scope", "graph", "code", "op", "timeline"];

/**
 * @param {Bench} bench
 * @param {ViewData} data
 * @param {number} row
 */
export function actions(bench, data, row) {
  const { store, provider } = bench;
  // A row that stands for several rows has no name that an option could refer to.
  if (data.merged?.at.includes(row)) return [];
  const regex = regexOf(data.name.get(row));
  const filters = FILTERS.filter(({ option }) => provider.supports(option)).map(
    ({ label, option, title, adds }) =>
      h(
        "button",
        {
          class: "quiet-button",
          type: "button",
          title: `${title} (${option})`,
          onclick: () => {
            const { options } = store.state;
            const value = adds ? withRegex(options[option], regex) : regex;
            store.set({ options: { ...options, [option]: value } });
          },
        },
        label,
      ),
  );
  return [
    filters.length > 0 && h("div", { class: "details-actions" }, filters),
    elsewhere(bench, data.op[row]),
  ];
}

/**
 * Links to the op in other views.
 * @param {Bench} bench
 * @param {number} op
 */
function elsewhere({ payload, store, kind }, op) {
  const places = PLACES.filter((view) => view !== kind && isThere(payload, view));
  if (op < 0 || places.length === 0) return null;
  return h(
    "div",
    { class: "details-actions" },
    h("span", { class: "quiet" }, "Show in"),
    places.map((view) =>
      h("button", { class: "link", type: "button", onclick: () => store.set({ view, op }) }, view),
    ),
  );
}

/**
 * @param {Bench["payload"]} payload
 * @param {string} view
 */
function isThere(payload, view) {
  if (payload.missing[view]) return false;
  return view === "timeline" ? Boolean(payload.timeline) : view in payload.views;
}

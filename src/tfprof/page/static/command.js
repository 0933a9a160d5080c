// The command that prints the rows which the page shows, and the line that offers it.

import { fill, h } from "./dom.js";
import { commandLine } from "./links.js";
import { shownKernels, sortOf } from "./kernel_rows.js";
import { kindOf, questionOf, showsKernels } from "./question.js";
import { depths } from "./tree.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").Rows} Rows */
/** @typedef {import("./types.d.ts").ViewData} ViewData */

/** What the command line shows without `max_depth`. */
const DEFAULT_DEPTH = "10";

/** Words that no shell changes. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/**
 * A word of a command, quoted for a shell if needed.
 * @param {string} word
 */
export function quoted(word) {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\"'\"'")}'`;
}

/**
 * The command that prints the same rows and numbers.
 * @param {Payload} payload
 * @param {ViewData} data
 * @param {string} metric
 * @param {Record<string, string>} options
 */
export function commandOf(payload, data, metric, options) {
  const shown = [metric, ...data.columns.map(({ key }) => key)].filter((key) => key !== "");
  const { max_depth: depth = String(deepest(data)), order_by: order = "auto", ...others } = options;
  const given = [
    ["select", shown.length > 0 ? [...new Set(shown)].join(",") : "auto", "auto"],
    ["order_by", order, "auto"],
    ["max_depth", depth, DEFAULT_DEPTH],
    ...Object.entries(others),
  ];
  const named = given.filter(([, value, unset]) => value !== unset)
    .map(([name, value]) => `-${name} ${quoted(value)}`);
  return ["tfprof", data.kind, payload.words, ...named].filter((word) => word !== "").join(" ");
}

/**
 * The command that prints the same kernels.
 * @param {Payload} payload
 * @param {string} sortBy
 * @param {Record<string, string>} options
 */
export function kernelsCommand({ words }, sortBy, options) {
  const sorting = sortBy === "total" ? {} : { sort_by: sortBy };
  const named = Object.entries({ ...options, ...sorting, max_rows: "-1" })
    .map(([name, value]) => `-${name} ${quoted(value)}`);
  return ["tfprof kernels", words, ...named].join(" ");
}

/**
 * The least `max_depth` that shows all rows, at least the default.
 * @param {ViewData} data
 */
function deepest(data) {
  const last = data.nested
    ? depths(data.end).reduce((one, other) => Math.max(one, other), 0)
    : data.end.length - 2;
  return Math.max(Number(DEFAULT_DEPTH), last);
}

/**
 * The line at the bottom of the page; views that are not tables of rows have their own commands.
 * A page of unknown files has none.
 * @param {Context} context
 * @returns {import("./types.d.ts").Component}
 */
export function mountCommand({ payload, store, provider }) {
  const element = h("div", { class: "command-bar", role: "region", "aria-label": "Command" });
  let asked = 0;

  async function show() {
    const number = (asked += 1);
    const kind = payload.words === "" ? null : kindOf(payload, store.state);
    const kernels = payload.words !== "" && showsKernels(payload, store.state) && payload.kernels;
    element.hidden = kind === null && !kernels;
    if (kernels) {
      const { asked: options } = shownKernels(payload, kernels, store.state);
      fill(element, commandLine(kernelsCommand(payload, sortOf(store.state), options)));
    }
    if (kind === null) return;
    const rows = await provider.ask(kind, questionOf(payload, kind, store.state));
    if (number !== asked) return;
    fill(element, commandLine(commandOf(payload, rows.data, store.state.metric, rows.asked ?? {})));
  }

  return { element, update: () => void show() };
}

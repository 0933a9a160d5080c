// Names and commands that lead on: to a row of another view, or to a terminal.

import { copyButton } from "./clipboard.js";
import { h, nameOf } from "./dom.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").ViewData} ViewData */
/** @typedef {import("./types.d.ts").ViewKind} ViewKind */

/** @type {WeakMap<ViewData, Map<string, number>>} */
const known = new WeakMap();

/**
 * The first row of a view with that name, -1 if there is none.
 * @param {ViewData} data
 * @param {string} name
 */
export function rowNamed(data, name) {
  const rows = known.get(data) ?? new Map();
  if (!known.has(data)) {
    for (let row = data.name.length - 1; row >= 0; row -= 1) rows.set(data.name.get(row), row);
    known.set(data, rows);
  }
  return rows.get(name) ?? -1;
}

/**
 * A name that selects its row in a view, or just the name if the page has no such view.
 * @param {Pick<Context, "payload" | "store">} context
 * @param {ViewKind | null} view
 * @param {string} name
 * @param {string} [label] what to show instead of the whole name
 */
export function nameLink({ payload, store }, view, name, label = name) {
  const data = view ? payload.views[view] : null;
  if (!data) return nameOf(label, { title: name });
  const title = `${name}\nShow in the ${data.kind} view`;
  const onclick = () => openRow(store, data, name);
  return h("button", { class: "link", type: "button", title, onclick }, nameOf(label));
}

/**
 * @param {Context["store"]} store
 * @param {ViewData} data
 * @param {string} name
 */
function openRow(store, data, name) {
  const row = rowNamed(data, name);
  // A row that was merged with others can only be searched for.
  if (row < 0) store.set({ view: data.kind, search: name });
  else store.set({ view: data.kind, row, op: data.op[row] });
}

/**
 * A command with a button that copies it.
 * @param {string} command
 */
export function commandLine(command) {
  const words = command.split(" ").flatMap((word) => [" ", h("span", null, word)]).slice(1);
  const code = h("code", { class: "command-text", tabindex: 0 }, words);
  return h("div", { class: "command" }, code, copyButton(command, code, "Copy the command"));
}

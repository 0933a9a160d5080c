// The head of a table: groups of columns, and headings that sort.

import { h } from "./dom.js";

/** @typedef {import("./types.d.ts").State} State */

/**
 * What the headings need from the page: the view, the key that siblings are sorted by, and the
 * options, which choose it.
 * @typedef {{
 *   kind: string,
 *   order: () => string,
 *   store: {
 *     readonly state: Readonly<Pick<State, "options">>,
 *     set: (part: Partial<State>) => void,
 *   },
 * }} Sorting
 */

/** @typedef {import("./table_columns.js").TableColumn} TableColumn */

/**
 * @param {Sorting} bench
 * @param {TableColumn[]} columns
 * @param {boolean} isGrouped
 */
export function heading(bench, columns, isGrouped) {
  const text = nameHeading(bench.kind);
  const name = { key: "name", metric: "", heading: text, class: "table-name", meaning: "" };
  return [
    isGrouped
    && h("div", { class: "table-row table-groups", "aria-hidden": "true" }, groups(columns)),
    h(
      "div",
      { class: "table-row table-headings", role: "row", "aria-rowindex": 1 },
      [name, ...columns].map((column) => headingCell(bench, column)),
    ),
  ];
}

/** @param {string} kind */
function nameHeading(kind) {
  const names = { layers: "layer", scope: "scope", code: "line", op: "kind", kernels: "kernel" };
  return names[/** @type {keyof typeof names} */ (kind)] ?? "op";
}

/**
 * One cell for each group of columns, as wide as its columns.
 * @param {TableColumn[]} columns
 */
function groups(columns) {
  const found = [h("span", { class: "table-name" })];
  for (let start = 0; start < columns.length;) {
    const { group } = columns[start];
    let end = start + 1;
    while (group !== "" && end < columns.length && columns[end].group === group) end += 1;
    const cell = h("span", { class: group ? "table-group" : "" }, group);
    cell.style.gridColumn = `span ${end - start}`;
    found.push(cell);
    start = end;
  }
  return found;
}

/**
 * @param {Sorting} bench
 * @param {Pick<TableColumn, "key" | "metric" | "heading" | "class" | "meaning">} column
 */
function headingCell(bench, { key, metric, heading: text, class: style, meaning }) {
  const isChosen = key !== "" && bench.order() === key;
  const arrow = key === "name" ? "▴" : "▾";
  const attributes = {
    class: `${style} table-heading`,
    role: "columnheader",
    title: meaning,
    "data-column": metric || null,
    "aria-sort": isChosen ? (key === "name" ? "ascending" : "descending") : null,
  };
  if (key === "") return h("span", attributes, text);
  return h(
    "span",
    attributes,
    h(
      "button",
      {
        class: "table-sort",
        type: "button",
        title: isChosen ? "Show in the original order" : `Sort by ${text}`,
        onclick: () => sortBy(bench, key),
      },
      text,
      isChosen && h("span", { class: "table-arrow", "aria-hidden": "true" }, arrow),
    ),
  );
}

/**
 * Sort siblings by a key; the same key again restores the default.
 * @param {Sorting} bench
 * @param {string} key
 */
function sortBy({ store }, key) {
  const { order_by: known, ...others } = store.state.options;
  store.set({ options: known === key ? others : { ...others, order_by: key } });
}

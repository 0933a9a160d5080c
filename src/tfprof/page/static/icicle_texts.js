// The texts around an icicle: the path to the zoomed row, the legend, and a line about a row.

import { amount, h, nameOf } from "./dom.js";
import { fullName, shortName } from "./row_names.js";
import { exact, formatted, percent } from "./units.js";

/** @typedef {import("./workbench.js").Answer} Answer */
/** @typedef {import("./workbench.js").Bench} Bench */

/** The most rows of a path; rows between the first and the last ones are left out. */
const MOST_ROWS = 6;

/**
 * The rows from the root to the zoomed row; each zooms to itself.
 * @param {Pick<Bench, "zoom">} bench
 * @param {import("./icicle_layout.js").ShownTree} answer
 * @param {number} root
 */
export function path(bench, { rows, parent }, root) {
  const places = [];
  for (let place = root; place >= 0; place = parent[place]) places.unshift(place);
  const shown = places.length <= MOST_ROWS
    ? places
    : [places[0], -1, ...places.slice(places.length - MOST_ROWS + 2)];
  const names = shown.map((place) => {
    if (place < 0) return h("span", { class: "quiet" }, "…");
    const row = rows.row[place];
    const name = shortName(rows.data, row, parent[place] < 0 ? -1 : rows.row[parent[place]]);
    if (place === root) return h("strong", { title: fullName(rows.data, row) }, nameOf(name));
    return h(
      "button",
      {
        class: "link",
        type: "button",
        title: `Zoom out to ${fullName(rows.data, row)}`,
        onclick: () => bench.zoom.to(row),
      },
      nameOf(name),
    );
  });
  return names.flatMap((name, place) => (place === 0
    ? [name]
    : [h("span", { class: "quiet", "aria-hidden": "true" }, "›"), name]));
}

/**
 * What the rows of a view are. In a flat list, the rest of the sentence is about text tables.
 * @param {import("./types.d.ts").RowTexts} data
 */
export function sentenceOf({ sentence, nested }) {
  return nested ? sentence : sentence.replace(/:.*/, ".");
}

/** @param {import("./icicle_colours.js").Colours} colours */
export function legend({ legend: entries }) {
  return entries.map(({ colour, label }) => {
    const swatch = h("span", { class: "swatch" });
    swatch.style.backgroundColor = `var(--icicle${colour.slice(1)})`;
    return h("li", null, swatch, nameOf(label));
  });
}

/**
 * @param {Answer} answer
 * @param {number} place
 * @param {string} category
 */
export function describe({ rows, metric, total, own, whole }, place, category) {
  const row = rows.row[place];
  const { unit } = metric;
  const numbers = [];
  if (rows.data.nested) numbers.push("total ", number(total[row], unit), " · ");
  if (rows.data.accounted[row] || !rows.data.nested) {
    numbers.push("own ", number(own[row], unit), " · ");
  }
  return [
    nameOf(fullName(rows.data, row), { class: "name icicle-name" }),
    h("span", { class: "icicle-numbers" }, numbers, percent(total[row], whole)),
    category !== "" && h("span", { class: "quiet" }, nameOf(category)),
  ];
}

/**
 * @param {number} value
 * @param {import("./types.d.ts").Unit} unit
 */
function number(value, unit) {
  return amount(formatted(value, unit), value, { title: exact(value, unit) });
}

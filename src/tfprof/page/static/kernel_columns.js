// The columns of the table of kernels, and the line below it.

import { amount, h, nameOf } from "./dom.js";
import { nameParts } from "./kernel_names.js";
import { bar, numberText } from "./table_columns.js";
import { formatted, percent } from "./units.js";

/** @typedef {import("./table_columns.js").TableColumn} TableColumn */
/** @typedef {import("./types.d.ts").KernelData} KernelData */
/** @typedef {import("./types.d.ts").KernelFact} KernelFact */
/** @typedef {import("./types.d.ts").KernelFactName} KernelFactName */
/** @typedef {import("./types.d.ts").Numbers} Numbers */

/** @typedef {import("./icicle_layout.js").ShownTree & { kernels: KernelData }} KernelAnswer */

/** What the occupancy is a part of. */
const WHOLE = 1e6;

/** @type {import("./table.js").TableFace<KernelAnswer>} */
export const KERNELS = {
  columns: columnsOf,
  name: ({ rows, kernels }, place, search) =>
    [nameParts(kernels.name, rows.row[place], search)],
  title: ({ rows, kernels }, place) => kernels.whole.get(rows.row[place]),
  foot: footOf,
  size: ({ rows }) => rows.row.length,
  first: () => -1,
};

/**
 * @param {KernelAnswer} answer
 * @returns {TableColumn[]}
 */
function columnsOf({ kernels, rows, whole }) {
  const { launches, total, mean, min, max } = kernels.numbers;
  const at = (/** @type {number} */ place) => rows.row[place];
  const time = (/** @type {Numbers} */ nanos) => (/** @type {number} */ place) =>
    numberText(nanos[at(place)], "nanos");
  const fact = (
    /** @type {KernelFactName} */ key,
    /** @type {string} */ heading,
    /** @type {string} */ width,
    /** @type {string} */ meaning,
    style = "table-number",
  ) => ({
    ...column("", heading, width, meaning, (place) =>
      factCell(valuesOf(kernels.facts[key], at(place)))),
    class: style,
    isKnown: kernels.facts[key].values.length > 0,
  });
  const found = [
    column("launches", "launches", "86px", "How often it ran.", (place) =>
      numberText(launches[at(place)], "count")),
    column("total", "total", "132px", "Sum over all launches.", (place) =>
      bar(total[at(place)], whole, "nanos")),
    column("", "share", "76px", "Share of the time of all kernels.", (place) =>
      percent(total[at(place)], whole)),
    column("mean", "mean", "86px", "Mean of a launch.", time(mean)),
    column("min", "min", "86px", "The shortest launch.", time(min)),
    column("max", "max", "86px", "The longest launch.", time(max)),
    {
      ...column("occupancy", "occupancy", "92px",
        "Achieved occupancy as the profiler estimates it, weighted by time.", (place) =>
          occupancyText(kernels, at(place))),
      isKnown: kernels.occupancy.some((value) => value >= 0),
    },
    fact("registers", "registers", "82px", "Registers per thread."),
    fact("shared_memory", "shared", "104px", "Shared memory per block."),
    fact("grids", "grid", "128px", "Blocks in each dimension."),
    fact("blocks", "block", "108px", "Threads of a block in each dimension."),
    fact("streams", "stream", "138px", "Where it ran.", "table-text"),
    fact("ops", "op", "168px", "The kind of the op that launched it.", "table-text"),
    fact("modules", "module", "240px", "The layer of that op.", "table-text"),
  ];
  return found.filter((one) => !("isKnown" in one) || one.isKnown);
}

/**
 * @param {string} key
 * @param {string} heading
 * @param {string} width
 * @param {string} meaning
 * @param {TableColumn["cell"]} cell
 * @returns {TableColumn}
 */
function column(key, heading, width, meaning, cell) {
  const style = key === "total" ? "table-total" : "table-number";
  return { key, metric: key, heading, group: "", meaning, class: style, width, cell };
}

/**
 * The occupancy of a kernel, empty if it is unknown.
 * @param {KernelData} kernels
 * @param {number} row
 */
export function occupancyText({ occupancy }, row) {
  const value = occupancy[row];
  return value < 0 ? "" : amount(percent(value, WHOLE), value / WHOLE);
}

/** @type {WeakMap<KernelFact, Uint32Array>} */
const starts = new WeakMap();

/**
 * The values of a kernel, the one with the most time first, and how many are not listed.
 * @param {KernelFact} fact
 * @param {number} row
 */
export function valuesOf(fact, row) {
  const { lengths, codes, values, left } = fact;
  let places = starts.get(fact);
  if (!places) {
    let next = 0;
    places = Uint32Array.from(lengths, (length) => (next += length) - length);
    starts.set(fact, places);
  }
  const found = codes.subarray(places[row], places[row] + lengths[row]);
  return { texts: Array.from(found, (code) => values.get(code)), left: left[row] };
}

/**
 * The first value, and how many more there are.
 * @param {ReturnType<typeof valuesOf>} values
 */
function factCell({ texts, left }) {
  if (texts.length === 0) return "";
  const others = texts.length - 1 + left;
  const more = left > 0 ? `\n… ${left.toLocaleString("en-US")} more` : "";
  return h(
    "span",
    { title: `${texts.join("\n")}${more}` },
    nameOf(texts[0]),
    others > 0 && h("span", { class: "quiet" }, ` +${others.toLocaleString("en-US")}`),
  );
}

/**
 * How many kernels are shown, and what the others have.
 * @param {KernelAnswer} answer
 */
function footOf({ kernels, rows, whole }) {
  const { total } = kernels.numbers;
  const { kernels: left, nanos } = kernels.left_out;
  const shown = rows.row.length - 1;
  const listed = kernels.name.length - 1;
  /** @type {(HTMLElement | string)[]} */
  const line = [counted(shown)];
  if (shown < listed) line.push(" of ", counted(listed));
  line.push(listed === 1 ? " kernel" : " kernels");
  if (shown < listed) line.push(`, with ${percent(sum(rows.row, total), whole)} of the time`);
  if (left > 0) {
    const time = `${formatted(nanos, "nanos")}, ${percent(nanos, whole)} of the time`;
    line.push("; ", counted(left), ` that took less are left out, together ${time}`);
  }
  return line;
}

/**
 * @param {Int32Array} rows that of all kernels first
 * @param {Numbers} numbers
 */
function sum(rows, numbers) {
  return rows.subarray(1).reduce((before, row) => before + numbers[row], 0);
}

/** @param {number} count */
function counted(count) {
  return amount(count.toLocaleString("en-US"), count);
}

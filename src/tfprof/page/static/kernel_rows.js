// The kernels that options show, in their order.

import { listed, InvalidPattern, Patterns } from "./patterns.js";
import { compareTexts } from "./select.js";

/** @typedef {import("./types.d.ts").KernelData} KernelData */
/** @typedef {import("./types.d.ts").Numbers} Numbers */
/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").State} State */

/**
 * `row` has the rows that are shown, that of all kernels first; `asked` are the options that chose
 * them, without the one that `problem` is about.
 * @typedef {{
 *   row: Int32Array,
 *   asked: Record<string, string>,
 *   problem?: { option: string, message: string },
 * }} ShownKernels
 */

const DEFAULT_SORT = "total";
const OTHER_SORTS = ["name", "launches", "mean", "min", "max", "occupancy"];

/**
 * What kernels are sorted by.
 * @param {Pick<State, "sort_by">} state
 */
export function sortOf({ sort_by: key }) {
  return OTHER_SORTS.includes(key) ? key : DEFAULT_SORT;
}

/**
 * @param {Pick<Payload, "advice_on_regexes">} payload
 * @param {KernelData} kernels
 * @param {Pick<State, "options" | "sort_by">} state
 * @returns {ShownKernels}
 */
export function shownKernels({ advice_on_regexes: advice }, kernels, state) {
  const flags = new Uint8Array(kernels.name.length).fill(1);
  /** @type {ShownKernels} */
  const found = { row: new Int32Array(0), asked: {} };
  for (const [option, isShown] of /** @type {const} */ ([
    ["show_name_regexes", 1],
    ["hide_name_regexes", 0],
  ])) {
    const text = state.options[option];
    if (text === undefined) continue;
    try {
      const matches = matching(kernels, new Patterns(listed(text), advice));
      matches.forEach((isMatch, row) => void (flags[row] &= Number(isMatch === isShown)));
      found.asked[option] = text;
    } catch (error) {
      if (!(error instanceof InvalidPattern)) throw error;
      found.problem = { option, message: error.message };
    }
  }
  flags[0] = 0;
  const rows = Int32Array.from(flags.keys()).filter((row) => flags[row] === 1);
  found.row = Int32Array.of(0, ...rows.sort(orderBy(kernels, sortOf(state))));
  return found;
}

/**
 * Which kernels have a name that matches, as on the command line: the short or the whole one.
 * @param {KernelData} kernels
 * @param {Patterns} patterns
 */
function matching({ name, whole }, patterns) {
  const found = patterns.matchColumn(name);
  patterns.matchColumn(whole).forEach((isMatch, row) => void (found[row] |= isMatch));
  return found;
}

/**
 * The same order as on the command line: the largest number first, equal ones by name.
 * @param {KernelData} kernels
 * @param {string} key
 * @returns {(one: number, other: number) => number}
 */
function orderBy({ name, numbers, occupancy }, key) {
  const columns = /** @type {Record<string, Numbers>} */ ({ ...numbers, occupancy });
  const column = columns[key];
  return (one, other) =>
    (column ? column[other] - column[one] : 0) || compareTexts(name, one, other);
}

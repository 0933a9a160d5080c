// What the colours of an icicle mean: the share of a block, or what most of it is.

import { PHASE_COLOURS } from "./phases.js";
import { shareLevel } from "./shares.js";

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").Coded} Coded */
/** @typedef {import("./workbench.js").Answer} Answer */

/**
 * Colours of blocks: `of` is the name of the colour of a place, `label` what it stands for, and
 * `legend` lists all of them.
 * @typedef {{
 *   of: (place: number) => string,
 *   label: (place: number) => string,
 *   legend: { colour: string, label: string }[],
 * }} Colours
 */

/** The choices of the menu. */
export const COLOURINGS = [
  { key: "share", label: "share of the whole" },
  { key: "kind", label: "kind of op" },
  { key: "device", label: "device" },
  { key: "phase", label: "phase" },
];

const SHARES = ["up to 5 %", "over 5 %", "over 20 %", "over 60 %"];

/** The colours of the largest categories; all others share the last one. */
const CATEGORIES = 7;
const OTHERS = "--c7";
const NEUTRAL = "--share-0";

/**
 * @param {string} colouring
 * @param {Answer} answer
 * @param {Payload} payload
 * @returns {Colours}
 */
export function coloursOf(colouring, answer, payload) {
  if (colouring === "kind" || colouring === "device" || colouring === "phase") {
    return byCategory(answer, payload.ops[colouring], colouring === "phase");
  }
  return byShare(answer);
}

/**
 * @param {Answer} answer
 * @returns {Colours}
 */
function byShare({ rows, total, whole }) {
  return {
    // The root is always the whole, so its colour would say nothing.
    of: (place) => (place === 0 ? NEUTRAL : `--share-${shareLevel(total[rows.row[place]], whole)}`),
    label: () => "",
    legend: SHARES.map((label, level) => ({ colour: `--share-${level}`, label })).reverse(),
  };
}

/**
 * The category that most of each block belongs to, by the chosen metric.
 * @param {Answer} answer
 * @param {Coded} column
 * @param {boolean} isPhase
 * @returns {Colours}
 */
function byCategory(answer, column, isPhase) {
  const numbers = answer.rows.ofOps(answer.metric.column);
  const largest = largestCodes(column, numbers);
  const sums = sumsOf(answer, column, numbers, largest);
  const names = [...largest.map((code) => column.values.get(code) || "none"), "others"];
  const colours = names.map((name, place) => {
    if (place === largest.length) return OTHERS;
    return isPhase ? (PHASE_COLOURS[name] ?? OTHERS) : `--c${place}`;
  });

  /** @param {number} place */
  function category(place) {
    let best = -1;
    let most = 0;
    for (let one = 0; one < sums.length; one += 1) {
      const sum = sums[one][answer.rows.data.end[answer.rows.row[place]]]
        - sums[one][answer.rows.row[place]];
      if (sum > most) [best, most] = [one, sum];
    }
    return best;
  }

  const hasOthers = column.values.length > largest.length;
  return {
    of: (place) => colours[category(place)] ?? NEUTRAL,
    label: (place) => names[category(place)] ?? "",
    legend: names
      .map((label, place) => ({ colour: colours[place], label }))
      .slice(0, hasOthers ? undefined : -1),
  };
}

/**
 * The codes with the largest sums, in descending order.
 * @param {Coded} column
 * @param {import("./types.d.ts").Numbers} numbers
 */
function largestCodes(column, numbers) {
  const sums = new Float64Array(column.values.length);
  for (let op = 0; op < numbers.length; op += 1) sums[column.codes[op]] += numbers[op];
  const codes = [...sums.keys()].filter((code) => sums[code] > 0);
  return codes.sort((one, other) => sums[other] - sums[one]).slice(0, CATEGORIES);
}

/**
 * For each category and each row of the data, the sum over all rows before it.
 * @param {Answer} answer
 * @param {Coded} column
 * @param {import("./types.d.ts").Numbers} numbers
 * @param {number[]} largest
 */
function sumsOf(answer, column, numbers, largest) {
  const { data } = answer.rows;
  const categoryOf = new Int32Array(column.values.length).fill(largest.length);
  largest.forEach((code, place) => (categoryOf[code] = place));
  const sums = Array.from(
    { length: largest.length + 1 },
    () => new Float64Array(data.end.length + 1),
  );
  const rowOf = answer.rows.rowOfOps();
  for (let op = 0; op < rowOf.length; op += 1) {
    if (rowOf[op] >= 0) sums[categoryOf[column.codes[op]]][rowOf[op] + 1] += numbers[op];
  }
  for (const one of sums) {
    for (let row = 0; row < data.end.length; row += 1) one[row + 1] += one[row];
  }
  return sums;
}

// The colours of changes: red for more, blue for less, in three levels each, and grey.

import { isShown } from "./diff_answers.js";

/** @typedef {import("./diff_answers.js").DiffAnswer} DiffAnswer */

/** From these shares of before on, a change has the next level. */
const LEVELS = [0.1, 0.5];

/** The largest level. */
export const MOST = LEVELS.length + 1;

/**
 * How much a row changed, from -3 (most of it was removed) to 3; 0 if the data shows no change.
 * @param {DiffAnswer} answer
 * @param {number} row
 */
export function levelOf(answer, row) {
  if (!isShown(answer, row)) return 0;
  const { change, number: { before } } = answer;
  const share = Math.abs(change[row] / before[row]); // infinite if there was nothing before
  return Math.sign(change[row]) * (1 + LEVELS.filter((least) => share >= least).length);
}

/**
 * The name of the colour of a level, without the start that each use of it has.
 * @param {number} level
 */
export function colourName(level) {
  if (level === 0) return "change-none";
  return `change-${level > 0 ? "more" : "less"}-${Math.abs(level)}`;
}

const LABELS = ["", "≥ 10\u00a0% ", "≥ 50\u00a0% "];

/** All levels from the largest decrease to the largest increase. */
export const EVERY_LEVEL = Array.from({ length: 2 * MOST + 1 }, (_, place) => place - MOST);

/**
 * What a level means.
 * @param {number} level
 */
export function levelLabel(level) {
  if (level === 0) return "no change shown";
  return `${LABELS[Math.abs(level) - 1]}${level > 0 ? "more" : "less"}`;
}

/**
 * The colours of an icicle.
 * @param {DiffAnswer} answer
 * @returns {import("./icicle_colours.js").Colours}
 */
export function changeColours(answer) {
  const { row } = answer.rows;
  return {
    of: (place) => `--${colourName(levelOf(answer, row[place]))}`,
    label: (place) => levelLabel(levelOf(answer, row[place])),
    legend: EVERY_LEVEL.map((level) => ({
      colour: `--${colourName(level)}`,
      label: levelLabel(level),
    })),
  };
}

// Changes as texts: `+5.24 ms`, `+22.8 %`, `~` where the data does not show a difference.

import { MARK } from "./diff_marks.js";
import { isShown } from "./diff_answers.js";
import { exact, formatted } from "./units.js";

/** @typedef {import("./diff_answers.js").DiffAnswer} DiffAnswer */
/** @typedef {import("./types.d.ts").Unit} Unit */

const MINUS = "\u2212";

/** Percentages from here on have no decimals. */
const LARGE = 1000;
const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** What stands before a change that the data does not show. */
export const NOT_SHOWN = "~";

/**
 * A number with its sign; `=` for 0.
 * @param {number} value
 * @param {Unit} unit
 */
export function signed(value, unit) {
  if (value === 0) return "=";
  return `${value > 0 ? "+" : MINUS}${formatted(Math.abs(value), unit)}`;
}

/**
 * A change with all its digits, for tooltips.
 * @param {number} value
 * @param {Unit} unit
 */
export function exactChange(value, unit) {
  return `${value > 0 ? "+" : ""}${exact(value, unit)}`;
}

/**
 * A change as a percentage of what was before; `new` if there was nothing.
 * @param {number} before
 * @param {number} after
 */
export function percentOfBefore(before, after) {
  if (before === after) return "=";
  return before === 0 ? "new" : signedPercent((after - before) / Math.abs(before));
}

/**
 * The share of a change in the change of everything.
 * @param {number} change
 * @param {number} whole
 */
export function shareOfChange(change, whole) {
  return whole === 0 ? "–" : `${plain((100 * change) / whole)}\u00a0%`;
}

/** @param {number} share */
function signedPercent(share) {
  return `${share > 0 ? "+" : ""}${plain(100 * share)}\u00a0%`;
}

/** @param {number} value */
function plain(value) {
  const digits = Math.abs(value) < LARGE ? value.toFixed(1) : GROUPED.format(value);
  return digits.replace("-", MINUS);
}

/**
 * The change of a row, marked if the data does not show it.
 * @param {DiffAnswer} answer
 * @param {number} row
 */
export function changeText(answer, row) {
  const change = answer.change[row];
  const text = signed(change, answer.metric.unit);
  return change === 0 || isShown(answer, row) ? text : `${NOT_SHOWN}\u00a0${text}`;
}

/**
 * The 95 % interval of a change; empty if it is exact, or unknown.
 * @param {DiffAnswer} answer
 * @param {number} row
 */
export function intervalText({ number: { times }, metric }, row) {
  if (!times?.is_conclusive || times.low[row] === times.high[row]) return "";
  return interval(times.low[row], times.high[row], metric.unit);
}

/**
 * @param {number} low
 * @param {number} high
 * @param {Unit} unit
 */
export function interval(low, high, unit) {
  return `${signed(Math.round(low), unit)} to ${signed(Math.round(high), unit)}`;
}

/**
 * The change of a row in a few letters.
 * @param {DiffAnswer} answer
 * @param {number} row
 */
export function shortChange(answer, row) {
  const { number: { before, after }, view: { mark } } = answer;
  const change = changeText(answer, row);
  if (mark[row] === MARK.added || mark[row] === MARK.removed) return change;
  if (answer.change[row] === 0) return "";
  const share = percentOfBefore(before[row], after[row]);
  return `${change} · ${share}`;
}

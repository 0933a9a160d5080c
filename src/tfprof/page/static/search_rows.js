// Which rows of a table match a search: how many, and the next one.

import { matchingRows } from "./search_text.js";

/** @typedef {Pick<import("./icicle_layout.js").ShownTree["rows"], "data" | "row">} ShownRows */

/**
 * How many rows match, and the place of the selected one among those that are shown.
 * @param {ShownRows} rows
 * @param {string} search
 * @param {number} selected the place of a row, -1 if none is selected
 */
export function countedMatches({ data, row: rows }, search, selected) {
  const flags = matchingRows(data, search) ?? new Uint8Array(0);
  const found = flags.reduce((sum, flag) => sum + flag, 0);
  let [shown, place] = [0, 0];
  rows.forEach((row, at) => {
    shown += flags[row];
    if (at === selected && flags[row]) place = shown;
  });
  return { found, hidden: found - shown, all: data.end.length - 1, place };
}

/**
 * The next (1) or the previous (-1) row that matches, -1 if none does; the first follows the last.
 * @param {Pick<ShownRows, "row">} rows
 * @param {Uint8Array} flags
 * @param {number} place of the selected row, -1 if none is selected
 * @param {number} step
 */
export function nextMatch({ row }, flags, place, step) {
  const count = row.length;
  const start = place < 0 && step < 0 ? 0 : place;
  for (let distance = 1; distance <= count; distance += 1) {
    const next = row[(start + step * distance + count * 2) % count];
    if (flags[next]) return next;
  }
  return -1;
}

// Where keys move the selection in an icicle: up to the parent, down to the largest child, left and
// right to siblings.

import { children } from "./tree.js";

/** @typedef {import("./icicle_layout.js").ShownTree} ShownTree */

/**
 * The place that a key leads to, -1 if it leads nowhere.
 * @param {string} key
 * @param {ShownTree} answer
 * @param {number} place
 */
export function neighbour(key, answer, place) {
  const { rows, parent } = answer;
  if (key === "ArrowUp") return parent[place];
  if (key === "ArrowDown") return largestChild(answer, place);
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (step === undefined || parent[place] < 0) return -1;
  const siblings = children(rows.end, parent[place]);
  return siblings[siblings.indexOf(place) + step] ?? -1;
}

/**
 * @param {ShownTree} answer
 * @param {number} place
 */
function largestChild({ rows, total }, place) {
  let found = -1;
  for (const child of children(rows.end, place)) {
    if (found < 0 || total[rows.row[child]] > total[rows.row[found]]) found = child;
  }
  return found;
}

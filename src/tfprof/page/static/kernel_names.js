// Names of kernels in a narrow column: their start, and what tells them apart from others.

import { h } from "./dom.js";
import { markedName } from "./search_marks.js";
import { compareTexts } from "./select.js";

/** @typedef {import("./types.d.ts").Texts} Texts */

/** The characters at the end that are always in the second part. */
const LEAST = 12;

/** A start of fewer characters is not worth cutting: names that differ early are cut at the end. */
const SHORT = 16;

/** @type {WeakMap<Texts, Int32Array>} */
const known = new WeakMap();

/**
 * A name as two parts, of which the first one is cut first if the column is too narrow.
 * @param {Texts} names
 * @param {number} row
 * @param {string} search
 */
export function nameParts(names, row, search) {
  const places = known.get(names) ?? differences(names);
  known.set(names, places);
  const name = names.get(row);
  const parts = [name.slice(0, places[row]), name.slice(places[row])];
  return h("span", { class: "kernel-name" }, parts.map((part) => markedName(part, search)));
}

/**
 * Where the word starts in which each name differs from the name that it is most like.
 * @param {Texts} names
 */
function differences(names) {
  const sorted = Array.from(names.starts.keys()).sort((one, other) =>
    compareTexts(names, one, other));
  const shared = sorted.slice(1).map((row, at) =>
    sharedLength(names.get(sorted[at]), names.get(row)));
  const found = new Int32Array(names.length);
  sorted.forEach((row, at) => {
    const name = names.get(row);
    let place = Math.min(Math.max(shared[at - 1] ?? 0, shared[at] ?? 0), name.length - LEAST);
    while (place > 0 && /[A-Za-z0-9]/.test(name[place - 1])) place -= 1;
    found[row] = place < SHORT ? 0 : place;
  });
  return found;
}

/**
 * How many characters two names start with.
 * @param {string} one
 * @param {string} other
 */
function sharedLength(one, other) {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

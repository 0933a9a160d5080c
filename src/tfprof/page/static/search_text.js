// Which names match what a reader searches for: a text, whatever its case, or a regex in slashes.

import { InvalidPattern, Patterns } from "./patterns.js";
import { parents } from "./tree.js";

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").Texts} Texts */
/** @typedef {import("./types.d.ts").RowTexts} RowTexts */

/** Views whose rows have the names of the rows above them at the start of their own. */
const NESTED_NAMES = new Set(["layers", "scope"]);

/** @type {WeakMap<Texts, { text: string, found: Uint8Array }>} */
const known = new WeakMap();

/**
 * Which rows of a view match, as 0 and 1; null if there is nothing to search for. A text must be in
 * the row's own part of its name: what is inside of a match does not match for that reason alone.
 * @param {RowTexts} data
 * @param {string} search
 */
export function matchingRows(data, search) {
  const found = remembered(data.name, search, () => {
    const starts = NESTED_NAMES.has(data.kind) ? ownParts(data) : null;
    const rows = matched(data.name, search, starts);
    if (data.whole) {
      const wholes = matched(data.whole, search, null);
      for (let row = 0; row < rows.length; row += 1) rows[row] |= wholes[row];
    }
    rows[0] = 0; // the root is not a row that one looks for
    return rows;
  });
  return found;
}

/**
 * Which names match, as 0 and 1; null if there is nothing to search for.
 * @param {Texts} names
 * @param {string} search
 */
export function matchingNames(names, search) {
  return remembered(names, search, () => matched(names, search, null));
}

/**
 * What is wrong with a search, or nothing.
 * @param {string} search
 * @param {Record<string, string>} advice what to write instead, by the start of RE2's error
 */
export function problemOf(search, advice) {
  try {
    const regex = regexOf(search);
    if (regex) new Patterns([regex], advice);
    return "";
  } catch (error) {
    if (error instanceof InvalidPattern) return error.message;
    throw error;
  }
}

/**
 * The text to look for in lower case; empty if the search is a regex.
 * @param {string} search
 */
export function plainText(search) {
  return regexOf(search) ? "" : search.trim().toLowerCase();
}

/** @param {string} search */
function regexOf(search) {
  return /^\/(.+)\/$/s.exec(search.trim())?.[1] ?? "";
}

/**
 * @param {Texts} names
 * @param {string} search
 * @param {() => Uint8Array} compute
 */
function remembered(names, search, compute) {
  const text = search.trim();
  if (text === "" || problemOf(text, {}) !== "") return null;
  const before = known.get(names);
  if (before?.text === text) return before.found;
  const found = compute();
  known.set(names, { text, found });
  return found;
}

/**
 * @param {Texts} names
 * @param {string} search
 * @param {Uint32Array | null} starts where each name's own part starts
 */
function matched(names, search, starts) {
  const regex = regexOf(search);
  // Patterns match whole names.
  if (regex) return new Patterns([`(?is).*(?:${regex}).*`], {}).matchColumn(names);
  const text = plainText(search);
  return /^[\x00-\x7f]*$/.test(text)
    ? containing(names, new TextEncoder().encode(text), starts)
    : containingText(names, text);
}

/**
 * The names that contain an ASCII text. Bytes are compared, because decoding takes much longer.
 * @param {Texts} names
 * @param {Uint8Array} text in lower case
 * @param {Uint32Array | null} own
 */
function containing({ data, starts, ends, length }, text, own) {
  const found = new Uint8Array(length);
  for (let row = 0; row < length; row += 1) {
    const last = ends[row] - text.length;
    let place = starts[row] + Math.max(0, (own ? own[row] : 0) - text.length + 1);
    while (place <= last && !isAt(data, place, text)) place += 1;
    if (place <= last) found[row] = 1;
  }
  return found;
}

/**
 * @param {Uint8Array} data
 * @param {number} start
 * @param {Uint8Array} text
 */
function isAt(data, start, text) {
  for (let place = 0; place < text.length; place += 1) {
    const byte = data[start + place];
    const lower = byte >= 65 && byte <= 90 ? byte + 32 : byte;
    if (lower !== text[place]) return false;
  }
  return true;
}

/**
 * @param {Texts} names
 * @param {string} text
 */
function containingText(names, text) {
  const found = new Uint8Array(names.length);
  for (let row = 0; row < names.length; row += 1) {
    if (names.get(row).toLowerCase().includes(text)) found[row] = 1;
  }
  return found;
}

/**
 * Where each name goes on after the name of the row above it; 0 if it does not start with that.
 * @param {RowTexts} data
 */
function ownParts({ end, name }) {
  const above = parents(end);
  const found = new Uint32Array(name.length);
  for (let row = 1; row < name.length; row += 1) {
    if (above[row] > 0 && isBelow(name, row, above[row])) {
      found[row] = name.ends[above[row]] - name.starts[above[row]];
    }
  }
  return found;
}

/**
 * Whether a name is another one, a slash and more.
 * @param {Texts} names
 * @param {number} row
 * @param {number} parent
 */
function isBelow({ data, starts, ends }, row, parent) {
  const size = ends[parent] - starts[parent];
  if (ends[row] - starts[row] <= size || data[starts[row] + size] !== 0x2f) return false;
  for (let place = 0; place < size; place += 1) {
    if (data[starts[row] + place] !== data[starts[parent] + place]) return false;
  }
  return true;
}

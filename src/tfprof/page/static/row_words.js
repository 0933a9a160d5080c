// How the URL names rows. Numbers of rows change with the model; names do not, so that a link also
// fits a newer report.

/** @typedef {import("./types.d.ts").Texts} Texts */

/** A row with a longer name is kept by its number. */
const LONGEST = 2000; // bytes

/**
 * The name of a row, and which of the rows with that name it is unless it is the first.
 * @param {Texts} names
 * @param {number} row
 * @returns {[string, string][]}
 */
export function wordsOf(names, row) {
  if (names.ends[row] - names.starts[row] > LONGEST) return [["row", String(row)]];
  const name = names.get(row);
  const place = rowsNamed(names, name).indexOf(row);
  return place > 0 ? [["row", name], ["nth", String(place + 1)]] : [["row", name]];
}

/**
 * The words of a URL that name a row.
 * @param {URLSearchParams} words
 * @returns {[string, string][]}
 */
export function rowWords(words) {
  return [...words].filter(([key]) => key === "row" || key === "nth");
}

/**
 * The row that the words of a URL name, -1 if there is none.
 * @param {{ name: Texts }} data
 * @param {URLSearchParams} words
 */
export function rowFrom({ name }, words) {
  const text = words.get("row") ?? "";
  const found = rowsNamed(name, text);
  if (found.length > 0) return found[Number(words.get("nth") ?? 1) - 1] ?? found[0];
  return /^\d{1,9}$/.test(text) && Number(text) < name.length ? Number(text) : -1;
}

/**
 * All rows with a name.
 * @param {Texts} names
 * @param {string} text
 */
export function rowsNamed(names, text) {
  const bytes = new TextEncoder().encode(text);
  const isLossy = text.includes("\ufffd"); // the name may not be valid UTF-8
  const found = [];
  for (let row = 0; row < names.length; row += 1) {
    if (isLossy ? names.get(row) === text : hasBytes(names, row, bytes)) found.push(row);
  }
  return found;
}

/**
 * @param {Texts} names
 * @param {number} row
 * @param {Uint8Array} bytes
 */
function hasBytes({ data, starts, ends }, row, bytes) {
  const start = starts[row];
  if (ends[row] - start !== bytes.length) return false;
  // Names often start alike, so the end is compared first.
  for (let place = bytes.length - 1; place >= 0; place -= 1) {
    if (data[start + place] !== bytes[place]) return false;
  }
  return true;
}

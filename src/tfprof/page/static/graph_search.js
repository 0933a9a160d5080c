// Finds the ops whose names contain a text.

/** @typedef {import("./types.d.ts").Ops} Ops */

/** More ops than this are not marked in the drawn graph. */
const MOST_MATCHES = 10_000;

/**
 * The ops whose names contain a text, whatever its case; none for an empty text.
 * @param {Ops} ops
 * @param {string} text
 */
export function matching(ops, text) {
  const wanted = text.trim().toLowerCase();
  /** @type {number[]} */
  const found = [];
  if (wanted === "") return found;
  for (let op = 0; op < ops.count && found.length < MOST_MATCHES; op += 1) {
    if (ops.name.get(op).toLowerCase().includes(wanted)) found.push(op);
  }
  return found;
}

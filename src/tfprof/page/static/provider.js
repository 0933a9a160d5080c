// Answers questions about views from the data in the page.

import { depths, ownNumbers, totalNumbers } from "./tree.js";

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").Numbers} Numbers */

/**
 * @param {Payload} payload
 * @returns {import("./types.d.ts").Provider}
 */
export function createProvider(payload) {
  /** @type {Map<string, Numbers>} */
  const known = new Map();

  /**
   * @param {string} key
   * @param {() => Numbers} compute
   */
  function remembered(key, compute) {
    const found = known.get(key) ?? compute();
    known.set(key, found);
    return found;
  }

  return {
    supports: () => false,
    async ask(kind) {
      const data = payload.views[kind];
      return {
        data,
        row: Int32Array.from(data.end, (_, row) => row),
        end: Int32Array.from(data.end),
        depth: depths(data.end),
        own: (column) =>
          remembered(`own ${kind} ${column}`, () => ownNumbers(data, payload.ops, column)),
        total: (column) =>
          remembered(`total ${kind} ${column}`, () => totalNumbers(data, payload.ops, column)),
        notes: data.notes,
      };
    },
  };
}

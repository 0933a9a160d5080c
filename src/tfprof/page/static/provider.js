// Answers questions about views from the data in the page.

import { cuts } from "./cuts.js";
import { isApplied, Question } from "./options.js";
import { rowsOfOps } from "./row_ops.js";
import { select } from "./select.js";
import { depths, ownNumbers, totalNumbers } from "./tree.js";
import { ViewNumbers } from "./view_numbers.js";

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").Numbers} Numbers */
/** @typedef {import("./types.d.ts").Rows} Rows */
/** @typedef {import("./types.d.ts").ViewKind} ViewKind */

/**
 * A provider that needs no server. Its rows have the order of the data unless `order_by` is given.
 * @param {Payload} payload
 * @returns {import("./types.d.ts").Provider}
 */
export function createProvider(payload) {
  const applied = new Set(payload.options.filter(isApplied).map(({ name }) => name));
  /** @type {Map<string, Numbers>} */
  const known = new Map();
  /** @type {Map<ViewKind, ViewNumbers>} */
  const numbers = new Map();

  /**
   * @param {string} key
   * @param {() => Numbers} compute
   */
  function remembered(key, compute) {
    const found = known.get(key) ?? compute();
    known.set(key, found);
    return found;
  }

  /** @param {ViewKind} kind */
  function numbersOf(kind) {
    const found = numbers.get(kind) ?? new ViewNumbers(payload, payload.views[kind]);
    numbers.set(kind, found);
    return found;
  }

  return {
    supports: (option) => applied.has(option),
    graph: async () => payload.graph ?? null,
    async ask(kind, options) {
      const data = payload.views[kind];
      const selected = select(new Question(options, payload), numbersOf(kind));
      const { kept } = selected;
      return {
        data,
        row: kept.rows,
        end: kept.end,
        depth: depths(kept.end),
        own: (column) =>
          remembered(`own ${kind} ${column}`, () => ownNumbers(data, payload.ops, column)),
        total: (column) =>
          remembered(`total ${kind} ${column}`, () => totalNumbers(data, payload.ops, column)),
        ofOps: (column) => payload.ops.numbers[column],
        rowOfOps: () => rowsOfOps(payload, data),
        opCounts: () => data.ops,
        merged: data.merged,
        notes: data.notes,
        cuts: cuts(selected),
      };
    },
  };
}

// The selection follows when another view is shown: through the op, or else through the name.

import { rowOfName, rowsOfOps } from "./row_ops.js";

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").State} State */
/** @typedef {import("./types.d.ts").Store} Store */
/** @typedef {import("./types.d.ts").ViewKind} ViewKind */

/**
 * A store that selects the same thing when the view changes.
 * @param {Store} store
 * @param {Payload} payload
 * @returns {Store}
 */
export function following(store, payload) {
  return {
    ...store,
    get state() {
      return store.state;
    },
    set: (part) => store.set(followed(payload, store, part)),
    visit: (part) => store.visit(followed(payload, store, part)),
  };
}

/**
 * A change of the state, with the selection in the view that it shows.
 * @param {Payload} payload
 * @param {Store} store
 * @param {Partial<State>} part
 * @returns {Partial<State>}
 */
function followed(payload, { state, rows }, part) {
  if (part.view === undefined || part.view === state.view || part.row !== undefined) return part;
  const from = rows.of(state.view);
  const to = payload.views[/** @type {ViewKind} */ (part.view)];
  const op = part.op ?? state.op;
  if (!to) return { ...part, row: -1, op };
  if (op >= 0) return { ...part, row: rowsOfOps(payload, to)[op], op };
  const row = from && state.row > 0 ? rowOfName(to, from.name.bytes(state.row)) : -1;
  return { ...part, row, op: row < 0 ? -1 : to.op[row] };
}

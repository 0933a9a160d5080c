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
  const { view, row, op } = store.state;
  const data = payload.views[/** @type {ViewKind} */ (view)];
  if (data && op < 0 && row >= 0 && row < data.op.length) store.set({ op: data.op[row] });
  return {
    get state() {
      return store.state;
    },
    set: (part) => store.set(followed(payload, store.state, part)),
    subscribe: store.subscribe,
  };
}

/**
 * A change of the state, with the selection in the view that it shows.
 * @param {Payload} payload
 * @param {State} state
 * @param {Partial<State>} part
 * @returns {Partial<State>}
 */
function followed(payload, state, part) {
  if (part.view === undefined || part.view === state.view || part.row !== undefined) return part;
  const from = payload.views[/** @type {ViewKind} */ (state.view)];
  const to = payload.views[/** @type {ViewKind} */ (part.view)];
  const op = part.op ?? state.op;
  if (!to) return { ...part, row: -1, op };
  if (op >= 0) return { ...part, row: rowsOfOps(payload, to)[op], op };
  const row = from && state.row > 0 ? rowOfName(to, from.name.bytes(state.row)) : -1;
  return { ...part, row, op: row < 0 ? -1 : to.op[row] };
}

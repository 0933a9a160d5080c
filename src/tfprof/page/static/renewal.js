// What stays when a page shows a newer profile: the state, and views whose rows are the same.

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").State} State */
/** @typedef {import("./types.d.ts").Store} Store */
/** @typedef {import("./types.d.ts").Texts} Texts */
/** @typedef {import("./types.d.ts").ViewKind} ViewKind */

/**
 * The changes of the state: the numbers of rows and ops, and the metric if it does not exist now.
 * @param {Pick<Store, "state" | "rows">} store
 * @param {Payload} older
 * @param {Payload} newer
 * @returns {Partial<State>}
 */
export function carriedOver({ state, rows }, older, newer) {
  const kind = /** @type {ViewKind} */ (state.view);
  const hasMetric = newer.metrics.some(({ key }) => key === state.metric);
  return {
    metric: hasMetric ? state.metric : newer.metrics[0]?.key ?? "",
    row: rowOfSameName(rows.of(kind)?.name, newer.views[kind]?.name, state.row),
    op: rowOfSameName(older.ops.name, newer.ops.name, state.op),
  };
}

/**
 * The row of `newer` with the name that a row of `older` has, -1 if there is none.
 * @param {Texts | undefined} older
 * @param {Texts | undefined} newer
 * @param {number} row
 */
export function rowOfSameName(older, newer, row) {
  if (!older || !newer || row < 0 || row >= older.length) return -1;
  const name = older.get(row);
  if (row < newer.length && newer.get(row) === name) return row; // names may repeat
  for (let place = 0; place < newer.length; place += 1) {
    if (newer.get(place) === name) return place;
  }
  return -1;
}

/**
 * Whether a view has the same rows in both profiles.
 * @param {string} view
 * @param {Payload} older
 * @param {Payload} newer
 */
export function hasSameRows(view, older, newer) {
  const kind = /** @type {ViewKind} */ (view);
  const [one, other] = [older.views[kind], newer.views[kind]];
  if (!one || !other || one.end.length !== other.end.length) return false;
  for (let row = 0; row < one.end.length; row += 1) {
    if (one.end[row] !== other.end[row]) return false;
    if (!isSameText(one.name.bytes(row), other.name.bytes(row))) return false;
  }
  return true;
}

/**
 * @param {Uint8Array} one
 * @param {Uint8Array} other
 */
function isSameText(one, other) {
  return one.length === other.length && one.every((byte, place) => byte === other[place]);
}

// The question that the page asks about a view: the options of its state, with its own defaults.

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").State} State */
/** @typedef {import("./types.d.ts").ViewKind} ViewKind */

/** The views of rows, to which options apply. */
const KINDS = new Set(["layers", "scope", "graph", "code", "op"]);

/**
 * The view of rows that a state shows, null if it shows another view or there are no such rows.
 * @param {Payload} payload
 * @param {Pick<State, "view">} state
 */
export function kindOf(payload, { view }) {
  const isShown = KINDS.has(view) && view in payload.views && !payload.missing[view];
  return isShown ? /** @type {ViewKind} */ (view) : null;
}

/**
 * Whether a state shows kernels.
 * @param {Pick<Payload, "kernels">} payload
 * @param {Pick<State, "view">} state
 */
export function showsKernels({ kernels }, { view }) {
  return view === "kernels" && kernels !== null;
}

/**
 * The key that siblings are sorted by unless the reader chooses one: the chosen metric; empty for
 * the order of the model, or of a view that was asked for in an order.
 * @param {Payload} payload
 * @param {ViewKind} kind
 * @param {Pick<State, "metric">} state
 */
export function defaultOrder(payload, kind, { metric }) {
  return kind === "layers" || payload.views[kind].order !== "" ? "" : metric;
}

/**
 * The key that siblings are sorted by, empty if they have the order of the data.
 * @param {Payload} payload
 * @param {ViewKind} kind
 * @param {Pick<State, "metric" | "options">} state
 */
export function orderOf(payload, kind, state) {
  return state.options["order_by"] ?? defaultOrder(payload, kind, state);
}

/**
 * @param {Payload} payload
 * @param {ViewKind} kind
 * @param {Pick<State, "metric" | "options">} state
 */
export function questionOf(payload, kind, state) {
  const order = orderOf(payload, kind, state);
  return order === "" ? state.options : { ...state.options, order_by: order };
}

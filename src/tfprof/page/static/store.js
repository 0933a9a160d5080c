// The state of the page: what is shown and selected. It is kept in the URL, in the words of the
// command line, so that a link or a reload shows the same. Another view is a new entry of the
// history; other changes replace the entry.

import { Address } from "./address.js";

/** @typedef {import("./types.d.ts").State} State */
/** @typedef {import("./types.d.ts").Changed} Changed */
/** @typedef {import("./types.d.ts").LinkedRows} LinkedRows */

const NAMES = /** @type {const} */ ([
  "view", "metric", "search", "memory", "timeline", "kernel", "sort_by",
]);

/**
 * The state in which nothing is selected or filtered.
 * @param {string} view
 * @param {string} metric
 * @returns {State}
 */
export function initialState(view, metric) {
  const texts = { search: "", memory: "", timeline: "", kernel: "", sort_by: "" };
  return { view, metric, options: {}, row: -1, op: -1, ...texts };
}

/**
 * @template {LinkedRows} R
 * @param {State} defaults
 * @param {string[]} options the names of all options
 * @param {R} rows
 * @returns {import("./types.d.ts").Store<R>}
 */
export function createStore(defaults, options, rows) {
  const read = () => ({ ...defaults, ...fromHash(location.hash, options, defaults.view, rows) });
  /** @type {State} */
  let state = read();
  /** @type {((changed: Changed) => void)[]} */
  const listeners = [];
  const address = new Address(() => toHash(state, defaults, rows));
  const later = new Later(set);

  /**
   * @param {Partial<State>} part
   * @param {() => void} remember
   */
  function change(part, remember) {
    const keys = /** @type {(keyof State)[]} */ (Object.keys(part));
    const changed = new Set(keys.filter((key) => !isSame(state[key], part[key])));
    if (changed.size === 0) return;
    state = { ...state, ...part };
    remember();
    for (const listener of listeners) listener(changed);
  }

  /** @param {Partial<State>} part */
  function set(part) {
    const isOtherView = part.view !== undefined && part.view !== state.view;
    if (isOtherView) visit(part);
    else change(part, () => address.replace());
  }

  /** @param {Partial<State>} part */
  function visit(part) {
    later.finish();
    address.finish(); // the entry that is left must have its latest state
    if (part.view !== state.view) rows.leave();
    change(part, () => address.push());
  }

  addEventListener("pagehide", () => later.finish());
  addEventListener("hashchange", () => {
    later.drop();
    change(read(), () => address.replace());
  });
  return {
    get state() {
      return state;
    },
    rows,
    set,
    visit,
    setLater: (part, pause) => later.start(part, pause),
    subscribe: (listener) => void listeners.push(listener),
  };
}

/** A change that is made after a pause, or when the state is needed. */
class Later {
  /** @param {(part: Partial<State>) => void} set */
  constructor(set) {
    this.set = set;
    this.timer = 0;
    /** @type {(() => Partial<State>) | null} */
    this.part = null;
  }

  /**
   * @param {() => Partial<State>} part
   * @param {number} pause in milliseconds
   */
  start(part, pause) {
    this.drop();
    this.part = part;
    this.timer = setTimeout(() => this.finish(), pause);
  }

  finish() {
    const { part } = this;
    this.drop();
    if (part) this.set(part());
  }

  drop() {
    clearTimeout(this.timer);
    this.part = null;
  }
}

/**
 * @param {unknown} one
 * @param {unknown} other
 */
function isSame(one, other) {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/**
 * @param {State} state
 * @param {State} defaults
 * @param {LinkedRows} rows
 */
function toHash(state, defaults, rows) {
  const words = new URLSearchParams();
  for (const name of NAMES) if (state[name] !== defaults[name]) words.set(name, state[name]);
  for (const [name, value] of Object.entries(state.options)) words.set(name, value);
  for (const [name, value] of rows.words(state)) words.set(name, value);
  return words.toString();
}

/**
 * @param {string} hash
 * @param {string[]} known
 * @param {string} view the view if none is named
 * @param {LinkedRows} rows
 * @returns {Partial<State>}
 */
function fromHash(hash, known, view, rows) {
  const words = new URLSearchParams(hash.slice(1));
  /** @type {Partial<State>} */
  const found = {};
  for (const name of NAMES) if (words.has(name)) found[name] = words.get(name) ?? "";
  found.options = Object.fromEntries([...words].filter(([name]) => known.includes(name)));
  return { ...found, ...rows.find(found.view ?? view, words) };
}

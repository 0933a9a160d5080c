// The state of the page: what is shown and selected. It is kept in the URL, in the words of the
// command line, so that a link or a reload shows the same.

/** @typedef {import("./types.d.ts").State} State */
/** @typedef {import("./types.d.ts").Changed} Changed */

const NAMES = /** @type {const} */ (["view", "metric", "search", "memory", "timeline"]);

/**
 * The state in which nothing is selected or filtered.
 * @param {string} view
 * @param {string} metric
 * @returns {State}
 */
export function initialState(view, metric) {
  return { view, metric, options: {}, row: -1, op: -1, search: "", memory: "", timeline: "" };
}

/**
 * @param {State} defaults
 * @param {string[]} options the names of all options
 * @returns {import("./types.d.ts").Store}
 */
export function createStore(defaults, options) {
  /** @type {State} */
  let state = { ...defaults, ...fromHash(location.hash, options) };
  /** @type {((changed: Changed) => void)[]} */
  const listeners = [];

  /** @param {Partial<State>} part */
  function set(part) {
    const keys = /** @type {(keyof State)[]} */ (Object.keys(part));
    const changed = new Set(keys.filter((key) => !isSame(state[key], part[key])));
    if (changed.size === 0) return;
    state = { ...state, ...part };
    remember();
    for (const listener of listeners) listener(changed);
  }

  // Browsers refuse to change the address more than about twenty times a second, as it happens
  // while an arrow key is held down.
  const remember = throttled(() => writeHash(toHash(state, defaults)));
  addEventListener("hashchange", () => set({ ...defaults, ...fromHash(location.hash, options) }));
  return {
    get state() {
      return state;
    },
    set,
    subscribe: (listener) => void listeners.push(listener),
  };
}

/**
 * A function that acts at once, but while it is called often only ten times a second.
 * @param {() => void} act
 */
function throttled(act) {
  let isResting = false;
  let isDue = false;
  return function run() {
    isDue = isResting;
    if (isResting) return;
    isResting = true;
    act();
    setTimeout(() => {
      isResting = false;
      if (isDue) run();
    }, 100);
  };
}

/** @param {string} words */
function writeHash(words) {
  try {
    history.replaceState(null, "", `#${words}`);
  } catch {
    // The frame of a notebook has no address.
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
 */
function toHash(state, defaults) {
  const words = new URLSearchParams();
  for (const name of NAMES) if (state[name] !== defaults[name]) words.set(name, state[name]);
  for (const [name, value] of Object.entries(state.options)) words.set(name, value);
  if (state.row >= 0) words.set("row", String(state.row));
  return words.toString();
}

/**
 * @param {string} hash
 * @param {string[]} known
 * @returns {Partial<State>}
 */
function fromHash(hash, known) {
  const words = new URLSearchParams(hash.slice(1));
  /** @type {Partial<State>} */
  const found = {};
  for (const name of NAMES) if (words.has(name)) found[name] = words.get(name) ?? "";
  found.options = Object.fromEntries([...words].filter(([name]) => known.includes(name)));
  const row = Number(words.get("row") ?? -1);
  found.row = Number.isInteger(row) ? row : -1;
  return found;
}

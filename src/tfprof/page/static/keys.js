// The keys of the page. This table is all of them: those of the whole page act here, those of views
// are listed for help and act where the view is.

/**
 * @typedef {{
 *   view: (place: number) => void | boolean, search: () => void, next: () => void,
 *   previous: () => void, copy: () => void, theme: () => void, help: () => void,
 *   clear: () => boolean,
 * }} Actions
 */

/**
 * A key as `KeyboardEvent.key` names it, or several that do similar things.
 * @typedef {{ keys: string[], label?: string, meaning: string }} Key
 */

/** The shortcuts of views, in the order of the tabs. */
export const SHORTCUTS = [..."123456789k"];

/** @type {(Key & { act: (actions: Actions, key: string) => void | boolean })[]} */
export const PAGE_KEYS = [
  {
    keys: SHORTCUTS.slice(0, -1),
    label: "1 … 9",
    meaning: "show a view, in the order of the tabs",
    act: ({ view }, key) => view(SHORTCUTS.indexOf(key)),
  },
  {
    keys: SHORTCUTS.slice(-1),
    meaning: "show the kernels, if any were recorded",
    act: ({ view }, key) => view(SHORTCUTS.indexOf(key)),
  },
  { keys: ["/"], meaning: "search names", act: ({ search }) => search() },
  { keys: ["n"], meaning: "next match; in the field, Enter", act: ({ next }) => next() },
  {
    keys: ["N"],
    meaning: "previous match; in the field, Shift+Enter",
    act: ({ previous }) => previous(),
  },
  { keys: ["Escape"], label: "Esc", meaning: "clear the search", act: ({ clear }) => clear() },
  { keys: ["c"], meaning: "copy the command for what is shown", act: ({ copy }) => copy() },
  { keys: ["t"], meaning: "next theme: system, light, dark", act: ({ theme }) => theme() },
  { keys: ["?"], meaning: "help", act: ({ help }) => help() },
];

/** @type {Key[]} */
export const PICTURE = [
  { keys: ["ArrowUp", "ArrowDown"], label: "↑ ↓", meaning: "parent, largest part" },
  { keys: ["ArrowLeft", "ArrowRight"], label: "← →", meaning: "neighbours" },
  { keys: ["Enter"], meaning: "zoom into the row, or out of it again" },
  { keys: ["Escape"], label: "Esc", meaning: "reset the zoom" },
];

/** @type {Key[]} */
const LINES = [
  { keys: ["ArrowUp", "ArrowDown"], label: "↑ ↓", meaning: "previous and next row" },
  { keys: ["Home", "End"], label: "Home End", meaning: "first and last row" },
  { keys: ["PageUp", "PageDown"], label: "PgUp PgDn", meaning: "one page up and down" },
];

/** @type {Key[]} */
export const TABLE = [
  ...LINES,
  { keys: ["ArrowLeft", "ArrowRight"], label: "← →", meaning: "fold, parent; unfold, first part" },
  { keys: [" "], label: "Space", meaning: "fold or unfold" },
  { keys: ["Enter"], meaning: "zoom the picture into the row" },
];

/** @type {Key[]} */
const GRAPH = [
  { keys: ["ArrowUp", "ArrowDown"], label: "↑ ↓", meaning: "along the lines" },
  { keys: ["ArrowLeft", "ArrowRight"], label: "← →", meaning: "neighbours" },
  { keys: ["Enter"], meaning: "expand or collapse a box" },
  { keys: [" "], label: "Space", meaning: "select a box" },
  { keys: ["Escape"], label: "Esc", meaning: "collapse the box around" },
  { keys: ["+", "=", "-"], label: "+ -", meaning: "zoom in and out" },
  { keys: ["0"], meaning: "fit the whole graph" },
];

/** @type {Key[]} */
export const TIMELINE = [
  { keys: ["w", "s"], label: "w s", meaning: "zoom in and out; also + - or Ctrl and the wheel" },
  { keys: ["a", "d"], label: "a d", meaning: "move; also drag, or Shift and the wheel" },
  {
    keys: ["ArrowLeft", "ArrowRight"],
    label: "← →",
    meaning: "previous and next run of the lane",
  },
  { keys: ["ArrowUp", "ArrowDown"], label: "↑ ↓", meaning: "lane above and below" },
  { keys: [",", "."], label: ", .", meaning: "previous and next run of the same op" },
  { keys: ["[", "]"], label: "[ ]", meaning: "previous and next step" },
  { keys: ["f", "Enter"], label: "f", meaning: "fit the selection" },
  { keys: ["0"], meaning: "fit everything" },
  { keys: ["+", "-"], label: "+ -", meaning: "zoom in and out" },
  { keys: ["m"], meaning: "measure what is visible" },
  { keys: ["e"], meaning: "arrows to inputs and outputs of a run" },
  { keys: ["Escape"], label: "Esc", meaning: "clear the selection" },
];

/** @type {Key[]} */
const MEMORY = [
  {
    keys: ["ArrowLeft", "ArrowRight"],
    label: "← →",
    meaning: "previous and next change; with Shift, a twentieth of the curve",
  },
  { keys: ["Home", "End"], label: "Home End", meaning: "start and end of the step" },
];

const ROWS = ["layers", "scope", "graph", "code", "op"];

/** The keys of parts of views, and the views that have them. */
export const VIEW_KEYS = [
  { title: "in the picture", views: ROWS, keys: PICTURE },
  { title: "in the table", views: ROWS, keys: TABLE },
  { title: "in the drawn graph", views: ["graph"], keys: GRAPH },
  { title: "in the timeline", views: ["timeline"], keys: TIMELINE },
  { title: "in the curve of memory", views: ["memory"], keys: MEMORY },
  { title: "in the table of kernels", views: ["kernels"], keys: LINES },
];

/** What readers type into; keys must not act there. */
const FIELDS = "input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]";

/**
 * Let keys of the whole page act.
 * @template T
 * @param {T} actions
 * @param {(Key & { act: (actions: T, key: string) => void | boolean })[]} every
 */
export function listenToKeys(actions, every) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.closest(`dialog, ${FIELDS}`)) return;
    const found = every.find(({ keys }) => keys.includes(event.key));
    if (!found || found.act(actions, event.key) === false) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // views listen to the same keys, such as Escape
  });
}

/** @param {Key} key */
export function labelOf({ keys, label }) {
  return label ?? keys.join(" ");
}

// The search field of the page: how many names match in the current view, and the way to them.

import { fill, h } from "./dom.js";
import { kindOf, questionOf } from "./question.js";
import { countedMatches, nextMatch } from "./search_rows.js";
import { matchingRows, problemOf } from "./search_text.js";
import { VIEWS } from "./views.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").Finder} Finder */
/** @typedef {import("./types.d.ts").Found} Found */
/** @typedef {import("./types.d.ts").Rows} Rows */
/** @typedef {import("./types.d.ts").ViewKind} ViewKind */

/** Where a search leads to from a view that has nothing to search. */
const ELSEWHERE = /** @type {ViewKind[]} */ (["scope", "graph", "op", "layers", "code"]);

const HINT = "Finds names that contain the text, or that match a regex in slashes: /conv.*grad/";

export class Search {
  /**
   * @param {Context} context
   * @param {() => Finder | undefined} finder of the visible view, unless it has rows
   */
  constructor(context, finder) {
    this.context = context;
    this.finder = finder;
    this.asked = 0;
    this.field = /** @type {HTMLInputElement} */ (
      h("input", {
        class: "search-field",
        type: "search",
        placeholder: "Search names  /",
        title: HINT,
        "aria-label": "Search names",
        "aria-describedby": "search-count",
        spellcheck: "false",
        autocomplete: "off",
        oninput: () => context.store.set({ search: this.field.value }),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.pressed(event),
      })
    );
    this.count = h("span", { class: "search-count", id: "search-count", role: "status" });
    this.buttons = h(
      "span",
      { class: "search-buttons" },
      this.button("‹", "Previous match (N)", -1),
      this.button("›", "Next match (n)", 1),
    );
    this.element = h("search", { class: "search" }, this.field, this.count, this.buttons);
  }

  /**
   * @param {string} text
   * @param {string} title
   * @param {number} step
   */
  button(text, title, step) {
    const onclick = () => void this.go(step);
    const attributes = { class: "quiet-button", type: "button", title, "aria-label": title };
    return h("button", { ...attributes, onclick }, text);
  }

  /** Focus the field. */
  focus() {
    this.field.focus();
    this.field.select();
  }

  /** Clear the search. Returns whether there was one. */
  clear() {
    const { store } = this.context;
    const hadText = store.state.search !== "";
    store.set({ search: "" });
    return hadText;
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (event.key === "Enter") void this.go(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape" && this.field.value !== "") this.clear();
    else if (event.key === "Escape") this.field.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Show what is searched for and how much is found. */
  async update() {
    const { store } = this.context;
    const { search } = store.state;
    const number = (this.asked += 1);
    if (this.field.value !== search) this.field.value = search;
    const isSearching = search.trim() !== "";
    this.element.classList.toggle("search-on", isSearching);
    const found = isSearching ? await this.found() : "";
    if (number !== this.asked) return;
    const isProblem = typeof found === "string" && found !== "";
    this.field.setAttribute("aria-invalid", String(isProblem));
    const text = typeof found === "string" ? found : sentence(found);
    fill(this.count, text);
    this.count.title = text;
    this.count.classList.toggle("search-none", typeof found !== "string" && found.found === 0);
    this.buttons.hidden = typeof found === "string" || found.found === found.hidden;
  }

  /** @returns {Promise<Found | string>} */
  async found() {
    const { payload, store } = this.context;
    const { search } = store.state;
    const problem = problemOf(search, payload.advice_on_regexes);
    if (problem) return problem;
    return this.finder()?.find() ?? foundIn(await this.rows(), this.context, this.kind());
  }

  /** The view of rows that is searched. */
  kind() {
    const { payload, store } = this.context;
    const others = ELSEWHERE.filter((kind) => kindOf(payload, { view: kind }));
    return kindOf(payload, store.state) ?? others[0];
  }

  rows() {
    const { payload, provider, store } = this.context;
    const kind = this.kind();
    return provider.ask(kind, questionOf(payload, kind, store.state));
  }

  /**
   * Select the next or the previous match, in the view that has it.
   * @param {number} step
   */
  async go(step) {
    const { store } = this.context;
    const finder = this.finder();
    if (finder) {
      finder.go(step);
      return;
    }
    const kind = this.kind();
    const rows = await this.rows();
    const flags = matchingRows(rows.data, store.state.search);
    const row = flags ? nextMatch(rows, flags, selectedPlace(rows, this.context, kind), step) : -1;
    if (row >= 0) store.set({ view: kind, row, op: rows.data.op[row] });
  }
}

/**
 * @param {Rows} rows
 * @param {Context} context
 * @param {ViewKind} kind
 */
function selectedPlace(rows, { store }, kind) {
  return store.state.view === kind ? rows.row.indexOf(store.state.row) : -1;
}

/**
 * @param {Rows} rows
 * @param {Context} context
 * @param {ViewKind} kind
 * @returns {Found}
 */
function foundIn(rows, context, kind) {
  const { view, search } = context.store.state;
  const where = view === kind ? "" : VIEWS.find(({ key }) => key === kind)?.title ?? "";
  const merged = rows.data.merged?.rows ?? 0;
  const selected = selectedPlace(rows, context, kind);
  return { ...countedMatches(rows, search, selected), unit: "rows", where, merged };
}

/** @param {Found} found */
function sentence({ found, hidden, all, place, unit, where, merged }) {
  const number = (/** @type {number} */ count) => count.toLocaleString("en-US");
  const there = where && ` in ${where}`;
  const unsearched = merged > 0 ? `, ${number(merged)} smaller ones not searched` : "";
  if (found === 0) return `no match in ${number(all)} ${unit}${there}${unsearched}`;
  const shown = place > 0
    ? `match ${number(place)} of ${number(found - hidden)} in ${number(all)} ${unit}`
    : `${number(found)} of ${number(all)} ${unit}`;
  const rest = hidden > 0 ? `, ${number(hidden)} hidden by options` : "";
  return `${shown}${there}${rest}${unsearched}`;
}

// The frame of the head of a page: title, facts, tabs, the number of the whole page and the theme.

import { h } from "./dom.js";
import { moveFocus } from "./tab_focus.js";
import { themeButton } from "./theme_button.js";

/** @typedef {{ set(state: object): void, state: { view: string, metric: string } }} Store */

/**
 * @typedef {object} Parts
 * @property {string} mark what the page is
 * @property {Node | string} title
 * @property {string} facts
 * @property {HTMLElement[]} tools beside the title
 * @property {HTMLElement[]} tabs
 * @property {string} label of the menu
 * @property {HTMLSelectElement} menu of the numbers
 * @property {HTMLElement[]} others beside the menu
 * @property {() => void} help shows the help
 */

/**
 * @param {Store} store
 * @param {Parts} parts
 */
export function headerFrame(store, { mark, title, facts, tools, tabs, label, menu, others, help }) {
  const element = h(
    "header",
    { class: "header" },
    h(
      "div",
      { class: "header-title" },
      h("span", { class: "header-mark" }, mark),
      h("h1", null, title),
      h("p", { class: "header-facts" }, facts),
      tools,
      themeButton(),
      h("button", { class: "quiet-button help-button", type: "button", onclick: help }, "Help"),
    ),
    h(
      "div",
      { class: "header-bar" },
      h(
        "div",
        { class: "tabs", role: "tablist", "aria-label": "Views", onkeydown: moveFocus },
        tabs,
      ),
      h("label", { class: "field" }, label, menu),
      others,
    ),
  );

  function update() {
    for (const one of tabs) {
      const isChosen = one.dataset["view"] === store.state.view;
      one.setAttribute("aria-selected", String(isChosen));
      one.tabIndex = isChosen ? 0 : -1;
      if (isChosen) one.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    menu.value = store.state.metric;
  }

  return { element, update };
}

/**
 * The tab of a view.
 * @param {Store} store
 * @param {{ key: string, title: string }} view
 * @param {string} shortcut
 * @param {string} [reason] why the view is empty
 * @param {number} [count] shown beside the title, unless it is 0
 */
export function viewTab(store, { key, title }, shortcut, reason, count = 0) {
  return h(
    "button",
    {
      class: reason ? "tab tab-empty" : "tab",
      id: `tab-${key}`,
      role: "tab",
      type: "button",
      "aria-controls": "view",
      "data-view": key,
      title: reason ?? `Shortcut: ${shortcut}`,
      onclick: () => store.set({ view: key }),
    },
    title,
    count > 0 && h("span", { class: "tab-count" }, count),
  );
}

// The head of a diff page: both names, the views, the number of the whole page and the theme.

import { fill, h, nameOf } from "./dom.js";
import { moveFocus } from "./tab_focus.js";
import { themeButton } from "./theme_button.js";

/** @typedef {import("./diff_types.d.ts").DiffContext} DiffContext */

/** The views in the order of their tabs; the digit is the shortcut. */
export const VIEWS = [
  { key: "layers", title: "Layers" },
  { key: "scope", title: "Scope" },
  { key: "graph", title: "Graph" },
  { key: "code", title: "Code" },
  { key: "op", title: "Op" },
];

/**
 * @param {DiffContext} context
 * @param {() => void} help shows the help
 * @returns {import("./diff_types.d.ts").DiffPart}
 */
export function mountHeader({ payload, store }, help) {
  const tabs = VIEWS.map(({ key, title: text }, place) => {
    const reason = payload.missing[key];
    return h(
      "button",
      {
        class: reason ? "tab tab-empty" : "tab",
        id: `tab-${key}`,
        role: "tab",
        type: "button",
        "aria-controls": "view",
        "data-view": key,
        title: reason ?? `Shortcut: ${place + 1}`,
        onclick: () => store.set({ view: key }),
      },
      text,
    );
  });
  const choices = payload.metrics.map(({ key, label }) => h("option", { value: key }, label));
  const menu = /** @type {HTMLSelectElement} */ (
    h("select", { "aria-label": "Number of the whole page" }, choices)
  );
  menu.addEventListener("change", () => store.set({ metric: menu.value }));
  const element = h(
    "header",
    { class: "header" },
    h(
      "div",
      { class: "header-title" },
      h("span", { class: "header-mark" }, "tfprof diff"),
      h("h1", null, title(payload)),
      h("p", { class: "header-facts" }, facts(payload)),
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
      h("label", { class: "field" }, "Number", menu),
    ),
  );

  function update() {
    for (const one of tabs) {
      const isChosen = one.dataset["view"] === store.state.view;
      one.setAttribute("aria-selected", String(isChosen));
      one.tabIndex = isChosen ? 0 : -1;
    }
    menu.value = store.state.metric;
  }

  return { element, update };
}

/** @param {DiffContext["payload"]} payload */
function title({ sides }) {
  const [base, new_] = sides.map(({ name }) => nameOf(name));
  const element = h("span", null);
  fill(element, base, " → ", new_);
  return element;
}

/** @param {DiffContext["payload"]} payload */
function facts({ sides }) {
  const [base, other] = sides.map(({ facts: found }) => found);
  const both = (/** @type {string} */ fact, /** @type {number} */ place) =>
    (fact === other[place] ? fact : `${fact} → ${other[place] ?? "–"}`);
  return base.map(both).join(" · ");
}

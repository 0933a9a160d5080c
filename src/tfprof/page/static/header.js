// The head of the page: title, facts, tabs, the metric of the whole page and the theme.

import { h, nameOf } from "./dom.js";
import { metricMenu } from "./metric.js";
import { moveFocus } from "./tab_focus.js";
import { themeButton } from "./theme_button.js";
import { VIEWS } from "./views.js";

/** @typedef {import("./types.d.ts").Context} Context */

/**
 * @param {Context} context
 * @param {HTMLElement} search the search field
 * @param {() => void} help shows the help
 * @param {HTMLElement[]} others shown beside the metric
 * @returns {import("./types.d.ts").Component}
 */
export function mountHeader({ payload, store }, search, help, others) {
  const tabs = VIEWS.map(({ key, title }, place) => tab(payload, store, key, title, place + 1));
  const metric = metricMenu(payload, store);
  const element = h(
    "header",
    { class: "header" },
    h(
      "div",
      { class: "header-title" },
      h("span", { class: "header-mark" }, "tfprof"),
      h("h1", null, nameOf(payload.title)),
      h("p", { class: "header-facts" }, payload.facts.join(" · ")),
      search,
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
      h("label", { class: "field" }, "Metric", metric),
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
    metric.value = store.state.metric;
  }

  return { element, update };
}

/**
 * @param {Context["payload"]} payload
 * @param {Context["store"]} store
 * @param {string} key
 * @param {string} title
 * @param {number} digit
 */
function tab(payload, store, key, title, digit) {
  const reason = payload.missing[key];
  const count = key === "advice" ? payload.advice.findings.length : 0;
  return h(
    "button",
    {
      class: reason ? "tab tab-empty" : "tab",
      id: `tab-${key}`,
      role: "tab",
      type: "button",
      "aria-controls": "view",
      "data-view": key,
      title: reason ?? `Shortcut: ${digit}`,
      onclick: () => store.set({ view: key }),
    },
    title,
    count > 0 && h("span", { class: "tab-count" }, count),
  );
}

// The help of the page: what the view shows, what its numbers mean, and all keys.

import { fill, h } from "./dom.js";
import { HELP, NUMBERS } from "./help_texts.js";
import { labelOf, PAGE_KEYS, VIEW_KEYS } from "./keys.js";
import { VIEWS } from "./views.js";

/** A dialog; the browser keeps the focus in it, and returns it when the dialog is closed. */
export class Help {
  constructor() {
    this.content = h("div", { class: "help-content", tabindex: 0 });
    this.element = /** @type {HTMLDialogElement} */ (
      h(
        "dialog",
        {
          class: "help",
          "aria-labelledby": "help-title",
          onclick: (/** @type {MouseEvent} */ event) => this.clicked(event),
        },
        h(
          "div",
          { class: "help-head" },
          h("h2", { id: "help-title" }, "Help"),
          h(
            "button",
            { class: "quiet-button", type: "button", onclick: () => this.element.close() },
            "Close",
          ),
        ),
        this.content,
      )
    );
  }

  /**
   * Show the help, starting with a view.
   * @param {string} view
   */
  open(view) {
    const isShown = (/** @type {{ key: string }} */ { key }) => key === view;
    const others = VIEWS.filter((one) => !isShown(one));
    fill(
      this.content,
      h(
        "section",
        { class: "help-views", "aria-label": "Views" },
        VIEWS.filter(isShown).map(paragraph),
        h("p", null, NUMBERS),
        h("h3", null, "The other views"),
        h("dl", null, others.flatMap(definition)),
      ),
      h("section", { class: "help-keys", "aria-label": "Keys" }, keyTables(view)),
    );
    this.element.showModal();
    this.content.focus(); // so that the arrow keys scroll it
    this.content.scrollTop = 0;
  }

  /**
   * Close the dialog when its surroundings are clicked.
   * @param {MouseEvent} event
   */
  clicked(event) {
    if (event.target === this.element) this.element.close();
  }
}

/** @param {{ key: string, title: string }} view */
function paragraph({ key, title }) {
  return h("div", { "data-view": key }, h("h3", null, title), h("p", null, HELP[key]));
}

/** @param {{ key: string, title: string }} view */
function definition({ key, title }) {
  return [h("dt", null, title), h("dd", { "data-view": key }, HELP[key])];
}

/**
 * The keys of the page, then those of the view, then those of others.
 * @param {string} view
 */
function keyTables(view) {
  const isHere = (/** @type {{ views: string[] }} */ { views }) => views.includes(view);
  const parts = [...VIEW_KEYS.filter(isHere), ...VIEW_KEYS.filter((part) => !isHere(part))];
  return [{ title: "everywhere", keys: PAGE_KEYS }, ...parts].map(keyTable);
}

/** @param {{ title: string, keys: import("./keys.js").Key[] }} part */
function keyTable({ title, keys }) {
  return h(
    "table",
    null,
    h("caption", null, `Keys ${title}`),
    h("tbody", null, keys.map((key) => h(
      "tr",
      null,
      h("th", { scope: "row" }, h("kbd", null, labelOf(key))),
      h("td", null, key.meaning),
    ))),
  );
}

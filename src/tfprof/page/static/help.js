// The help of the page: what the view shows, what its numbers mean, and all keys.

import { fill, h } from "./dom.js";
import { labelOf } from "./keys.js";

/** @typedef {import("./keys.js").Key} Key */

/**
 * What the help explains: the views, what is true of numbers in all of them, the keys of the whole
 * page, and those of parts of views.
 * @typedef {{
 *   views: { key: string, title: string }[],
 *   texts: Record<string, string>,
 *   numbers: string,
 *   keys: Key[],
 *   parts: { title: string, views: string[], keys: Key[] }[],
 * }} Manual
 */

/** A dialog; the browser keeps the focus in it, and returns it when the dialog is closed. */
export class Help {
  /** @param {Manual} manual */
  constructor(manual) {
    this.manual = manual;
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
    const { views, texts, numbers } = this.manual;
    const isShown = (/** @type {{ key: string }} */ { key }) => key === view;
    const others = views.filter((one) => !isShown(one));
    fill(
      this.content,
      h(
        "section",
        { class: "help-views", "aria-label": "Views" },
        views.filter(isShown).map((one) => paragraph(one, texts)),
        h("p", null, numbers),
        others.length > 0 && h("h3", null, "The other views"),
        h("dl", null, others.flatMap((one) => definition(one, texts))),
      ),
      h("section", { class: "help-keys", "aria-label": "Keys" }, keyTables(view, this.manual)),
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

/**
 * @param {{ key: string, title: string }} view
 * @param {Record<string, string>} texts
 */
function paragraph({ key, title }, texts) {
  return h("div", { "data-view": key }, h("h3", null, title), h("p", null, texts[key]));
}

/**
 * @param {{ key: string, title: string }} view
 * @param {Record<string, string>} texts
 */
function definition({ key, title }, texts) {
  return [h("dt", null, title), h("dd", { "data-view": key }, texts[key])];
}

/**
 * The keys of the page, then those of the view, then those of others.
 * @param {string} view
 * @param {Manual} manual
 */
function keyTables(view, { keys, parts }) {
  const isHere = (/** @type {{ views: string[] }} */ { views }) => views.includes(view);
  const ordered = [...parts.filter(isHere), ...parts.filter((part) => !isHere(part))];
  return [{ title: "everywhere", keys }, ...ordered].map(keyTable);
}

/** @param {{ title: string, keys: Key[] }} part */
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

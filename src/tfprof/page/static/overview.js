// The first screen: the model in numbers, where a step's time goes, the largest layers, findings.

import { h } from "./dom.js";

/** @typedef {import("./types.d.ts").Context} Context */

/**
 * @param {Context} context
 * @returns {import("./types.d.ts").Component}
 */
export function mountOverview({ payload }) {
  const cards = payload.cards.map(({ label, text, detail, value }) =>
    h(
      "div",
      { class: "card" },
      h("div", { class: "card-label" }, label),
      h("div", { class: "card-number amount", "data-value": value }, text),
      h("div", { class: "card-detail" }, detail),
    ),
  );
  const element = h("div", { class: "overview" }, h("div", { class: "cards" }, cards));
  return { element, update: () => undefined };
}

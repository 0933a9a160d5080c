// The bar above the drawn graph: zoom, phases, and what the colours mean.

import { h } from "./dom.js";

/**
 * @typedef {{
 *   zoom: (factor: number) => void, fit: () => void, collapse: () => void,
 *   showPhases: (all: boolean) => void, copy: () => string,
 * }} Actions
 */

const COLOURS = [
  ["graph-key-3", "over 60 %", "Share of the total"],
  ["graph-key-2", "over 20 %", "Share of the total"],
  ["graph-key-1", "over 5 %", "Share of the total"],
];

const PARTS = [
  ["graph-key-forward", "forward", "The ops themselves"],
  ["graph-key-backward", "backward", "The gradients of these ops, which count as a part of them"],
];

/**
 * @param {Actions} act
 * @param {boolean} hasGradients
 * @param {HTMLElement} note
 */
export function controls(act, hasGradients, note) {
  return h(
    "div",
    { class: "graph-controls" },
    button("−", "Zoom out (-)", () => act.zoom(1 / 1.25)),
    button("+", "Zoom in (+)", () => act.zoom(1.25)),
    button("Fit", "Fit the whole graph (0)", act.fit),
    button("Collapse all", "Collapse all groups but the model", act.collapse),
    copyButton(act),
    hasGradients && phases(act),
    note,
  );
}

/**
 * What the colours of boxes and bars mean.
 * @param {boolean} hasGradients
 */
export function legend(hasGradients) {
  const entries = hasGradients ? [...COLOURS, ...PARTS] : COLOURS;
  return h(
    "ul",
    { class: "graph-keys", "aria-label": "Colours" },
    entries.map(([name, text, title]) => h("li", { class: `graph-key ${name}`, title }, text)),
  );
}

/**
 * @param {string} text
 * @param {string} title
 * @param {() => void} onclick
 */
function button(text, title, onclick) {
  return h(
    "button",
    { class: "quiet-button", type: "button", title, "aria-label": title, onclick },
    text,
  );
}

/** @param {Actions} act */
function copyButton(act) {
  const found = button("Copy SVG", "Copy SVG: the picture as it is shown, without the page", () => {
    navigator.clipboard.writeText(act.copy()).then(
      () => (found.textContent = "Copied"),
      () => (found.textContent = "The browser does not allow it"),
    );
    setTimeout(() => (found.textContent = "Copy SVG"), 2000);
  });
  return found;
}

/** @param {Actions} act */
function phases(act) {
  const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));
  box.addEventListener("change", () => act.showPhases(box.checked));
  return h(
    "label",
    { class: "field", title: "Draw gradients as nodes of their own" },
    box,
    "All phases",
  );
}

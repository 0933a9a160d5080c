// The controls above a timeline: the step, what colours mean, and the legend.

import { fill, h } from "./dom.js";
import { COLOURINGS } from "./timeline_colours.js";
import { formatted } from "./units.js";

/** @typedef {import("./types.d.ts").TimelineData} TimelineData */
/** @typedef {import("./timeline_colours.js").Categories} Categories */

/**
 * @typedef {{
 *   showStep: (step: number) => void, fitAll: () => void, zoom: (isCloser: boolean) => void,
 *   colourBy: (key: string) => void, stepNow: () => number,
 * }} BarActions
 */

export class TimelineBar {
  /**
   * @param {TimelineData} data
   * @param {BarActions} actions
   */
  constructor(data, actions) {
    this.data = data;
    this.actions = actions;
    this.legend = h("ul", { class: "timeline-legend", "aria-label": "Colours" });
    this.menu = /** @type {HTMLSelectElement} */ (
      h("select", { "aria-label": "Step" }, h("option", { value: -1 }, "several"), this.choices())
    );
    this.menu.addEventListener("change", () => actions.showStep(Number(this.menu.value)));
    this.element = h(
      "div",
      { class: "timeline-bar" },
      h("div", { class: "timeline-buttons" }, this.stepButtons()),
      this.colourMenu(),
      this.legend,
    );
  }

  choices() {
    const { steps, recordings } = this.data;
    return Array.from(steps.number, (number, step) => {
      const where = recordings.length > 1 ? `${recordings[steps.recording[step]]} ` : "";
      const wall = formatted(steps.wall[step], "nanos");
      return h("option", { value: step }, `${where}${number} · ${wall}`);
    });
  }

  stepButtons() {
    const { steps } = this.data;
    const { fitAll, zoom, showStep } = this.actions;
    const scale = [
      button("−", "Zoom out (s)", () => zoom(false)),
      button("+", "Zoom in (w)", () => zoom(true)),
      button("Fit all", "Fit all (0)", fitAll),
    ];
    if (steps.number.length === 1) return scale;
    return [
      button("‹", "Previous step ([)", () => this.go(-1)),
      h("label", { class: "field" }, "Step", this.menu),
      button("›", "Next step (])", () => this.go(1)),
      button("Median step", "Show the median step", () => showStep(steps.medians[0])),
      ...scale,
    ];
  }

  /**
   * Show the step before or after the visible one.
   * @param {number} distance
   */
  go(distance) {
    const last = this.data.steps.number.length - 1;
    this.actions.showStep(Math.min(Math.max(this.actions.stepNow() + distance, 0), last));
  }

  colourMenu() {
    const choices = COLOURINGS.map(({ key, label }) => h("option", { value: key }, label));
    const menu = /** @type {HTMLSelectElement} */ (h("select", null, choices));
    menu.addEventListener("change", () => this.actions.colourBy(menu.value));
    return h("label", { class: "field" }, "Colour by", menu);
  }

  /** @param {Categories} categories */
  explain({ labels, colours }) {
    fill(this.legend, labels.map((label, place) => {
      const swatch = h("span", { class: "swatch" });
      swatch.style.backgroundColor = `var(${colours[place]})`;
      return h("li", null, swatch, h("bdi", null, label));
    }));
  }

  /** @param {number} step the step that the window shows, -1 if several */
  mark(step) {
    this.menu.value = String(step);
  }
}

/**
 * @param {string} text
 * @param {string} title
 * @param {() => void} onclick
 */
function button(text, title, onclick) {
  // Signs need words; words are their own name.
  const label = text.length === 1 ? title : null;
  const attributes = { class: "quiet-button", type: "button", title, "aria-label": label };
  return h("button", { ...attributes, onclick }, text);
}

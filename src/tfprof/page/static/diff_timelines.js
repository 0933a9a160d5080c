// Both timelines above each other on one time axis, which starts at a chosen step of each side.

import { TimelineSide } from "./diff_timeline_side.js";
import { h } from "./dom.js";
import { onThemeChange } from "./theme.js";
import { Tip } from "./timeline_hit.js";
import { attachKeys } from "./timeline_keys.js";
import { TimeWindow } from "./timeline_window.js";

/** @typedef {import("./diff_answers.js").DiffAnswer} DiffAnswer */
/** @typedef {import("./diff_types.d.ts").DiffContext} DiffContext */

/** How long the window must rest before it is kept in the URL, in milliseconds. */
const REST = 250;
const HINT = "Both start at the chosen steps. Click a run to select its row.";
const ZOOM = 0.6; // of buttons, and of the keys + and -

/** The colours of runs; phases have the colours of the report. */
const COLOURINGS = [
  { key: "change", label: "change" },
  { key: "phase", label: "phase" },
];

export class DiffTimelines {
  /**
   * @param {DiffContext} context
   * @param {NonNullable<DiffContext["payload"]["timelines"]>} timelines
   */
  constructor({ payload, store }, timelines) {
    this.store = store;
    this.colouring = COLOURINGS[0].key;
    /** @type {DiffAnswer | null} */
    this.answer = null;
    /** What the URL has. */
    this.placed = "";
    this.isPlacing = false;
    this.tip = new Tip();
    this.shown = new TimeWindow(0, 1, () => this.moved());
    this.sides = timelines.map((timeline, place) => {
      const side = ["Base", "New"][place];
      return new TimelineSide(side, payload.sides[place].name, timeline, this.shown, {
        select: (row) => store.set({ row }),
        chooseStep: (step) => this.chooseStep(place, step),
        painted: () => this.painted(),
        tip: this.tip,
      });
    });
    this.element = this.build();
    this.bound();
    this.place(store.state.timeline);
    this.listen();
    onThemeChange(this, (one) => one.retheme());
  }

  build() {
    const [base, other] = this.sides;
    return h(
      "section",
      { class: "timeline diff-timelines", "aria-label": "Timelines" },
      h(
        "div",
        { class: "timeline-bar" },
        h("h2", null, "Timelines"),
        h(
          "div",
          { class: "timeline-buttons" },
          this.button("−", "Zoom out (s)", () => this.zoom(false)),
          this.button("+", "Zoom in (w)", () => this.zoom(true)),
          this.button("Fit step", "Fit the chosen steps (0)", () => this.fitStep()),
        ),
        this.colourMenu(),
        h("p", { class: "quiet diff-hint" }, HINT),
      ),
      base.stage.axis,
      base.element,
      other.element,
      this.tip.element,
    );
  }

  /**
   * @param {string} text
   * @param {string} title
   * @param {() => void} onclick
   */
  button(text, title, onclick) {
    const label = text.length === 1 ? title : null;
    const attributes = { class: "quiet-button", type: "button", title, "aria-label": label };
    return h("button", { ...attributes, onclick }, text);
  }

  colourMenu() {
    const choices = COLOURINGS.map(({ key, label }) => h("option", { value: key }, label));
    const menu = /** @type {HTMLSelectElement} */ (h("select", null, choices));
    menu.addEventListener("change", () => {
      this.colouring = menu.value;
      this.colour();
    });
    return h("label", { class: "field" }, "Colour by", menu);
  }

  listen() {
    attachKeys({
      canvas: this.element,
      shown: this.shown,
      signal: new AbortController().signal,
      isActive: () => this.element.isConnected,
      pointer: () => this.pointerTime(),
      actions: {
        0: () => this.fitStep(),
        "+": () => this.zoom(true),
        "-": () => this.zoom(false),
      },
      arrows: {},
    });
  }

  /** The time below the pointer, or null. */
  pointerTime() {
    const [one, other] = this.sides.map((side) => side.pointerTime());
    return one ?? other;
  }

  /** The limits of the window are those of both sides. */
  bound() {
    const bounds = this.sides.map((side) => side.bounds());
    this.shown.begin = Math.min(...bounds.map(([first]) => first));
    this.shown.finish = Math.max(...bounds.map(([, last]) => last));
  }

  /**
   * @param {number} place
   * @param {number} step
   */
  chooseStep(place, step) {
    this.sides[place].align(step);
    this.bound();
    this.fitStep();
  }

  /** Show the longer one of the chosen steps. */
  fitStep() {
    this.shown.fit(0, Math.max(...this.sides.map(({ wall }) => wall)), { isSudden: true });
  }

  /** @param {boolean} isCloser */
  zoom(isCloser) {
    const { from, to } = this.shown;
    this.shown.zoom(isCloser ? ZOOM : 1 / ZOOM, (from + to) / 2);
  }

  moved() {
    this.tip.hide();
    for (const { stage } of this.sides ?? []) {
      stage.marks.hovered = -1;
      stage.draw();
    }
    this.note();
  }

  painted() {
    const { from, to } = this.shown;
    Object.assign(this.element.dataset, { from: Math.round(from), to: Math.round(to) });
  }

  /** Keep the steps and the window in the URL, once it has come to rest. */
  note() {
    if (this.isPlacing) return; // the URL has the words already
    this.store.setLater(() => ({ timeline: (this.placed = this.words()) }), REST);
  }

  /**
   * Show the steps and the window that a text describes.
   * @param {string} text
   */
  place(text) {
    this.placed = text;
    this.isPlacing = true;
    const numbers = text.split(",").map(Number);
    const [from, to] = numbers.slice(this.sides.length);
    this.sides.forEach((side, place) => {
      const count = side.timeline.data.steps.number.length;
      const step = numbers[place];
      const isKnown = text !== "" && Number.isInteger(step) && step >= 0 && step < count;
      side.align(isKnown ? step : side.timeline.data.steps.medians[0]);
    });
    this.bound();
    if (to > from) this.shown.show(from, to);
    else this.fitStep();
    this.isPlacing = false;
  }

  /**
   * @param {DiffAnswer | null} answer
   * @param {Set<string>} changed
   */
  update(answer, changed) {
    this.answer = answer;
    if (["view", "metric", "row"].some((key) => changed.has(key))) this.colour();
    const { timeline } = this.store.state;
    if (changed.has("timeline") && timeline !== this.placed) this.place(timeline);
  }

  words() {
    const [from, to] = [this.shown.from, this.shown.to].map(Math.round);
    return [...this.sides.map(({ step }) => step), from, to].join(",");
  }

  colour() {
    for (const side of this.sides) {
      side.colour(this.answer, this.colouring, this.store.state.row);
    }
  }

  retheme() {
    for (const { stage } of this.sides) stage.retheme();
    this.colour();
  }
}

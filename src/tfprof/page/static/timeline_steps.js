// The table of steps below a timeline. Only the rows in sight are elements, so that recordings of
// thousands of steps stay quick.

import { amount, fill, h } from "./dom.js";
import { PHASE_COLOURS } from "./phases.js";
import { PART_LABELS } from "./timeline_panel.js";
import { exact, formatted, percent } from "./units.js";

/** @typedef {import("./types.d.ts").TimelineData} TimelineData */

const ROW = 28; // the height of a row, as in the style sheet
const MOST_ROWS = 10; // in sight at once
const SPARE = 6; // rows above and below those in sight

/** @type {{ key: "wall" | "busy" | "idle" | "input_wait", label: string, title: string }[]} */
const TIMES = [
  {
    key: "wall",
    label: "wall",
    title: "From the start of the step to the start of the next one, or to the end of its last op",
  },
  { key: "busy", label: "busy", title: "Time in which at least one op or transfer ran" },
  { key: "idle", label: "idle", title: "The rest of the wall time" },
  {
    key: "input_wait",
    label: "input wait",
    title: "Waiting for the next element of the input pipeline, even while ops ran",
  },
];

export class StepTable {
  /**
   * @param {TimelineData} data
   * @param {(step: number) => void} choose
   */
  constructor(data, choose) {
    this.data = data;
    this.choose = choose;
    this.chosen = -1;
    this.causes = new Map(data.steps.unusual.map(({ step, causes }) => [step, causes]));
    this.medians = new Set(data.steps.medians.filter((step) => !isAlone(data, step)));
    this.body = h("tbody", null);
    this.scroller = h(
      "div",
      { class: "timeline-table", tabindex: -1 },
      h("table", { "aria-rowcount": this.count + 1 }, h("thead", null, this.head()), this.body),
    );
    this.scroller.style.maxHeight = `${(MOST_ROWS + 1) * ROW + 2}px`;
    this.scroller.addEventListener("scroll", () => this.show());
    this.body.addEventListener("keydown", (event) => this.move(event));
    this.element = h(
      "section",
      { class: "timeline-steps", "aria-label": "Steps" },
      h("h2", null, "Steps"),
      this.scroller,
    );
    this.show();
  }

  get count() {
    return this.data.steps.number.length;
  }

  head() {
    const cell = (/** @type {string} */ text, /** @type {Record<string, string>} */ attributes) =>
      h("th", { scope: "col", ...attributes }, text);
    return h(
      "tr",
      null,
      cell("step", {}),
      this.data.recordings.length > 1 && cell("recording", {}),
      TIMES.map(({ label, title }) => cell(label, { title, class: "number" })),
      cell("where the time goes", { class: "timeline-parts" }),
      this.causes.size > 0 && cell("unusual", {}),
    );
  }

  /** Create the rows in sight. */
  show() {
    const first = Math.max(Math.floor(this.scroller.scrollTop / ROW) - SPARE, 0);
    const last = Math.min(first + MOST_ROWS + 2 * SPARE, this.count);
    const rows = [];
    for (let step = first; step < last; step += 1) rows.push(this.row(step));
    fill(this.body, spacer(first), rows, spacer(this.count - last));
  }

  /** @param {number} step */
  row(step) {
    const { steps, recordings } = this.data;
    const isChosen = step === this.chosen;
    const isFirst = this.chosen < 0 && step === 0;
    const causes = this.causes.get(step);
    return h(
      "tr",
      {
        "aria-rowindex": step + 2,
        "aria-current": isChosen ? "true" : null,
        "data-step": step,
        onclick: () => this.choose(step),
      },
      h("th", { scope: "row" }, h(
        "button",
        { class: "link", type: "button", tabindex: isChosen || isFirst ? 0 : -1 },
        String(steps.number[step]),
      ), this.medians.has(step) && h("span", { class: "timeline-badge" }, "median")),
      recordings.length > 1 && h("td", null, h("bdi", null, recordings[steps.recording[step]])),
      TIMES.map(({ key }) => h("td", { class: "number" }, amount(
        formatted(steps[key][step], "nanos"), steps[key][step], { "data-field": key },
      ))),
      h("td", { class: "timeline-parts" }, this.bar(step)),
      this.causes.size > 0 && h("td", { class: "timeline-causes" }, causes && h(
        "span",
        { title: causes.join("\n") },
        h("span", { class: "timeline-badge timeline-badge-unusual" }, this.sign(step)),
        h("bdi", null, causes.join("; ")),
      )),
    );
  }

  /** @param {number} step */
  sign(step) {
    const { steps } = this.data;
    const median = steps.medians.find((one) => steps.recording[one] === steps.recording[step]);
    return median !== undefined && steps.wall[step] < steps.wall[median] ? "shorter" : "longer";
  }

  /**
   * The parts of a step's wall time as one bar.
   * @param {number} step
   */
  bar(step) {
    const { phases, wall } = this.data.steps;
    const parts = Object.entries(phases).filter(([, values]) => values[step] > 0);
    const label = parts.map(
      ([key, values]) => `${PART_LABELS[key]} ${percent(values[step], wall[step])}`,
    );
    const pieces = parts.map(([key, values]) => {
      const share = percent(values[step], wall[step]);
      const piece = h("span", {
        title: `${PART_LABELS[key]}: ${exact(values[step], "nanos")}, ${share}`,
      });
      piece.style.flexGrow = String(values[step] / wall[step]);
      piece.style.backgroundColor = `var(${PHASE_COLOURS[key]})`;
      return piece;
    });
    const attributes = { class: "timeline-bar-parts", role: "img", "aria-label": label.join(", ") };
    return h("div", attributes, pieces);
  }

  /**
   * Mark a step, -1 for none, and scroll to it.
   * @param {number} step
   */
  mark(step) {
    if (step === this.chosen) return;
    const hadFocus = this.body.contains(document.activeElement);
    this.chosen = step;
    this.reveal();
    if (hadFocus) this.button(step)?.focus();
  }

  /** Scroll to the marked step, which is possible only while the table is in the page. */
  reveal() {
    const top = this.chosen * ROW;
    const { scrollTop } = this.scroller;
    const isInSight = top >= scrollTop && top <= scrollTop + (MOST_ROWS - 1) * ROW;
    if (top >= 0 && !isInSight) this.scroller.scrollTop = top - (MOST_ROWS / 2) * ROW;
    this.show();
  }

  /** @param {number} step */
  button(step) {
    return /** @type {HTMLElement | null} */ (
      this.body.querySelector(`[data-step="${step}"] button`)
    );
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const distance = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (distance === undefined) return;
    const next = Math.min(Math.max(this.chosen + distance, 0), this.count - 1);
    this.choose(next);
    event.preventDefault();
    event.stopPropagation();
  }
}

/**
 * Whether a step is the only one of its recording.
 * @param {TimelineData} data
 * @param {number} step
 */
function isAlone({ steps: { recording } }, step) {
  return recording.filter((one) => one === recording[step]).length === 1;
}

/** @param {number} rows */
function spacer(rows) {
  if (rows <= 0) return null;
  const cell = h("td", null);
  cell.style.height = `${rows * ROW}px`;
  return h("tr", { "aria-hidden": "true", class: "timeline-spacer" }, cell);
}

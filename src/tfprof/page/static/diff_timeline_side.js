// The timeline of one side of a diff page.

import { colourName, EVERY_LEVEL, levelOf, MOST } from "./diff_colours.js";
import { h, nameOf } from "./dom.js";
import { COLOURINGS, faint, ink } from "./timeline_colours.js";
import { hitAt } from "./timeline_hit.js";
import { timelineNotes } from "./timeline_notes.js";
import { attachPointer } from "./timeline_pointer.js";
import { Runs } from "./timeline_runs.js";
import { ShiftedWindow } from "./timeline_shift.js";
import { Stage } from "./timeline_stage.js";
import { formatted } from "./units.js";

/** @typedef {import("./diff_answers.js").DiffAnswer} DiffAnswer */
/** @typedef {import("./diff_types.d.ts").DiffTimeline} DiffTimeline */
/** @typedef {import("./types.d.ts").Ops} Ops */
/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").ViewKind} ViewKind */

/** How far an arrow key moves, as a share of the window. */
const MOVE = 0.1;
/** Grey runs are darker than grey blocks, so that they can be told from gaps and faint runs. */
const INKS = EVERY_LEVEL.map((level) => (level === 0 ? "--share-0" : `--${colourName(level)}`));
const KEYS = "Arrow keys move, w and s zoom, 0 fits the step.";

/**
 * What the side does with the pointer: `select` gets a row.
 * @typedef {{
 *   select: (row: number) => void,
 *   chooseStep: (step: number) => void,
 *   painted: () => void,
 *   tip: import("./timeline_hit.js").Tip,
 * }} SideActions
 */

export class TimelineSide {
  /**
   * @param {string} side `Base` or `New`
   * @param {string} name of the profile
   * @param {DiffTimeline} timeline
   * @param {import("./timeline_window.js").TimeWindow} shared
   * @param {SideActions} actions
   */
  constructor(side, name, timeline, shared, actions) {
    this.timeline = timeline;
    this.actions = actions;
    this.runs = new Runs(timeline.data, /** @type {Ops} */ (timeline.ops));
    this.step = timeline.data.steps.medians[0];
    this.shown = new ShiftedWindow(shared, this.start);
    this.stage = new Stage(this.runs, this.shown, actions.painted, () => ({
      start: this.start, label: "in the step",
    }));
    /** @type {Int32Array} the row of each run in the current view, -1 if none */
    this.rowOf = new Int32Array(this.runs.count);
    this.menu = this.stepMenu(side);
    this.element = this.build(side, name);
    this.followPointer();
  }

  /** When the chosen step started. */
  get start() {
    return this.timeline.data.steps.start[this.step];
  }

  /** How long the chosen step took. */
  get wall() {
    return this.timeline.data.steps.wall[this.step];
  }

  /**
   * The first start and the last end of everything, counted from the chosen step.
   * @returns {[number, number]}
   */
  bounds() {
    const [first, last] = this.runs.bounds();
    return [first - this.start, last - this.start];
  }

  /** @param {string} side */
  stepMenu(side) {
    const { steps, recordings } = this.timeline.data;
    const choices = Array.from(steps.number, (number, step) => {
      const where = recordings.length > 1 ? `${recordings[steps.recording[step]]} ` : "";
      const wall = formatted(steps.wall[step], "nanos");
      return h("option", { value: step }, `${where}${number} · ${wall}`);
    });
    const menu = /** @type {HTMLSelectElement} */ (
      h("select", { "aria-label": `Step of the ${side.toLowerCase()} profile` }, choices)
    );
    menu.addEventListener("change", () => this.actions.chooseStep(Number(menu.value)));
    return menu;
  }

  /**
   * @param {string} side
   * @param {string} name
   */
  build(side, name) {
    const { overlay, scroller } = this.stage;
    overlay.tabIndex = 0;
    overlay.setAttribute("role", "application");
    overlay.setAttribute("aria-label", `Timeline of the ${side.toLowerCase()} profile. ${KEYS}`);
    overlay.addEventListener("keydown", (event) => this.pressed(event));
    return h(
      "div",
      { class: "diff-side", "data-side": side.toLowerCase() },
      h(
        "div",
        { class: "diff-side-head" },
        h("h3", null, `${side}: `, nameOf(name)),
        h("label", { class: "field" }, "Step", this.menu),
      ),
      scroller,
      timelineNotes(this.timeline.data),
    );
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (direction === undefined) return;
    this.shown.pan(direction * MOVE * this.shown.length);
    event.preventDefault();
  }

  followPointer() {
    const { stage, shown } = this;
    attachPointer({
      canvas: stage.overlay,
      ruler: stage.ruler,
      shown,
      hover: (x, y) => this.hover(x, y),
      leave: () => this.leave(),
      click: (x, y) => this.click(x, y),
      open: (x, y) => this.click(x, y),
      measure: (from, to) => this.measure(from, to),
      scroll: (pixels) => stage.scroller.scrollBy(0, pixels),
    });
    new ResizeObserver(() => stage.draw()).observe(stage.sheet);
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  measure(from, to) {
    this.stage.marks.range = { from, to };
    this.stage.drawMarks();
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  hover(x, y) {
    const { stage, runs, actions: { tip } } = this;
    const hit = hitAt(stage.scene(), x, y);
    Object.assign(stage.marks, { hovered: hit ? hit.run : -1, pointer: x });
    const box = stage.overlay.getBoundingClientRect();
    if (hit) tip.show(runs, hit, box.left + x, box.top + y);
    else tip.hide();
    stage.drawMarks();
  }

  leave() {
    this.actions.tip.hide();
    Object.assign(this.stage.marks, { hovered: -1, pointer: null });
    this.stage.drawMarks();
  }

  /**
   * Select the row of the run, or show the step, that is at a place.
   * @param {number} x
   * @param {number} y
   */
  click(x, y) {
    const hit = hitAt(this.stage.scene(), x, y);
    this.stage.marks.range = null;
    if (hit && hit.step >= 0) this.actions.chooseStep(hit.step);
    else if (hit && this.rowOf[hit.run] >= 0) this.actions.select(this.rowOf[hit.run]);
    this.stage.drawMarks();
  }

  /** The time below the pointer in the shared window, or null. */
  pointerTime() {
    const { stage, shown } = this;
    const x = stage.marks.pointer;
    return x === null ? null : shown.shared.from + (x / stage.sheet.clientWidth) * shown.length;
  }

  /**
   * Align at another step.
   * @param {number} step
   */
  align(step) {
    this.step = step;
    this.shown.offset = this.start;
    this.menu.value = String(step);
  }

  /**
   * Colour the runs by the change of their rows, or by phase; those of other rows than the selected
   * one are faint.
   * @param {DiffAnswer | null} answer null if the view has no rows
   * @param {string} colouring
   * @param {number} selected
   */
  colour(answer, colouring, selected) {
    const row = answer && this.timeline.row[answer.view.kind];
    this.rowOf = this.runs.op.map((op) => (row === null || op < 0 ? -1 : row[op]));
    const isByChange = answer !== null && colouring === "change";
    const { of, colours } = isByChange ? this.byChange(answer) : this.byPhase();
    const inks = colours.map(ink);
    if (!answer || selected <= 0) {
      this.stage.colour(of, inks);
      return;
    }
    const end = answer.view.end[selected];
    const places = of.map((place, run) =>
      (this.isWithin(run, selected, end) ? place : place + inks.length));
    this.stage.colour(places, [...inks, ...colours.map(faint)]);
  }

  /**
   * Whether a run belongs to a row or one below it.
   * @param {number} run
   * @param {number} row
   * @param {number} end of the rows below it
   */
  isWithin(run, row, end) {
    return this.rowOf[run] >= row && this.rowOf[run] < end;
  }

  /** @param {DiffAnswer} answer */
  byChange(answer) {
    const levels = Uint8Array.from(answer.view.end, (_, row) => levelOf(answer, row) + MOST);
    const of = new Uint8Array(this.runs.count);
    this.rowOf.forEach((row, run) => void (of[run] = row < 0 ? MOST : levels[row]));
    return { of, colours: INKS };
  }

  byPhase() {
    const payload = /** @type {Payload} */ (/** @type {unknown} */ ({ ops: this.timeline.ops }));
    return COLOURINGS[0].of(payload, this.runs);
  }
}

// What is selected in a timeline: a run, a step or a range of time. The picture, the table of steps
// and the details follow it.

import { fill, h } from "./dom.js";
import { rangeDetails, runDetails } from "./timeline_details.js";
import { flowsOf } from "./timeline_flows.js";
import { hints } from "./timeline_hints.js";
import { measured } from "./timeline_measure.js";
import { firstVisible, runOf } from "./timeline_neighbours.js";
import { stepDetails } from "./timeline_step_details.js";
import { formatted, percent } from "./units.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./timeline_runs.js").Runs} Runs */
/** @typedef {import("./timeline_stage.js").Stage} Stage */
/** @typedef {import("./timeline_window.js").TimeWindow} TimeWindow */
/** @typedef {import("./timeline_measure.js").Measured} Measured */

/**
 * @typedef {{
 *   context: Context, runs: Runs, shown: TimeWindow, stage: Stage,
 *   mark: (step: number) => void, changed: () => void,
 * }} Parts
 */

/** The room beside a run that is fitted, as a multiple of its length. */
const RUN_MARGIN = 1.5;
const NONE = -1;

export class Selection {
  /** @param {Parts} parts */
  constructor({ context, runs, shown, stage, mark, changed }) {
    this.context = context;
    this.runs = runs;
    this.shown = shown;
    this.stage = stage;
    this.mark = mark;
    this.changed = changed;
    this.steps = runs.data.steps;
    this.live = h("p", { class: "timeline-live", "aria-live": "polite" });
    this.details = h("aside", { class: "timeline-details", "aria-label": "Details" });
    this.run = NONE;
    this.step = NONE;
    /** @type {Measured | null} */
    this.range = null;
    this.hasArrows = false;
  }

  /**
   * Select a run, and move the window to it if it is elsewhere.
   * @param {number} run
   */
  select(run) {
    const { runs, shown } = this;
    this.replace({ run });
    this.context.store.set({ op: Math.max(runs.op[run], NONE), row: NONE });
    this.stage.reveal(runs.laneOf(run));
    if (runs.end[run] < shown.from || runs.start[run] > shown.to) {
      const middle = (runs.start[run] + runs.end[run]) / 2;
      shown.glide(middle - shown.length / 2, middle + shown.length / 2);
    }
    const step = runs.step[run];
    fill(this.live, `${runs.name(run)}, ${formatted(runs.duration(run), "nanos")}, `
    + `${percent(runs.duration(run), this.steps.wall[step])} of step ${this.steps.number[step]}`);
    this.changed();
  }

  /**
   * Select a run of the op that was selected in another view.
   * @param {number} op
   * @param {number} step the visible one
   */
  follow(op, step) {
    if (op < 0 || (this.run >= 0 && this.runs.op[this.run] === op)) return;
    const run = runOf(this.runs, op, [step, ...this.steps.medians]);
    if (run >= 0) this.select(run);
  }

  /**
   * Select a run beside the selected one, or the first visible run.
   * @param {(runs: Runs, run: number, distance: number) => number} find
   * @param {number} distance
   */
  selectBeside(find, distance) {
    const { runs, run, shown } = this;
    const next = run < 0 ? firstVisible(runs, shown.from, shown.to) : find(runs, run, distance);
    if (next >= 0) this.select(next);
  }

  /**
   * Select a step and show it.
   * @param {number} step
   * @param {{ isSudden?: boolean }} [how] whether to skip the animation
   */
  showStep(step, how) {
    const { start, wall } = this.steps;
    this.shown.fit(start[step], start[step] + wall[step], how);
    this.replace({ step });
  }

  /**
   * Select a range of time.
   * @param {number} from
   * @param {number} to
   */
  measure(from, to) {
    // A selected run stays: its frame helps to compare.
    this.range = measured(this.runs, Math.round(from), Math.round(to));
    this.describe();
  }

  clear() {
    this.replace({});
    this.context.store.set({ op: NONE, row: NONE });
    this.changed();
  }

  /** Show all of what is selected, or of the visible step. */
  fit() {
    const { runs, run, range, shown } = this;
    if (range) shown.fit(range.from, range.to);
    else if (this.step >= 0) this.showStep(this.step);
    else if (run >= 0) shown.fit(runs.start[run], runs.end[run], { margin: RUN_MARGIN });
    else this.showStep(this.steps.medians[0]);
  }

  /** @param {boolean} isOn */
  setArrows(isOn) {
    this.hasArrows = isOn;
    this.describe();
  }

  /** @param {{ run?: number, step?: number }} selected */
  replace({ run = NONE, step = NONE }) {
    this.run = run;
    this.step = step;
    this.range = null;
    this.describe();
  }

  /** Show what is selected everywhere. */
  describe() {
    const { runs, run, step, range } = this;
    const flows = this.hasArrows && run >= 0 ? flowsOf(runs, run) : null;
    const parts = this.parts(flows);
    fill(this.details, parts, hints(this.context, parts.length === 0));
    this.mark(step < 0 && run >= 0 ? runs.step[run] : step);
    Object.assign(this.stage.marks, { selected: run, range, flows });
    this.stage.drawMarks();
  }

  /** @param {import("./timeline_flows.js").Flows | null} flows */
  parts(flows) {
    const { context, runs } = this;
    const actions = {
      select: (/** @type {number} */ run) => this.select(run),
      fit: () => this.fit(),
      clear: () => this.clear(),
      setArrows: (/** @type {boolean} */ isOn) => this.setArrows(isOn),
    };
    if (this.range) return rangeDetails(runs, this.range, actions).flat();
    if (this.step >= 0) return stepDetails(context, runs, this.step, actions).flat();
    return this.run < 0 ? [] : runDetails(context, runs, this.run, actions, flows).flat();
  }
}

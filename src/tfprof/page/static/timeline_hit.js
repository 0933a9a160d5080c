// What is at a place of the picture: a run, several narrow ones, or a step.

import { fill, h, nameOf } from "./dom.js";
import { rowAt } from "./timeline_layout.js";
import { stepAt } from "./timeline_ruler.js";
import { formatted, percent } from "./units.js";

/** @typedef {import("./timeline_paint.js").Scene} Scene */
/** @typedef {import("./timeline_runs.js").Runs} Runs */

/**
 * The longest run near a place, the number of runs there, and how long they last within `nanos`.
 * @typedef {{ run: number, count: number, busy: number, nanos: number, step: number }} Hit
 */

const NEAR = 2; // in pixels to both sides

/**
 * @param {Scene} scene
 * @param {number} x
 * @param {number} y
 * @returns {Hit | null}
 */
export function hitAt(scene, x, y) {
  const row = rowAt(scene.rows, y + scene.scroll);
  const pixel = (scene.to - scene.from) / scene.width;
  const time = scene.from + x * pixel;
  if (!row) return null;
  if (row.kind === "lane") {
    const exact = runsAt(scene.runs, row.lane, time, time + pixel / 2);
    if (exact && exact.count === 1) return exact;
    return runsAt(scene.runs, row.lane, time - NEAR * pixel, time + NEAR * pixel);
  }
  if (row.kind !== "steps") return null;
  const step = stepAt(scene.runs.data.steps, time, row.recording);
  return step < 0 ? null : { run: -1, count: 0, busy: 0, nanos: 0, step };
}

/**
 * @param {Runs} runs
 * @param {number} lane
 * @param {number} from
 * @param {number} to
 * @returns {Hit | null}
 */
function runsAt(runs, lane, from, to) {
  const last = runs.laneFirst[lane + 1];
  const found = { run: -1, count: 0, busy: 0, nanos: to - from, step: -1 };
  for (let run = runs.firstAfter(lane, from); run < last && runs.start[run] <= to; run += 1) {
    found.count += 1;
    found.busy += Math.max(Math.min(runs.end[run], to) - Math.max(runs.start[run], from), 0);
    if (found.run < 0 || runs.duration(run) > runs.duration(found.run)) found.run = run;
  }
  return found.run < 0 ? null : found;
}

/** A box beside the pointer that describes what is there. */
export class Tip {
  constructor() {
    this.element = h("div", { class: "timeline-tip", hidden: true, "aria-hidden": "true" });
  }

  /**
   * @param {Runs} runs
   * @param {Hit} hit
   * @param {number} x in the window
   * @param {number} y
   */
  show(runs, hit, x, y) {
    fill(this.element, hit.step >= 0 ? stepLines(runs, hit.step) : runLines(runs, hit));
    this.element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const left = x + 14 + width > innerWidth ? Math.max(x - 14 - width, 4) : x + 14;
    this.element.style.left = `${left}px`;
    this.element.style.top = `${y + 18 + height > innerHeight ? y - 12 - height : y + 18}px`;
  }

  hide() {
    this.element.hidden = true;
  }
}

/**
 * @param {Runs} runs
 * @param {Hit} hit
 */
function runLines(runs, { run, count, busy, nanos }) {
  const { ops } = runs;
  const op = runs.op[run];
  const kind = op < 0 ? "" : `${ops.kind.values.get(ops.kind.codes[op])} · `;
  const others = count - 1;
  return [
    others > 0 && h(
      "p",
      { class: "quiet" },
      `${count.toLocaleString("en-US")} runs here, busy ${percent(busy, nanos)}; the longest:`,
    ),
    h("p", null, nameOf(runs.name(run))),
    h("p", { class: "quiet" }, `${kind}${formatted(runs.duration(run), "nanos")}`),
  ];
}

/**
 * @param {Runs} runs
 * @param {number} step
 */
function stepLines({ data: { steps } }, step) {
  const causes = steps.unusual.find((one) => one.step === step)?.causes ?? [];
  return [
    h("p", null, `step ${steps.number[step]}`),
    h(
      "p",
      { class: "quiet" },
      `wall ${formatted(steps.wall[step], "nanos")} · busy ${formatted(steps.busy[step], "nanos")}`,
    ),
    ...causes.map((cause) => h("p", null, h("bdi", null, cause))),
  ];
}

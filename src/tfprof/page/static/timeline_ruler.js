// The time axis: ticks at round times, counted from the start of the step in the middle of the
// window, or from the start of the recording if the window shows several steps.

import { resized } from "./timeline_paint.js";

/** @typedef {import("./types.d.ts").TimelineSteps} TimelineSteps */
/** @typedef {import("./timeline_paint.js").Scene} Scene */

/** @type {[number, string][]} */
const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const LEAST_GAP = 84; // between ticks, in CSS pixels
/** A window of more than this many steps is counted from the start of the recording. */
const MOST_STEPS = 1.6;

/**
 * @typedef {{ start: number, label: string }} Origin
 */

/**
 * Where the ticks of a window count from.
 * @param {TimelineSteps} steps
 * @param {number} from
 * @param {number} to
 * @returns {Origin}
 */
export function originOf(steps, from, to) {
  const step = shownStep(steps, from, to);
  if (step < 0) return { start: 0, label: "from the start" };
  return { start: steps.start[step], label: `in step ${steps.number[step]}` };
}

/**
 * The step that a window shows, -1 if it shows several.
 * @param {TimelineSteps} steps
 * @param {number} from
 * @param {number} to
 */
export function shownStep(steps, from, to) {
  const step = stepAt(steps, (from + to) / 2);
  return step >= 0 && to - from <= MOST_STEPS * steps.wall[step] ? step : -1;
}

/**
 * The step that a time belongs to, -1 if none.
 * @param {TimelineSteps} steps
 * @param {number} time
 * @param {number} [recording] any if it is -1
 */
export function stepAt(steps, time, recording = -1) {
  for (let step = 0; step < steps.number.length; step += 1) {
    const isHere = recording < 0 || steps.recording[step] === recording;
    const start = steps.start[step];
    if (isHere && time >= start && time < start + steps.wall[step]) return step;
  }
  return -1;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Scene} scene
 * @param {number} height
 * @param {number} start where the ticks count from
 */
export function paintRuler(canvas, scene, height, start) {
  const { from, to, ratio, theme, font } = scene;
  const { width, height: tall } = resized(canvas, scene, height);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const gap = roundGap((LEAST_GAP * (to - from)) / scene.width);
  context.clearRect(0, 0, width, tall);
  context.font = `${11 * ratio}px ${font}`;
  context.textBaseline = "middle";
  for (let tick = Math.ceil((from - start) / gap); tick * gap + start <= to; tick += 1) {
    const x = Math.round(((tick * gap + start - from) / (to - from)) * width);
    context.fillStyle = theme["line"].css;
    context.fillRect(x, Math.round(tall / 2), 1, tall);
    context.fillStyle = theme["quiet"].css;
    const text = tickLabel(tick * gap, gap);
    const isWhole = x + 4 * ratio + context.measureText(text).width <= width;
    if (isWhole) context.fillText(text, x + 4 * ratio, tall / 2);
  }
}

/**
 * The smallest round number of nanoseconds that is at least `least`.
 * @param {number} least
 */
export function roundGap(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return power * ([1, 2, 5, 10].find((digit) => digit * power >= least) ?? 10);
}

/**
 * A time with as many decimals as the gap between ticks needs.
 * @param {number} time
 * @param {number} gap
 */
export function tickLabel(time, gap) {
  if (time === 0) return "0";
  const size = Math.max(Math.abs(time), gap);
  const [scale, suffix] = UNITS.find(([unit]) => size >= unit) ?? UNITS[3];
  const decimals = Math.max(Math.round(Math.log10(scale) - Math.floor(Math.log10(gap))), 0);
  return `${(time / scale).toFixed(decimals)}\u00a0${suffix}`;
}

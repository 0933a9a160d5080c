// The map above a timeline: how busy devices were over the whole recording, and the visible part,
// which can be dragged and resized. Long steps and pauses are shortened, so that one slow first
// step does not make all others too narrow to see.

import { h } from "./dom.js";
import { formatted } from "./units.js";

/** @typedef {import("./timeline_runs.js").Runs} Runs */
/** @typedef {import("./timeline_window.js").TimeWindow} TimeWindow */
/** @typedef {import("./timeline_paint.js").Scene} Scene */
/** @typedef {import("./types.d.ts").TimelineSteps} TimelineSteps */

const HEIGHT = 52;
const LABELS = 16; // the height of the step numbers
const LEAST_NUMBER = 16; // the width of a step that shows its number
const LEAST_STEP = 6; // the width of a step whose start is marked
const LEAST_WINDOW = 6;
/** Intervals longer than this many median steps are shortened. */
const LONGEST = 4;
/** The median is taken to be at least this long, in nanoseconds. */
const SHORTEST = 20;
/** With more devices than this, the map shows their average. */
const MOST_STRIPS = 4;

/** Places of times on the map, from 0 to 1. */
export class MapScale {
  /**
   * @param {TimelineSteps} steps
   * @param {number} begin
   * @param {number} finish
   */
  constructor(steps, begin, finish) {
    const ends = Array.from(steps.start, (start, step) => start + steps.wall[step]);
    const known = [...steps.start, ...ends].filter((time) => time > begin && time < finish);
    this.times = [...new Set([begin, ...known, finish])].sort((one, other) => one - other);
    const walls = Float64Array.from(steps.wall).sort();
    const longest = LONGEST * Math.max(walls[(walls.length - 1) >> 1], SHORTEST);
    /**
     * The intervals that are shortened.
     * @type {[number, number][]}
     */
    this.shortened = [];
    this.places = [0];
    for (let row = 1; row < this.times.length; row += 1) {
      const length = this.times[row] - this.times[row - 1];
      if (length > longest) this.shortened.push([this.times[row - 1], this.times[row]]);
      this.places.push(this.places[row - 1] + Math.min(length, longest));
    }
    const whole = this.places[this.places.length - 1];
    this.places = this.places.map((place) => place / whole);
    if (this.times.length === 2) this.shortened = [];
  }

  /** @param {number} time */
  place(time) {
    return interpolated(this.times, this.places, time);
  }

  /** @param {number} place */
  time(place) {
    return interpolated(this.places, this.times, place);
  }
}

/**
 * @param {number[]} known ascending
 * @param {number[]} values
 * @param {number} wanted
 */
function interpolated(known, values, wanted) {
  let [low, high] = [0, known.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (known[middle] <= wanted) low = middle;
    else high = middle;
  }
  const share = (wanted - known[low]) / (known[high] - known[low]);
  return values[low] + (values[high] - values[low]) * Math.min(Math.max(share, 0), 1);
}

export class TimelineMap {
  /**
   * @param {Runs} runs
   * @param {TimeWindow} shown
   */
  constructor(runs, shown) {
    this.runs = runs;
    this.shown = shown;
    this.scale = new MapScale(runs.data.steps, shown.begin, shown.finish);
    this.canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "timeline-map-canvas" }));
    this.frame = h(
      "div",
      { class: "timeline-frame" },
      h("div", { class: "timeline-handle", "data-side": "from" }),
      h("div", { class: "timeline-handle", "data-side": "to" }),
    );
    const title = this.note();
    const attributes = { class: "timeline-map", "aria-hidden": "true", title };
    this.element = h("div", attributes, this.canvas, this.frame);
    this.element.addEventListener("pointerdown", (event) => this.grab(event));
  }

  note() {
    const { shortened } = this.scale;
    if (shortened.length === 0) return "";
    const lengths = shortened.slice(0, 3).map(([from, to]) => formatted(to - from, "nanos"));
    const others = shortened.length > 3 ? `, and ${shortened.length - 3} more` : "";
    return `Hatched parts are drawn shorter than they are: ${lengths.join(", ")}${others}.`;
  }

  /** Place the frame around the visible window. */
  move() {
    const { shown, scale } = this;
    const width = this.element.clientWidth;
    const [from, to] = [shown.from, shown.to].map((time) => scale.place(time) * width);
    const extra = Math.max(LEAST_WINDOW - (to - from), 0) / 2;
    this.frame.style.left = `${from - extra}px`;
    this.frame.style.width = `${to - from + 2 * extra}px`;
  }

  /** @param {PointerEvent} event */
  grab(event) {
    if (event.button !== 0) return;
    const target = /** @type {HTMLElement} */ (event.target);
    const box = this.element.getBoundingClientRect();
    const timeAt = (/** @type {PointerEvent} */ one) =>
      this.scale.time((one.clientX - box.left) / box.width);
    const { from, to } = this.shown;
    const begun = timeAt(event);
    const side = target.dataset["side"];
    const isFrame = target === this.frame;

    const drag = (/** @type {PointerEvent} */ one) => {
      const time = timeAt(one);
      if (side === "from") this.shown.show(Math.min(time, to - 1), to);
      else if (side === "to") this.shown.show(from, Math.max(time, from + 1));
      else if (isFrame) this.shown.show(from + time - begun, to + time - begun);
      else if (Math.abs(one.clientX - event.clientX) > 3) {
        this.shown.show(Math.min(begun, time), Math.max(begun, time));
      }
    };
    const drop = (/** @type {PointerEvent} */ one) => {
      removeEventListener("pointermove", drag);
      removeEventListener("pointerup", drop);
      const isClick = Math.abs(one.clientX - event.clientX) <= 3;
      const half = (to - from) / 2;
      if (isClick && !side && !isFrame) this.shown.glide(begun - half, begun + half);
    };
    addEventListener("pointermove", drag);
    addEventListener("pointerup", drop);
    event.preventDefault();
  }

  /**
   * Draw everything except the frame.
   * @param {Scene} scene
   */
  paint(scene) {
    const { ratio, font } = scene;
    const width = Math.round(this.element.clientWidth * ratio);
    const height = Math.round(HEIGHT * ratio);
    Object.assign(this.canvas, { width, height });
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    context.font = `${10 * ratio}px ${font}`;
    context.textBaseline = "middle";
    this.paintBusy(context, scene);
    this.paintShortened(context, scene);
    this.paintSteps(context, scene);
  }

  /**
   * Lines where steps start, their numbers, and marks of unusual ones. Steps whose runs the page
   * does not have are grey, so that they do not look idle.
   * @param {CanvasRenderingContext2D} context
   * @param {Scene} scene
   */
  paintSteps(context, { ratio, theme, unusual }) {
    const { number, start, wall, whole } = this.runs.data.steps;
    const { width, height } = this.canvas;
    const order = [...start.keys()].sort((one, other) => start[one] - start[other]);
    let free = -Infinity; // from here on there is room for a number
    for (const step of order) {
      const [left, right] = [start[step], start[step] + wall[step]].map(
        (time) => Math.round(this.scale.place(time) * width),
      );
      const own = Math.max(right - left - ratio, ratio);
      context.fillStyle = theme["missing"].css;
      if (whole[step] !== 1) context.fillRect(left, LABELS * ratio, own, height);
      context.fillStyle = theme["mark"].css;
      if (unusual.has(step)) context.fillRect(left, (LABELS - 3) * ratio, own, 2 * ratio);
      context.fillStyle = theme["line"].css;
      if (right - left >= LEAST_STEP * ratio) context.fillRect(left, 0, 1, height);
      if (right - left <= LEAST_NUMBER * ratio || left < free) continue;
      context.fillStyle = theme["quiet"].css;
      context.fillText(String(number[step]), left + 4 * ratio, (LABELS / 2) * ratio);
      free = left + LEAST_NUMBER * ratio;
    }
  }

  /**
   * Busy shares, one strip per device or their average.
   * @param {CanvasRenderingContext2D} context
   * @param {Scene} scene
   */
  paintBusy(context, { ratio, theme }) {
    const groups = this.runs.busy.map((_, group) => group);
    const strips = groups.length <= MOST_STRIPS ? groups.map((group) => [group]) : [groups];
    const [width, top] = [this.canvas.width, LABELS * ratio];
    const height = (this.canvas.height - top) / strips.length;
    context.fillStyle = theme["busy"].css;
    strips.forEach((strip, place) => {
      const base = Math.round(top + (place + 1) * height);
      for (let x = 0; x < width; x += 1) {
        const [from, to] = [this.scale.time(x / width), this.scale.time((x + 1) / width)];
        const busy = strip.reduce((sum, group) => sum + this.runs.busyWithin(group, from, to), 0);
        const share = busy / (to - from) / strip.length;
        const own = share > 0 ? Math.max(Math.round(share * (height - 2 * ratio)), 1) : 0;
        if (own > 0) context.fillRect(x, base - own, 1, own);
      }
    });
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Scene} scene
   */
  paintShortened(context, { ratio, theme }) {
    context.strokeStyle = theme["line"].css;
    context.lineWidth = ratio;
    for (const [from, to] of this.scale.shortened) {
      const [left, right] = [from, to].map((time) => this.scale.place(time) * this.canvas.width);
      context.save();
      context.beginPath();
      context.rect(left, LABELS * ratio, right - left, this.canvas.height);
      context.clip();
      context.beginPath();
      for (let x = left - this.canvas.height; x < right; x += 8 * ratio) {
        context.moveTo(x, this.canvas.height);
        context.lineTo(x + this.canvas.height, 0);
      }
      context.stroke();
      context.restore();
    }
  }
}

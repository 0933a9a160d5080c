// The picture of memory over time: bands that add up to the curve, the peak and a chosen time.

import { fill, h } from "./dom.js";
import { colour } from "./theme.js";
import { formatted } from "./units.js";
import { uPlot } from "./vendor/uplot.js";

/** @typedef {import("./types.d.ts").Numbers} Numbers */

/**
 * What to draw. Columns have a value for each time, which holds until the next one.
 * @typedef {object} Picture
 * @property {Numbers} times
 * @property {Numbers} total
 * @property {Float64Array[]} bands add up to `total`; empty if unknown
 * @property {(number | null)[] | null} levels the allocator's own count
 * @property {number} peak the time of the peak
 */

const HEIGHT = 300;
// The mouse may move this far during a click, in pixels.
const STILL = 3;

/** A chart of memory over time, in which a time can be chosen. */
export class Curve {
  /** @param {(time: number) => void} onPick called with the time that the reader chooses */
  constructor(onPick) {
    this.onPick = onPick;
    this.time = 0;
    this.peakColour = "";
    this.timeColour = "";
    /** @type {Picture | null} */
    this.picture = null;
    /** @type {uPlot | null} */
    this.plot = null;
    this.readout = h("div", { class: "memory-readout", "aria-hidden": "true" });
    this.element = h(
      "div",
      {
        class: "memory-curve",
        role: "slider",
        tabindex: 0,
        "aria-label": "Time in the step; left and right arrows move to the next change",
        "aria-orientation": "horizontal",
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.move(event),
      },
      this.readout,
    );
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.element);
    this.listening = new AbortController();
    const { signal } = this.listening;
    addEventListener("themechange", () => this.draw(), { signal });
    matchMedia("(prefers-color-scheme: dark)")
      .addEventListener("change", () => this.draw(), { signal });
  }

  /** Stop following the window, which would keep the chart alive. */
  dispose() {
    this.listening.abort();
    this.observer.disconnect();
    this.plot?.destroy();
  }

  /** @param {Picture} picture */
  show(picture) {
    this.picture = picture;
    this.draw();
  }

  /**
   * Mark a time.
   * @param {number} time
   * @param {string} text what the chart shows at that time
   */
  mark(time, text) {
    this.time = time;
    const { times } = this.picture ?? { times: [] };
    this.element.setAttribute("aria-valuemin", String(Math.min(0, times[0] ?? 0)));
    this.element.setAttribute("aria-valuemax", String(times[times.length - 1] ?? 0));
    this.element.setAttribute("aria-valuenow", String(time));
    this.element.setAttribute("aria-valuetext", text);
    this.plot?.redraw(false, false);
  }

  draw() {
    const width = this.element.clientWidth;
    if (!this.picture || width === 0) return;
    this.plot?.destroy();
    this.peakColour = colour("--share-3");
    this.timeColour = colour("--accent");
    this.plot = new uPlot(this.options(this.picture, width), data(this.picture), this.element);
    listenForClicks(this.plot, (time) => this.onPick(time));
  }

  resize() {
    const width = this.element.clientWidth;
    if (!this.plot) this.draw();
    else if (width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: HEIGHT });
  }

  /**
   * @param {Picture} picture
   * @param {number} width
   * @returns {uPlot.Options}
   */
  options(picture, width) {
    const quiet = colour("--quiet");
    const grid = { stroke: colour("--line"), width: 1 };
    const axis = { stroke: quiet, grid, ticks: grid, font: "12px system-ui, sans-serif" };
    return {
      width,
      height: HEIGHT,
      legend: { show: false },
      scales: {
        x: { time: false },
        y: { range: (_, low, high) => [Math.min(0, low), high * 1.1] },
      },
      axes: [
        { ...axis, values: (_, splits) => splits.map((value) => tick(value, "nanos")) },
        { ...axis, size: 72, values: (_, splits) => splits.map((value) => tick(value, "bytes")) },
      ],
      series: [{}, ...series(picture)],
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false } },
      hooks: {
        draw: [(plot) => this.drawMarks(plot)],
        setCursor: [(plot) => this.readAt(plot)],
      },
    };
  }

  /** @param {uPlot} plot */
  drawMarks(plot) {
    if (!this.picture) return;
    const { times, total, peak } = this.picture;
    drawLine(plot, peak, this.peakColour, [4, 4]);
    drawLine(plot, this.time, this.timeColour, []);
    drawDot(plot, peak, total[pointAt(times, peak)], this.peakColour);
  }

  /** @param {uPlot} plot */
  readAt(plot) {
    const { left } = plot.cursor;
    if (!this.picture || left === undefined || left < 0) return fill(this.readout);
    const time = plot.posToVal(left, "x");
    const point = pointAt(this.picture.times, time);
    const bytes = point < 0 ? 0 : this.picture.total[point];
    return fill(this.readout, `${formatted(bytes, "bytes")} at ${formatted(time, "nanos")}`);
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    if (!this.picture || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = timeAfterKey(event, this.picture.times, this.time);
    if (next === null) return;
    event.preventDefault();
    event.stopPropagation();
    this.onPick(next);
  }
}

/**
 * The last point that is not after a time, -1 before the first.
 * @param {Numbers} times
 * @param {number} time
 */
export function pointAt(times, time) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * @param {KeyboardEvent} event
 * @param {Numbers} times
 * @param {number} time
 */
function timeAfterKey(event, times, time) {
  const last = times.length - 1;
  const point = pointAt(times, time);
  const leap = event.shiftKey ? Math.max(1, Math.round(times.length / 20)) : 1;
  /** @type {Record<string, number>} */
  const points = {
    ArrowRight: point + leap,
    // From between two points, the first step back leads to the earlier one.
    ArrowLeft: point - leap + (point >= 0 && times[point] < time ? 1 : 0),
    Home: 0,
    End: last,
  };
  const next = points[event.key];
  return next === undefined ? null : times[Math.min(Math.max(next, 0), last)];
}

/**
 * @param {Picture} picture
 * @returns {uPlot.AlignedData}
 */
function data({ times, total, bands, levels }) {
  const sums = bands.length > 0 ? runningSums(bands).toReversed() : [total];
  return [times, ...sums, ...(levels ? [levels] : [])];
}

/**
 * The first band, the first two together, and so on.
 * @param {Float64Array[]} bands
 */
function runningSums(bands) {
  let sum = new Float64Array(bands[0].length);
  return bands.map((band) => {
    sum = sum.map((value, point) => value + band[point]);
    return sum;
  });
}

/**
 * Each sum is drawn over the larger ones, so that bands remain visible.
 * @param {Picture} picture
 * @returns {uPlot.Series[]}
 */
function series({ bands, levels }) {
  const paths = uPlot.paths.stepped?.({ align: 1 });
  const { length } = bands;
  const names = length > 0 ? bands.map((_, band) => bandColour(band, length)) : ["--c0"];
  const edge = colour("--page");
  const areas = names.toReversed().map((name) => ({
    paths, fill: colour(name), stroke: edge, width: 0.5, points: { show: false },
  }));
  const points = { show: false };
  const level = { paths, stroke: colour("--text"), width: 1.5, dash: [2, 3], points };
  return levels ? [...areas, level] : areas;
}

/**
 * The variable with the colour of a band; the last one is the rest.
 * @param {number} band
 * @param {number} count
 */
export function bandColour(band, count) {
  return band === count - 1 ? "--c7" : `--c${band}`;
}

/**
 * @param {number} value
 * @param {import("./types.d.ts").Unit} unit
 */
function tick(value, unit) {
  const text = formatted(value, unit);
  return text.includes(".") ? text.replace(/\.?0+(?=\D*$)/, "") : text;
}

/**
 * @param {uPlot} plot
 * @param {number} time
 * @param {string} stroke
 * @param {number[]} dash
 */
function drawLine(plot, time, stroke, dash) {
  const { ctx, bbox } = plot;
  const left = Math.round(plot.valToPos(time, "x", true)) + 0.5;
  if (left < bbox.left || left > bbox.left + bbox.width + 1) return;
  ctx.save();
  ctx.strokeStyle = stroke;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash(dash.map((length) => length * devicePixelRatio));
  ctx.beginPath();
  ctx.moveTo(left, bbox.top);
  ctx.lineTo(left, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

/**
 * @param {uPlot} plot
 * @param {number} time
 * @param {number} bytes
 * @param {string} stroke
 */
function drawDot(plot, time, bytes, stroke) {
  const { ctx, bbox } = plot;
  const left = plot.valToPos(time, "x", true);
  if (left < bbox.left || left > bbox.left + bbox.width) return;
  ctx.save();
  ctx.fillStyle = stroke;
  ctx.beginPath();
  ctx.arc(left, plot.valToPos(bytes, "y", true), 4 * devicePixelRatio, 0, 2 * Math.PI);
  ctx.fill();
  ctx.restore();
}

/**
 * Call `onTime` with the time of each click; dragging zooms instead.
 * @param {uPlot} plot
 * @param {(time: number) => void} onTime
 */
function listenForClicks(plot, onTime) {
  let start = 0;
  plot.over.addEventListener("mousedown", (event) => {
    start = event.clientX;
  });
  plot.over.addEventListener("click", (event) => {
    if (Math.abs(event.clientX - start) > STILL) return;
    onTime(Math.round(plot.posToVal(event.clientX - plot.rect.left, "x")));
  });
}

// Draws the lanes of a timeline: wide runs one by one with their names, narrow ones as strips.

import { visible } from "./dom.js";
import { Strip } from "./timeline_strip.js";
import { formatted } from "./units.js";

/** @typedef {import("./timeline_runs.js").Runs} Runs */
/** @typedef {import("./timeline_layout.js").Row} Row */
/** @typedef {import("./timeline_colours.js").Ink} Ink */

/**
 * What to draw. Sizes are in CSS pixels, `ratio` is the number of device pixels in one. The colour
 * of a run is `inks[of[run]]`.
 * @typedef {{
 *   runs: Runs, rows: Row[], scroll: number, from: number, to: number,
 *   width: number, height: number, ratio: number,
 *   of: Uint8Array, inks: Ink[], theme: Record<string, Ink>, font: string, unusual: Set<number>,
 * }} Scene
 */

/** Runs from this width on are drawn as rectangles, in device pixels. */
const LEAST_WIDTH = 3;
/** Runs from this width on have a label, in CSS pixels. */
const LEAST_LABEL = 28;
/** Steps from this width on have a line at their start, in CSS pixels. */
const LEAST_STEP = 6;
/** The space above and below a run in its lane, in CSS pixels. */
const INSET = 1;

export class Painter {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    // Strips are put into the canvas as pixels, which is fastest if it is not on a GPU.
    const settings = { willReadFrequently: true };
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", settings));
    this.strip = new Strip();
    /** @type {Map<number, { text: string, width: number }>} */
    this.names = new Map();
    this.font = "";
  }

  /** @param {Scene} scene */
  paint(scene) {
    const { canvas, context } = this;
    const { width, height } = resized(canvas, scene, scene.height);
    this.setFont(scene);
    context.clearRect(0, 0, width, height);
    /** @type {number[][]} */
    this.wide = scene.inks.map(() => []);
    /** @type {number[]} */
    this.labels = [];
    const inSight = scene.rows.filter(
      ({ top, height: own }) => top + own > scene.scroll && top < scene.scroll + scene.height,
    );
    for (const row of inSight) this.paintRow(scene, row);
    this.paintWide(scene);
    for (const row of scene.rows) if (row.kind === "steps") this.paintBoundaries(scene, row);
    this.paintLabels(scene);
  }

  /** @param {Scene} scene */
  setFont({ ratio, font: family }) {
    const font = `${11 * ratio}px ${family}`;
    if (this.font !== font) this.names.clear();
    this.font = font;
    this.context.font = font;
    this.context.textBaseline = "middle";
  }

  /**
   * @param {Scene} scene
   * @param {Row} row
   */
  paintRow(scene, row) {
    if (row.kind === "lane") this.paintLane(scene, row);
    if (row.kind === "group") this.paintGroup(scene, row);
    if (row.kind === "steps") this.paintSteps(scene, row);
  }

  /**
   * Narrow runs are added up in a strip; wide ones are collected and drawn later, by colour.
   * @param {Scene} scene
   * @param {Row} row
   */
  paintLane(scene, row) {
    const { runs, from, to, ratio, inks, of } = scene;
    const [top, bottom] = edges(scene, row);
    const scale = (scene.width * ratio) / (to - from);
    const last = runs.laneFirst[row.lane + 1];
    this.strip.reset(this.canvas.width, bottom - top, inks.length);
    for (let run = runs.firstAfter(row.lane, from); run < last && runs.start[run] < to; run += 1) {
      const x = (runs.start[run] - from) * scale;
      const end = (runs.end[run] - from) * scale;
      if (end - x < LEAST_WIDTH) {
        this.strip.add(x, end, of[run]);
        continue;
      }
      const left = Math.max(Math.round(x), -2);
      const right = Math.min(Math.round(end) - 1, this.canvas.width + 2);
      this.wide[of[run]].push(left, top, right - left, bottom - top);
      if (right - left > LEAST_LABEL * ratio) this.labels.push(run, left, right, top);
    }
    this.strip.draw(this.context, top, inks);
  }

  /** @param {Scene} scene */
  paintWide({ inks }) {
    const { context } = this;
    this.wide.forEach((places, colour) => {
      context.fillStyle = inks[colour].css;
      for (let place = 0; place < places.length; place += 4) {
        context.fillRect(
          places[place], places[place + 1], places[place + 2], places[place + 3],
        );
      }
    });
  }

  /**
   * Lines where steps start, if they are wide enough, and shades over steps whose runs the page
   * does not have, so that they do not look idle.
   * @param {Scene} scene
   * @param {Row} row of the steps of a recording
   */
  paintBoundaries(scene, { recording, top, height }) {
    const { context } = this;
    const { runs: { data: { steps } }, rows, from, to, scroll, ratio, theme } = scene;
    const last = rows.findLast((row) => row.recording === recording) ?? rows[0];
    const first = (top - scroll) * ratio;
    const length = (last.top + last.height - top) * ratio;
    const scale = this.canvas.width / (to - from);
    for (const step of visibleSteps(scene, recording)) {
      const x = Math.round((steps.start[step] - from) * scale);
      const width = Math.max(steps.wall[step] * scale, 1);
      context.fillStyle = theme["boundary"].css;
      if (width >= LEAST_STEP * ratio) context.fillRect(x, first, 1, length);
      if (steps.whole[step] === 1) continue;
      context.fillStyle = theme["missing"].css;
      context.fillRect(x, first + height * ratio, width, length - height * ratio);
    }
  }

  /** @param {Scene} scene */
  paintLabels({ runs, rows, of, inks, ratio }) {
    const { context, labels } = this;
    const lane = rows.find(({ kind, group }) => kind === "lane" && group >= 0);
    const half = ((lane?.height ?? 0) * ratio) / 2;
    const space = 4 * ratio;
    for (let place = 0; place < labels.length; place += 4) {
      const [run, left, right, top] = labels.slice(place, place + 4);
      const start = Math.max(left, 0) + space;
      const text = this.fitting(runs, run, Math.min(right, this.canvas.width) - space - start);
      context.fillStyle = inks[of[run]].text;
      if (text) context.fillText(text, start, top + half);
    }
  }

  /**
   * The name of a run, or its end if it does not fit: that is where names differ.
   * @param {Runs} runs
   * @param {number} run
   * @param {number} room
   */
  fitting(runs, run, room) {
    const op = runs.op[run];
    let known = this.names.get(op);
    if (!known) {
      const text = drawn(runs.name(run)).slice(-200);
      known = { text, width: this.context.measureText(text).width };
      this.names.set(op, known);
    }
    const { text, width } = known;
    if (width <= room) return text;
    const letters = Math.floor((text.length * room) / width) - 1;
    if (letters < 3) return "";
    const tail = text.slice(-letters);
    const slash = tail.indexOf("/");
    // Whole parts of the name, unless that would leave too little.
    return slash >= 0 && slash < letters / 2 ? tail.slice(slash + 1) : `…${tail.slice(1)}`;
  }

  /**
   * How busy a device was, as columns behind its name.
   * @param {Scene} scene
   * @param {Row} row
   */
  paintGroup(scene, row) {
    const { context } = this;
    const { runs, from, to, ratio, theme } = scene;
    const [top, bottom] = edges(scene, row);
    context.fillStyle = theme["panel"].css;
    context.fillRect(0, top, this.canvas.width, bottom - top);
    context.fillStyle = theme["busy"].css;
    const base = bottom - Math.round(3 * ratio);
    const height = base - top - Math.round(4 * ratio);
    const length = (to - from) / this.canvas.width;
    for (let x = 0; x < this.canvas.width; x += 1) {
      const start = from + x * length;
      const share = runs.busyWithin(row.group, start, start + length) / length;
      const own = share > 0 ? Math.max(Math.round(share * height), 1) : 0;
      if (own > 0) context.fillRect(x, base - own, 1, own);
    }
  }

  /**
   * @param {Scene} scene
   * @param {Row} row
   */
  paintSteps(scene, row) {
    const { from, to, ratio, runs: { data: { steps } } } = scene;
    const [top, bottom] = edges(scene, row);
    const scale = this.canvas.width / (to - from);
    for (const step of visibleSteps(scene, row.recording)) {
      const start = steps.start[step];
      const end = start + steps.wall[step];
      const left = Math.max((start - from) * scale, -2);
      const right = Math.min((end - from) * scale, this.canvas.width + 2);
      const label = `step ${steps.number[step]}  ${formatted(steps.wall[step], "nanos")}`;
      const isWhole = steps.whole[step] === 1;
      this.paintStep(scene, [left, top, right - left - ratio, bottom - top], {
        label: isWhole ? label : `${label}  (runs left out)`,
        isUnusual: scene.unusual.has(step),
        isOdd: step % 2 === 1,
      });
    }
  }

  /**
   * @param {Scene} scene
   * @param {number[]} box
   * @param {{ label: string, isUnusual: boolean, isOdd: boolean }} step
   */
  paintStep({ ratio, theme }, [left, top, width, height], { label, isUnusual, isOdd }) {
    const { context } = this;
    context.fillStyle = theme[isOdd ? "step" : "otherStep"].css;
    context.fillRect(left, top, Math.max(width, ratio), height);
    if (isUnusual) {
      context.fillStyle = theme["mark"].css;
      context.fillRect(left, top + height - 3 * ratio, Math.max(width, ratio), 3 * ratio);
    }
    const text = isUnusual ? `${label}  unusual` : label;
    const start = Math.max(left, 0) + 6 * ratio;
    const room = left + width - start - 4 * ratio;
    if (room < 8 * ratio) return;
    context.fillStyle = theme["text"].css;
    const number = label.split("  ")[0];
    const fitting = [text, label, number, number.slice(5)].find(
      (one) => context.measureText(one).width <= room,
    );
    if (fitting) context.fillText(fitting, start, top + height / 2);
  }
}

/**
 * The steps of a recording in the window.
 * @param {Scene} scene
 * @param {number} recording
 */
function visibleSteps({ from, to, runs: { data: { steps } } }, recording) {
  const found = [];
  for (let step = 0; step < steps.number.length; step += 1) {
    const isHere = steps.recording[step] === recording;
    const start = steps.start[step];
    if (isHere && start < to && start + steps.wall[step] > from) found.push(step);
  }
  return found;
}

/** Characters that change the direction of the text after them. */
const DIRECTIONS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * A name as it is drawn: on one line, with control characters made visible.
 * @param {string} name
 */
function drawn(name) {
  return visible(name.replace(/\s+/g, " ").replace(DIRECTIONS, ""));
}

/**
 * Give a canvas its size in device pixels, if that has changed.
 * @param {HTMLCanvasElement} canvas
 * @param {Scene} scene
 * @param {number} tall in CSS pixels
 */
export function resized(canvas, scene, tall) {
  const [width, height] = [scene.width, tall].map((side) => Math.round(side * scene.ratio));
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  return { width, height };
}

/**
 * The first and last row of device pixels of a row.
 * @param {Scene} scene
 * @param {Row} row
 */
function edges({ scroll, ratio }, { top, height }) {
  const inset = INSET;
  return [
    Math.round((top - scroll + inset) * ratio),
    Math.round((top - scroll + height - inset) * ratio),
  ];
}

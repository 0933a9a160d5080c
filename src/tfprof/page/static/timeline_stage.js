// The picture of a timeline: names of rows at the left, and canvases for the lanes, what is drawn
// over them, and the time axis. It is drawn again only after a change.

import { fill, h, visible } from "./dom.js";
import { ink } from "./timeline_colours.js";
import { layout } from "./timeline_layout.js";
import { paintOverlay } from "./timeline_overlay.js";
import { Painter } from "./timeline_paint.js";
import { originOf, paintRuler } from "./timeline_ruler.js";

/** @typedef {import("./timeline_runs.js").Runs} Runs */
/** @typedef {import("./timeline_window.js").VisibleTime} VisibleTime */
/** @typedef {import("./timeline_colours.js").Ink} Ink */
/** @typedef {import("./timeline_overlay.js").Marks} Marks */
/** @typedef {import("./timeline_layout.js").Row} Row */
/** @typedef {import("./timeline_paint.js").Scene} Scene */

const RULER = 26; // its height
const LEAST_HEIGHT = 120;
const SHARE = "How much of the visible time the device was busy";

/** The colours of everything but runs. */
const THEME = {
  text: "--text",
  quiet: "--quiet",
  line: "--line",
  panel: "--panel",
  busy: "--share-0",
  step: "--accent-soft",
  otherStep: "--panel",
  mark: "--share-2",
  boundary: "--line",
  missing: "--idle",
  range: "--accent",
};

export class Stage {
  /**
   * @param {Runs} runs
   * @param {VisibleTime} shown
   * @param {() => void} painted called after each frame
   * @param {(from: number, to: number) => import("./timeline_ruler.js").Origin} countedFrom
   */
  constructor(
    runs,
    shown,
    painted,
    countedFrom = (from, to) => originOf(runs.data.steps, from, to),
  ) {
    this.countedFrom = countedFrom;
    this.runs = runs;
    this.shown = shown;
    this.painted = painted;
    /** @type {Set<number>} */
    this.folded = new Set();
    /** @type {Uint8Array} */
    this.of = new Uint8Array(runs.count);
    /** @type {Ink[]} */
    this.inks = [];
    this.unusual = new Set(runs.data.steps.unusual.map(({ step }) => step));
    /** @type {Marks} */
    this.marks = { selected: -1, hovered: -1, pointer: null, range: null, flows: null };
    this.origin = h("div", { class: "timeline-origin" });
    this.ruler = canvas("timeline-ruler-canvas");
    this.lanes = canvas("timeline-lanes");
    this.overlay = canvas("timeline-overlay");
    this.labels = h("div", { class: "timeline-labels" });
    this.sheet = h("div", { class: "timeline-sheet" }, this.lanes, this.overlay);
    this.content = h("div", { class: "timeline-content" }, this.labels, this.sheet);
    this.scroller = h("div", { class: "timeline-scroll" }, this.content);
    this.axis = h("div", { class: "timeline-axis" }, this.origin, this.ruler);
    this.painter = new Painter(this.lanes);
    this.frame = 0;
    this.isStale = true;
    this.scroller.addEventListener("scroll", () => this.draw());
    this.arrange();
    this.retheme();
  }

  /** Place all rows. */
  arrange() {
    const { rows, height } = layout(this.runs, this.folded);
    this.rows = rows;
    this.height = Math.max(height, LEAST_HEIGHT);
    this.content.style.height = `${this.height}px`;
    fill(this.labels, rows.filter(({ label }) => label).map((row) => this.label(row)));
    this.draw();
  }

  /** @param {Row} row */
  label(row) {
    const { kind, label, title, top, height } = row;
    const attributes = { class: `timeline-label timeline-label-${kind}`, title };
    const name = h("bdi", null, visible(label));
    const element = kind === "group"
      ? this.foldButton(row.group, attributes, name) : h("div", attributes, name);
    element.style.top = `${top}px`;
    element.style.height = `${height}px`;
    return element;
  }

  /**
   * @param {number} group
   * @param {Record<string, string>} attributes
   * @param {HTMLElement} name
   */
  foldButton(group, attributes, name) {
    const isOpen = !this.folded.has(group);
    return h(
      "button",
      {
        ...attributes,
        type: "button",
        "aria-expanded": String(isOpen),
        "data-group": group,
        onclick: () => this.fold(group),
      },
      h("span", { class: "timeline-fold", "aria-hidden": "true" }, isOpen ? "▾" : "▸"),
      name,
      h("span", { class: "timeline-share", "data-share": group, title: SHARE }),
    );
  }

  /** @param {number} group */
  fold(group) {
    if (!this.folded.delete(group)) this.folded.add(group);
    this.arrange();
    const again = this.labels.querySelector(`[data-group="${group}"]`);
    if (again instanceof HTMLElement) again.focus();
  }

  /** Read the colours of the theme. */
  retheme() {
    this.theme = Object.fromEntries(
      Object.entries(THEME).map(([name, variable]) => [name, ink(variable)]),
    );
    this.font = getComputedStyle(document.body).fontFamily;
    this.draw();
  }

  /**
   * Set the colours of runs.
   * @param {Uint8Array} of
   * @param {Ink[]} inks
   */
  colour(of, inks) {
    this.of = of;
    this.inks = inks;
    this.draw();
  }

  /** @returns {Scene} */
  scene() {
    return {
      runs: this.runs,
      rows: this.rows ?? [],
      scroll: this.scroller.scrollTop,
      from: this.shown.from,
      to: this.shown.to,
      width: this.sheet.clientWidth,
      height: this.sheet.clientHeight,
      ratio: devicePixelRatio,
      of: this.of,
      inks: this.inks,
      theme: this.theme ?? {},
      font: this.font ?? "",
      unusual: this.unusual,
    };
  }

  /** Draw everything in the next frame. */
  draw() {
    this.isStale = true;
    this.request();
  }

  /** Draw only what is above the lanes. */
  drawMarks() {
    this.request();
  }

  request() {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    this.frame = 0;
    const scene = this.scene();
    if (scene.width === 0 || scene.height === 0) return;
    if (this.isStale) {
      this.isStale = false;
      this.painter.paint(scene);
      const origin = this.countedFrom(scene.from, scene.to);
      paintRuler(this.ruler, scene, RULER, origin.start);
      fill(this.origin, origin.label);
      this.showShares(scene);
    }
    paintOverlay(this.overlay, scene, this.marks);
    this.painted();
  }

  /**
   * Write beside the name of each device how busy it was in the window, if the page knows that.
   * @param {Scene} scene
   */
  showShares({ runs, from, to }) {
    const isKnown = runs.isWholeWithin(from, to);
    for (const place of this.labels.querySelectorAll("[data-share]")) {
      const busy = runs.busyWithin(Number(place.getAttribute("data-share")), from, to);
      place.textContent = isKnown ? `${Math.round((100 * busy) / (to - from))}\u00a0%` : "";
    }
  }

  /**
   * Scroll to a lane, and unfold its device.
   * @param {number} lane
   */
  reveal(lane) {
    const { group } = this.runs.tracks[this.runs.laneTrack[lane]];
    if (this.folded.has(group)) this.fold(group);
    const row = this.rows?.find((one) => one.kind === "lane" && one.lane === lane);
    if (!row) return;
    const { scrollTop, clientHeight } = this.scroller;
    if (row.top < scrollTop || row.top + row.height > scrollTop + clientHeight) {
      this.scroller.scrollTop = row.top - clientHeight / 2;
    }
  }
}

/** @param {string} name */
function canvas(name) {
  return /** @type {HTMLCanvasElement} */ (h("canvas", { class: name }));
}

// The timeline: when each op ran, by device and lane, with a map, the steps and details.

import { h } from "./dom.js";
import { TimelineBar } from "./timeline_bar.js";
import { COLOURINGS, faint, ink } from "./timeline_colours.js";
import { hitAt, Tip } from "./timeline_hit.js";
import { RunFinder } from "./timeline_search.js";
import { attachKeys } from "./timeline_keys.js";
import { TimelineMap } from "./timeline_map.js";
import { inOtherLane, nextInLane, nextOfOp } from "./timeline_neighbours.js";
import { timelineNotes } from "./timeline_notes.js";
import { attachPointer } from "./timeline_pointer.js";
import { shownStep, stepAt } from "./timeline_ruler.js";
import { Runs } from "./timeline_runs.js";
import { Selection } from "./timeline_selection.js";
import { Stage } from "./timeline_stage.js";
import { StepTable } from "./timeline_steps.js";
import { TimeWindow } from "./timeline_window.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").Changed} Changed */
/** @typedef {import("./types.d.ts").TimelineData} TimelineData */

const CANVAS_LABEL = "Timeline. Arrow keys move between runs, w and s zoom, a and d pan.";
/** How long the window must rest before it is kept in the URL, in milliseconds. */
const REST = 250;
const ZOOM = 0.6; // of buttons, and of the keys + and -

/**
 * @param {Context} context
 * @returns {import("./types.d.ts").Component}
 */
export function mountTimeline(context) {
  const view = new TimelineView(context, /** @type {TimelineData} */ (context.payload.timeline));
  const finder = new RunFinder(view.runs, view.selection, view.shown, context.store);
  return { element: view.element, update: (changed) => view.update(changed), finder };
}

class TimelineView {
  /**
   * @param {Context} context
   * @param {TimelineData} data
   */
  constructor(context, data) {
    const runs = new Runs(data, context.payload.ops);
    const shown = new TimeWindow(...runs.bounds(), () => this.moved());
    const stage = new Stage(runs, shown, () => this.painted());
    this.context = context;
    this.data = data;
    this.runs = runs;
    this.shown = shown;
    this.stage = stage;
    this.map = new TimelineMap(runs, shown);
    this.tip = new Tip();
    this.table = new StepTable(data, (step) => this.selection.showStep(step));
    this.selection = new Selection({
      context,
      runs,
      shown,
      stage,
      mark: (step) => this.table.mark(step),
      changed: () => this.note(),
    });
    this.bar = new TimelineBar(data, {
      showStep: (step) => (step < 0 ? this.fitAll() : this.selection.showStep(step)),
      fitAll: () => this.fitAll(),
      zoom: (isCloser) => this.zoom(isCloser),
      colourBy: (key) => this.colourBy(key),
      stepNow: () => this.stepNow(),
    });
    this.colouring = COLOURINGS[0].key;
    this.listening = new AbortController();
    this.listening.abort();
    this.element = this.build();
    this.followPointer();
    this.start();
  }

  build() {
    const { stage, selection } = this;
    stage.overlay.tabIndex = 0;
    stage.overlay.setAttribute("role", "application");
    stage.overlay.setAttribute("aria-label", CANVAS_LABEL);
    const main = h(
      "div",
      { class: "timeline-main" },
      this.map.element,
      stage.axis,
      stage.scroller,
      timelineNotes(this.data),
      this.table.element,
    );
    return h(
      "div",
      { class: "timeline" },
      this.bar.element,
      h("div", { class: "timeline-body" }, main, selection.details),
      this.tip.element,
      selection.live,
    );
  }

  /** Show the median step, because the first one is often much longer than the others. */
  start() {
    this.selection.showStep(this.data.steps.medians[0], { isSudden: true });
    if (this.data.steps.number.length === 1) this.shown.show(this.shown.begin, this.shown.finish);
  }

  followPointer() {
    const { stage, shown, selection } = this;
    attachPointer({
      canvas: stage.overlay,
      ruler: stage.ruler,
      shown,
      hover: (x, y) => this.hover(x, y),
      leave: () => this.leave(),
      click: (x, y) => this.click(x, y),
      open: (x, y) => this.click(x, y) && selection.fit(),
      measure: (from, to) => selection.measure(from, to),
      scroll: (pixels) => stage.scroller.scrollBy(0, pixels),
    });
    new ResizeObserver(() => this.redraw()).observe(stage.sheet);
  }

  /** Follow keys and the theme while the view is visible. */
  listen() {
    if (!this.listening.signal.aborted) return;
    this.listening = new AbortController();
    const { stage, shown, selection, listening: { signal } } = this;
    attachKeys({
      canvas: stage.overlay,
      shown,
      signal,
      isActive: () => this.isVisible(),
      pointer: () => this.pointerTime(),
      actions: this.actions(),
      arrows: {
        ArrowLeft: () => selection.selectBeside(nextInLane, -1),
        ArrowRight: () => selection.selectBeside(nextInLane, 1),
        ArrowUp: () => selection.selectBeside(inOtherLane, -1),
        ArrowDown: () => selection.selectBeside(inOtherLane, 1),
        Enter: () => selection.fit(),
      },
    });
    const repaint = () => this.isVisible() && this.retheme();
    addEventListener("themechange", repaint, { signal });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint, { signal });
  }

  /** @returns {Record<string, () => void>} */
  actions() {
    const { selection, shown, bar } = this;
    return {
      f: () => selection.fit(),
      0: () => this.fitAll(),
      "+": () => this.zoom(true),
      "-": () => this.zoom(false),
      m: () => selection.measure(shown.from, shown.to),
      e: () => selection.setArrows(!selection.hasArrows),
      "[": () => bar.go(-1),
      "]": () => bar.go(1),
      ",": () => selection.selectBeside(nextOfOp, -1),
      ".": () => selection.selectBeside(nextOfOp, 1),
      Escape: () => selection.clear(),
    };
  }

  /** Whether the view is in the page; if not, it stops listening until it is shown again. */
  isVisible() {
    if (!this.element.isConnected) this.listening.abort();
    return this.element.isConnected;
  }

  /** @param {Changed} changed */
  update(changed) {
    const { op, timeline } = this.context.store.state;
    if (changed.has("search")) this.colourBy(this.colouring);
    if (changed.has("timeline")) this.place(timeline);
    if (changed.has("op") || changed.has("view")) this.selection.follow(op, this.stepNow());
    if (changed.has("view")) {
      this.listen();
      this.retheme();
      this.table.reveal();
    }
  }

  retheme() {
    this.stage.retheme();
    this.colourBy(this.colouring);
    this.redraw();
  }

  /** Draw everything, including the map. */
  redraw() {
    const scene = this.stage.scene();
    if (scene.width > 0) this.map.paint(scene);
    this.stage.draw();
  }

  /** After the window has changed. */
  moved() {
    this.tip.hide();
    this.stage.marks.hovered = -1;
    this.stage.draw();
    this.note();
  }

  painted() {
    const { from, to } = this.shown;
    this.map.move();
    this.bar.mark(shownStep(this.data.steps, from, to));
    Object.assign(this.element.dataset, { from: Math.round(from), to: Math.round(to) });
  }

  /** Keep the window and the selected run in the URL, once it has come to rest. */
  note() {
    if (!this.element?.isConnected) return; // the first window needs no words
    this.context.store.setLater(() => {
      const [from, to] = [this.shown.from, this.shown.to].map(Math.round);
      const { run } = this.selection;
      return { timeline: [from, to, ...(run < 0 ? [] : [run])].join(",") };
    }, REST);
  }

  /**
   * Show the window and the run that a text describes.
   * @param {string} text
   */
  place(text) {
    const [from, to, run] = text.split(",").map(Number);
    const { shown, runs } = this;
    if (Math.round(shown.from) === from && Math.round(shown.to) === to) return;
    if (to > from) shown.show(from, to);
    if (run >= 0 && run < runs.count && Number.isInteger(run)) this.selection.select(run);
  }

  /** The step in the middle of the window, -1 if none. */
  stepNow() {
    return stepAt(this.data.steps, (this.shown.from + this.shown.to) / 2);
  }

  /** @param {boolean} isCloser */
  zoom(isCloser) {
    const { from, to } = this.shown;
    this.shown.zoom(isCloser ? ZOOM : 1 / ZOOM, (from + to) / 2);
  }

  fitAll() {
    this.shown.fit(this.shown.begin, this.shown.finish);
  }

  /** @param {string} key */
  colourBy(key) {
    const chosen = COLOURINGS.find((one) => one.key === key) ?? COLOURINGS[0];
    const categories = chosen.of(this.context.payload, this.runs);
    this.colouring = key;
    this.bar.explain(categories);
    const inks = categories.colours.map(ink);
    const matches = this.runs.matching(this.context.store.state.search);
    if (!matches) {
      this.stage.colour(categories.of, inks);
      return;
    }
    const of = categories.of.map((place, run) => (matches(run) ? place : place + inks.length));
    this.stage.colour(of, [...inks, ...categories.colours.map(faint)]);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @returns {boolean} whether something is there
   */
  click(x, y) {
    const hit = hitAt(this.stage.scene(), x, y);
    if (!hit) this.selection.clear();
    else if (hit.step >= 0) this.selection.showStep(hit.step);
    else this.selection.select(hit.run);
    return hit !== null;
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  hover(x, y) {
    const { stage } = this;
    const hit = hitAt(stage.scene(), x, y);
    Object.assign(stage.marks, { hovered: hit ? hit.run : -1, pointer: x });
    const box = stage.overlay.getBoundingClientRect();
    if (hit) this.tip.show(this.runs, hit, box.left + x, box.top + y);
    else this.tip.hide();
    stage.drawMarks();
  }

  /** The time below the pointer, or null. */
  pointerTime() {
    const { stage, shown } = this;
    const x = stage.marks.pointer;
    return x === null ? null : shown.from + (x / stage.sheet.clientWidth) * shown.length;
  }

  leave() {
    this.tip.hide();
    Object.assign(this.stage.marks, { hovered: -1, pointer: null });
    this.stage.drawMarks();
  }
}

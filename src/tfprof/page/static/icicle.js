// The picture of a view: blocks as wide as their totals, each above what it consists of.

import { fill, h } from "./dom.js";
import { COLOURINGS, coloursOf } from "./icicle_colours.js";
import { neighbour } from "./icicle_keys.js";
import { blockAt, depthBelow, layout, MERGED } from "./icicle_layout.js";
import { paint, palette } from "./icicle_paint.js";
import { matchingRows } from "./search_text.js";
import { onThemeChange } from "./theme.js";
import { describe, legend, path, sentenceOf } from "./icicle_texts.js";
import { percent } from "./units.js";

/** @typedef {import("./workbench.js").Answer} Answer */
/** @typedef {import("./workbench.js").Bench} Bench */
/** @typedef {import("./icicle_layout.js").Block} Block */
/** @typedef {import("./icicle_layout.js").ShownTree} ShownTree */
/** @typedef {import("./icicle_colours.js").Colours} Colours */

/**
 * What an icicle needs from the page.
 * @typedef {Pick<Bench, "select" | "zoom"> & {
 *   store: { readonly state: Readonly<Pick<import("./types.d.ts").State, "row" | "search">> },
 * }} PictureBench
 */

/**
 * How the blocks of an answer look: the choices of colours, what is written after the name of a
 * block and in which colour, and the line about a row.
 * @template {ShownTree} A
 * @typedef {{
 *   colourings: { key: string, label: string }[],
 *   colours: (colouring: string, answer: A) => Colours,
 *   note: (answer: A, place: number, colours: Colours) => string,
 *   noteColour: string,
 *   describe: (answer: A, place: number, label: string) => import("./dom.js").Child[],
 * }} Face
 */

/** The height of a level in pixels; a list that is not nested has only one level. */
const HEIGHT = 21;
const FLAT_HEIGHT = 32;

/** The most and the fewest levels that are shown, and the part of the window that they may take. */
const MOST_LEVELS = 12;
const FEWEST_LEVELS = 2;
const PART = 0.3;

/**
 * @param {Bench} bench
 * @returns {import("./workbench.js").Panel}
 */
export function mountIcicle(bench) {
  return new Icicle(bench, {
    colourings: COLOURINGS,
    colours: (colouring, answer) => coloursOf(colouring, answer, bench.payload),
    note: ({ rows, total, whole }, place, colours) =>
      [colours.label(place), percent(total[rows.row[place]], whole)].filter(Boolean).join(" · "),
    noteColour: "--quiet",
    describe,
  });
}

/** @template {ShownTree} [A=Answer] */
export class Icicle {
  /**
   * @param {PictureBench} bench
   * @param {Face<A>} face
   */
  constructor(bench, face) {
    this.bench = bench;
    this.face = face;
    /** @type {A | null} */
    this.answer = null;
    /** @type {Block[]} */
    this.blocks = [];
    /** @type {Block | undefined} */
    this.hovered = undefined;
    this.levels = FEWEST_LEVELS;
    this.colouring = face.colourings[0].key;
    this.colours = /** @type {Colours | null} */ (null);
    this.colourOf = palette();
    this.frame = 0;
    this.canvas = /** @type {HTMLCanvasElement} */ (
      h("canvas", {
        class: "icicle-canvas",
        role: "img",
        tabindex: 0,
        "aria-label": "Icicle: arrow keys move the selection, Enter zooms in, Escape zooms out",
        onpointermove: (/** @type {PointerEvent} */ event) => this.hover(this.blockOf(event)),
        onpointerleave: () => this.hover(undefined),
        onclick: (/** @type {MouseEvent} */ event) => this.clicked(event),
        ondblclick: (/** @type {MouseEvent} */ event) => this.zoomed(event),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.pressed(event),
      })
    );
    this.reset = h(
      "button",
      { class: "quiet-button icicle-reset", type: "button", onclick: () => bench.zoom.to(0) },
      "Reset zoom",
    );
    this.path = h("nav", { class: "icicle-path", "aria-label": "Zoomed row" });
    this.legend = h("ul", { class: "legend icicle-legend" });
    this.line = h("p", { class: "icicle-line", "aria-live": "polite" });
    this.element = h(
      "section",
      { class: "icicle", "aria-label": "Picture" },
      h("div", { class: "icicle-bar" }, this.path, this.reset, this.legend, this.menu()),
      this.canvas,
      this.line,
    );
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    onThemeChange(this, (icicle) => icicle.themed());
  }

  menu() {
    const { colourings } = this.face;
    if (colourings.length === 1) return null;
    const choices = colourings.map(({ key, label }) => h("option", { value: key }, label));
    const select = /** @type {HTMLSelectElement} */ (h("select", null, choices));
    select.addEventListener("change", () => {
      this.colouring = select.value;
      this.coloured();
    });
    return h("label", { class: "field" }, "Colour by", select);
  }

  /** @param {A} answer */
  show(answer) {
    this.answer = answer;
    const room = Math.min(MOST_LEVELS, Math.floor((PART * innerHeight) / this.height));
    this.levels = Math.max(FEWEST_LEVELS, Math.min(room, depthBelow(answer, 0)));
    this.canvas.style.height = `${this.levels * this.height}px`;
    this.hovered = undefined;
    this.coloured();
  }

  get height() {
    return this.answer?.rows.data.nested === false ? FLAT_HEIGHT : HEIGHT;
  }

  /** Show the selected row, and the row that is zoomed into. */
  select() {
    this.draw();
  }

  /** Show what is searched for. */
  mark() {
    this.draw();
  }

  coloured() {
    if (!this.answer) return;
    this.colours = this.face.colours(this.colouring, this.answer);
    fill(this.legend, legend(this.colours));
    this.draw();
  }

  themed() {
    this.colourOf = palette();
    this.draw();
  }

  /** Draw in the next frame. */
  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.drawNow();
    });
  }

  drawNow() {
    const { answer, canvas, colours } = this;
    const pen = canvas.getContext("2d");
    const width = canvas.clientWidth;
    if (!answer || !colours || !pen || width === 0) return;
    const root = Math.max(0, answer.placeOf[this.bench.zoom.row]);
    const height = this.levels * this.height;
    canvas.width = Math.round(width * devicePixelRatio);
    canvas.height = Math.round(height * devicePixelRatio);
    pen.scale(canvas.width / width, canvas.height / height);
    pen.font = `12px ${getComputedStyle(canvas).fontFamily}`;
    this.blocks = layout(answer, root, width, this.levels);
    // After a zoom, another block is under the pointer, if any.
    this.hovered = this.blocks.find((block) => isSame(block, this.hovered));
    const selected = this.selectedPlace();
    const { blocks, hovered } = this;
    const matches = matchingRows(answer.rows.data, this.bench.store.state.search);
    const note = (/** @type {number} */ place) => this.face.note(answer, place, colours);
    const { noteColour } = this.face;
    const marks = { selected, hovered, matches };
    const picture = { answer, blocks, colours, note, noteColour, height: this.height, ...marks };
    paint(pen, picture, this.colourOf);
    fill(this.path, path(this.bench, answer, root));
    this.reset.hidden = root === 0;
    this.describe();
  }

  selectedPlace() {
    const { row } = this.bench.store.state;
    return row < 0 ? -1 : (this.answer?.placeOf[row] ?? -1);
  }

  /** The line below the picture: the row under the pointer, or else the selected one. */
  describe() {
    const { answer, hovered } = this;
    if (!answer) return;
    const place = hovered && hovered.place !== MERGED ? hovered.place : this.selectedPlace();
    if (hovered?.place === MERGED) {
      fill(this.line, "Rows that are too narrow to be drawn.");
    } else if (place >= 0) {
      fill(this.line, this.face.describe(answer, place, this.colours?.label(place) ?? ""));
    } else {
      fill(this.line, h("span", { class: "quiet" }, sentenceOf(answer.rows.data)));
    }
  }

  /** @param {MouseEvent} event */
  blockOf(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    const level = Math.floor((event.clientY - top) / this.height);
    return blockAt(this.blocks, event.clientX - left, level);
  }

  /** @param {Block | undefined} block */
  hover(block) {
    if (isSame(block, this.hovered)) return;
    this.hovered = block;
    this.canvas.classList.toggle("icicle-pointed", block !== undefined);
    this.draw();
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    const block = this.blockOf(event);
    if (!block || !this.answer) return;
    const place = block.place === MERGED ? block.parent : block.place;
    this.bench.select(this.answer.rows.row[place]);
  }

  /** @param {MouseEvent} event */
  zoomed(event) {
    const block = this.blockOf(event);
    if (!block || !this.answer) return;
    this.zoom(block.place === MERGED ? block.parent : block.place);
  }

  /**
   * Zoom into a row; the row that is zoomed into zooms out again.
   * @param {number} place
   */
  zoom(place) {
    const { answer } = this;
    if (!answer) return;
    const isRoot = answer.rows.row[place] === this.bench.zoom.row;
    const target = isRoot ? Math.max(0, answer.parent[place]) : place;
    this.bench.zoom.to(answer.rows.row[target]);
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const { answer } = this;
    if (!answer || event.altKey || event.ctrlKey || event.metaKey) return;
    const place = Math.max(0, this.selectedPlace());
    if (event.key === "Enter") this.zoom(place);
    else if (event.key === "Escape" && this.bench.zoom.row !== 0) this.bench.zoom.to(0);
    else {
      const target = neighbour(event.key, answer, place);
      if (target < 0) return;
      this.bench.select(answer.rows.row[target]);
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

/**
 * @param {Block | undefined} one
 * @param {Block | undefined} other
 */
function isSame(one, other) {
  return one?.place === other?.place && one?.x === other?.x && one?.width === other?.width;
}

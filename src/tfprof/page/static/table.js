// The table of a view: a tree of rows of which only the visible ones are in the document.

import { fill, h } from "./dom.js";
import { columnsOf, nameCell, nameTitle } from "./table_columns.js";
import { Folding } from "./table_folding.js";
import { footOf } from "./table_foot.js";
import { heading } from "./table_heading.js";
import { targetOf } from "./table_keys.js";
import { matchingRows } from "./search_text.js";

/** @typedef {import("./workbench.js").Answer} Answer */
/** @typedef {import("./workbench.js").Bench} Bench */
/** @typedef {import("./icicle_layout.js").ShownTree} ShownTree */
/** @typedef {import("./table_columns.js").TableColumn} TableColumn */

/**
 * What a table needs from the page.
 * @typedef {import("./icicle.js").PictureBench & import("./table_heading.js").Sorting} TableBench
 */

/**
 * How the rows of an answer look, how many decide whether all are unfolded, and the place of a row
 * that is listed in any case, -1 if none.
 * @template {ShownTree} A
 * @typedef {{
 *   columns: (answer: A) => TableColumn[],
 *   name: (answer: A, place: number, search: string) => import("./dom.js").Child[],
 *   title: (answer: A, place: number) => string,
 *   foot: (answer: A) => import("./dom.js").Child[],
 *   size: (answer: A) => number,
 *   first: (answer: A) => number,
 * }} TableFace
 */

/**
 * Views of rows: few of them are unfolded at first.
 * @type {TableFace<Answer>}
 */
const ROWS = {
  columns: columnsOf,
  name: nameCell,
  title: nameTitle,
  foot: footOf,
  size: ({ rows }) => rows.data.end.length,
  first: () => -1,
};

/** The height of a row in pixels, as in the style sheet. */
const HEIGHT = 25;

/** Rows in the document above and below those that are visible. */
const MORE = 10;

/**
 * @param {Bench} bench
 * @returns {import("./workbench.js").Panel}
 */
export function mountTable(bench) {
  return new Table(bench, ROWS);
}

/** @template {ShownTree} [A=Answer] */
export class Table {
  /**
   * @param {TableBench} bench
   * @param {TableFace<A>} face
   */
  constructor(bench, face) {
    this.bench = bench;
    this.face = face;
    this.folding = new Folding();
    /** @type {A | null} */
    this.answer = null;
    /** @type {TableColumn[]} */
    this.columns = [];
    /** The places of the rows that are listed. */
    this.listed = new Int32Array(0);
    this.head = h("div", { class: "table-head", role: "rowgroup" });
    this.body = h("div", { class: "table-body", role: "rowgroup" });
    this.foot = h("p", { class: "table-foot" });
    this.grid = h(
      "div",
      {
        class: "table-grid",
        role: "treegrid",
        tabindex: 0,
        "aria-label": `Rows of the ${bench.kind} view`,
        onscroll: () => this.scheduled(),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.pressed(event),
        onclick: (/** @type {MouseEvent} */ event) => this.clicked(event),
        ondblclick: (/** @type {MouseEvent} */ event) => this.opened(event),
      },
      this.head,
      this.body,
    );
    this.element = h("section", { class: "table", "aria-label": "Table" }, this.grid, this.foot);
    this.frame = 0;
    new ResizeObserver(() => this.scheduled()).observe(this.grid);
  }

  /** @param {A} answer */
  show(answer) {
    this.answer = answer;
    this.folding.start(answer, this.face.size(answer), this.face.first(answer));
    this.columns = this.face.columns(answer);
    this.grid.style.setProperty("--columns", this.columns.map(({ width }) => width).join(" "));
    const isGrouped = this.columns.some(({ group }) => group !== "");
    fill(this.head, heading(this.bench, this.columns, isGrouped));
    fill(this.foot, this.face.foot(answer));
    this.grid.setAttribute("aria-colcount", String(this.columns.length + 1));
    this.list();
    this.select();
  }

  /** Show the selected row. */
  select() {
    const place = this.selectedPlace();
    if (this.answer && place >= 0) {
      if (this.folding.reveal(this.answer, place)) this.list();
      this.scrollTo(this.listed.indexOf(place));
    }
    this.draw();
  }

  /** Show what is searched for. */
  mark() {
    this.draw();
  }

  selectedPlace() {
    const { row } = this.bench.store.state;
    return row < 0 ? -1 : (this.answer?.placeOf[row] ?? -1);
  }

  /** List the rows again after some were folded or unfolded. */
  list() {
    if (!this.answer) return;
    this.listed = this.folding.listed(this.answer);
    this.body.style.height = `${this.listed.length * HEIGHT}px`;
    this.grid.setAttribute("aria-rowcount", String(this.listed.length + 1));
  }

  /** @param {number} line */
  scrollTo(line) {
    const top = line * HEIGHT;
    const height = this.grid.clientHeight - this.head.offsetHeight;
    if (height <= 0) return;
    if (top < this.grid.scrollTop) this.grid.scrollTop = top;
    else if (top + HEIGHT > this.grid.scrollTop + height) {
      this.grid.scrollTop = top + HEIGHT - height;
    }
  }

  scheduled() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** Put the visible rows into the document. */
  draw() {
    const { answer } = this;
    if (!answer) return;
    const first = Math.max(0, Math.floor(this.grid.scrollTop / HEIGHT) - MORE);
    const count = Math.ceil(this.grid.clientHeight / HEIGHT) + 2 * MORE;
    const last = Math.min(this.listed.length, first + count);
    const { search } = this.bench.store.state;
    const matches = matchingRows(answer.rows.data, search);
    const marked = matches ? search : "";
    const lines = [];
    for (let line = first; line < last; line += 1) {
      const isMatch = matches?.[answer.rows.row[this.listed[line]]] === 1;
      lines.push(this.line(answer, line, isMatch, marked));
    }
    fill(this.body, lines);
    const selected = this.selectedPlace();
    const line = selected < 0 ? -1 : this.listed.indexOf(selected);
    if (line >= first && line < last) {
      this.grid.setAttribute("aria-activedescendant", this.id(selected));
    } else this.grid.removeAttribute("aria-activedescendant");
  }

  /** @param {number} place */
  id(place) {
    return `row-${this.bench.kind}-${this.answer?.rows.row[place]}`;
  }

  /**
   * @param {A} answer
   * @param {number} line
   * @param {boolean} isMatch
   * @param {string} search
   */
  line(answer, line, isMatch, search) {
    const place = this.listed[line];
    const { rows } = answer;
    const isParent = rows.data.nested && rows.end[place] > place + 1;
    const isOpen = this.folding.open[rows.row[place]] === 1;
    const sign = isOpen ? "▾" : "▸";
    const fold = h("span", { class: "table-fold", "aria-hidden": "true" }, isParent && sign);
    const name = h(
      "span",
      { class: "table-name", role: "gridcell", title: this.face.title(answer, place) },
      fold,
      this.face.name(answer, place, isMatch ? search : ""),
    );
    name.style.setProperty("--depth", String(rows.depth[place] - 1));
    const element = h(
      "div",
      {
        class: isMatch ? "table-row table-match" : "table-row",
        role: "row",
        id: this.id(place),
        "data-place": place,
        "data-row": rows.row[place],
        "aria-level": rows.depth[place],
        "aria-rowindex": line + 2,
        "aria-expanded": isParent ? String(isOpen) : null,
        "aria-selected": String(place === this.selectedPlace()),
      },
      name,
      this.columns.map((column) =>
        h("span", { class: column.class, role: "gridcell" }, column.cell(place)),
      ),
    );
    element.style.top = `${line * HEIGHT}px`;
    return element;
  }

  /** @param {Event} event */
  placeAt(event) {
    const target = /** @type {Element} */ (event.target);
    const row = /** @type {HTMLElement | null} */ (target.closest(".table-row"));
    return row ? Number(row.dataset["place"]) : -1;
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    const place = this.placeAt(event);
    if (place < 0 || !this.answer) return;
    const isFold = /** @type {Element} */ (event.target).closest(".table-fold") !== null;
    if (isFold) this.toggle(place);
    else this.bench.select(this.answer.rows.row[place]);
  }

  /** @param {MouseEvent} event */
  opened(event) {
    const isFold = /** @type {Element} */ (event.target).closest(".table-fold") !== null;
    const place = this.placeAt(event);
    if (place >= 0 && !isFold) this.toggle(place);
  }

  /** @param {number} place */
  toggle(place) {
    const { answer } = this;
    if (!answer?.rows.data.nested || answer.rows.end[place] === place + 1) return;
    if (this.folding.open[answer.rows.row[place]]) this.folding.fold(answer, place);
    else this.folding.unfold(answer, place);
    this.list();
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey;
    if (!isPlain || event.target !== this.grid || !this.answer) return;
    if (!this.handled(this.answer, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * @param {A} answer
   * @param {string} key
   */
  handled(answer, key) {
    const { rows } = answer;
    const place = Math.max(0, this.selectedPlace());
    const isOpen = this.folding.open[rows.row[place]] === 1;
    const folds = key === " " || (isOpen ? key === "ArrowLeft" && place > 0 : key === "ArrowRight");
    if (folds && rows.end[place] > place + 1) this.toggle(place);
    else if (key === "Enter") this.bench.zoom.to(rows.row[place]);
    else {
      const page = Math.max(1, Math.floor(this.grid.clientHeight / HEIGHT) - 2);
      const target = targetOf(key, answer, this.listed, place, page);
      if (target < 0) return false;
      this.bench.select(rows.row[target]);
    }
    return true;
  }
}

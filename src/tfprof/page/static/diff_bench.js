// The picture and the table of a diff page, which share the selection.

import { listedAnswer, wholeAnswer } from "./diff_answers.js";
import { changeColours } from "./diff_colours.js";
import { CHANGES } from "./diff_columns.js";
import { MARK_WORDS } from "./diff_marks.js";
import {
  changeText, intervalText, percentOfBefore, shareOfChange, shortChange,
} from "./diff_texts.js";
import { amount, fill, h, nameOf } from "./dom.js";
import { Icicle } from "./icicle.js";
import { fullName } from "./row_names.js";
import { Table } from "./table.js";
import { formatted } from "./units.js";

/** @typedef {import("./diff_answers.js").DiffAnswer} DiffAnswer */
/** @typedef {import("./diff_types.d.ts").DiffContext} DiffContext */
/** @typedef {import("./diff_types.d.ts").DiffViewData} DiffViewData */

/** @type {import("./icicle.js").Face<DiffAnswer>} */
const FACE = {
  colourings: [{ key: "change", label: "change" }],
  colours: (_, answer) => changeColours(answer),
  note: (answer, place) => shortChange(answer, answer.rows.row[place]),
  noteColour: "--text", // the quiet one has too little contrast on red and blue
  describe,
};

/** The rows of one view. */
export class Bench {
  /**
   * @param {DiffContext} context
   * @param {DiffViewData} view
   */
  constructor({ payload, store }, view) {
    this.payload = payload;
    this.store = store;
    this.view = view;
    this.kind = view.kind;
    this.zoom = { row: 0, to: (/** @type {number} */ row) => this.zoomTo(row) };
    /** @type {DiffAnswer | null} what the picture shows */
    this.answer = null;
    /** @type {Icicle<DiffAnswer>} */
    this.picture = new Icicle(this, FACE);
    this.table = new Table(this, CHANGES);
    this.everything = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));
    this.everything.addEventListener("change", () => store.set({ options: this.chosen() }));
    this.caption = h("p", { class: "diff-caption" });
    this.element = h(
      "div",
      { class: "diff-bench" },
      this.picture.element,
      h(
        "div",
        { class: "diff-bar-above" },
        h("h2", null, "Changed rows"),
        this.caption,
        h("label", { class: "field" }, this.everything, "Show unchanged rows"),
      ),
      this.table.element,
    );
  }

  /** @param {number} row */
  select(row) {
    this.store.set({ row });
  }

  /** What siblings are sorted by: their change, unless the reader chose otherwise. */
  order() {
    return this.store.state.options["order_by"] ?? "";
  }

  /** @param {number} row */
  zoomTo(row) {
    this.zoom.row = row;
    this.picture.select();
  }

  /** The options with the state of the box. */
  chosen() {
    const options = { ...this.store.state.options };
    delete options["unchanged"];
    return this.everything.checked ? { ...options, unchanged: "true" } : options;
  }

  /** @param {Set<string>} changed */
  update(changed) {
    if (changed.has("metric") || changed.has("view")) this.show();
    else if (changed.has("options")) this.list();
    else if (changed.has("row")) this.follow();
  }

  /** Show the chosen number. */
  show() {
    const { metrics } = this.payload;
    const metric = metrics.find(({ key }) => key === this.store.state.metric) ?? metrics[0];
    this.answer = wholeAnswer(this.view, metric);
    fill(this.caption, captionOf(this.answer));
    this.picture.show(this.answer);
    this.list();
  }

  /** List the rows of the table. */
  list() {
    const { row, options } = this.store.state;
    const metric = this.answer?.metric;
    if (!metric) return;
    this.everything.checked = options["unchanged"] === "true";
    this.table.show(listedAnswer(this.view, metric, {
      isEverything: this.everything.checked,
      isByName: options["order_by"] === "name",
      selected: row,
    }));
  }

  /** Show the selected row. */
  follow() {
    const { row } = this.store.state;
    if (this.answer && row >= 0 && !isBelow(this.answer, this.zoom.row, row)) this.zoom.row = 0;
    this.picture.select();
    if (row >= 0 && this.table.answer && this.table.answer.placeOf[row] < 0) this.list();
    else this.table.select();
  }
}

/**
 * @param {DiffAnswer} answer
 * @param {number} root
 * @param {number} row
 */
function isBelow({ view: { end } }, root, row) {
  return row >= root && row < end[root];
}

/**
 * What the numbers of the table are.
 * @param {DiffAnswer} answer
 */
function captionOf({ metric, number: { times } }) {
  const title = `${metric.label[0].toUpperCase()}${metric.label.slice(1)}`;
  if (!times) return `${title}; exact.`;
  if (!times.is_conclusive) {
    return `${title} per step; there are too few steps to conclude anything about times.`;
  }
  return `${title} in the median step; ~ where the steps show no difference.`;
}

/**
 * The line below the picture.
 * @param {DiffAnswer} answer
 * @param {number} place
 */
function describe(answer, place) {
  const { view, metric, number, change, oldNames } = answer;
  const row = answer.rows.row[place];
  const old = oldNames.get(row);
  const word = MARK_WORDS[view.mark[row]];
  const [before, after] = [number.before[row], number.after[row]];
  const numbers = [
    amount(formatted(before, metric.unit), before, { "data-field": "before" }),
    " → ",
    amount(formatted(after, metric.unit), after, { "data-field": "after" }),
    " · ",
    amount(changeText(answer, row), change[row], { "data-field": "change" }),
    change[row] !== 0 && ` · ${percentOfBefore(before, after)} of before`,
    change[row] !== 0 && ` · ${shareOfChange(change[row], change[0])} of the whole change`,
  ];
  const interval = intervalText(answer, row);
  return [
    nameOf(fullName(view, row), { class: "name icicle-name" }),
    word && h("span", { class: `diff-mark diff-${word}` }, word),
    old !== undefined && h("span", { class: "quiet" }, "was ", nameOf(old)),
    h("span", { class: "icicle-numbers" }, numbers),
    interval && h("span", { class: "quiet" }, `95 % interval ${interval}`),
  ];
}

// The columns of the table of changes, and the line below it.

import { amount, h } from "./dom.js";
import { isShown } from "./diff_answers.js";
import { colourName, levelOf } from "./diff_colours.js";
import { MARK_WORDS } from "./diff_marks.js";
import {
  changeText, exactChange, intervalText, percentOfBefore, shareOfChange,
} from "./diff_texts.js";
import { ROOT, shortName } from "./row_names.js";
import { markedName } from "./search_marks.js";
import { exact, formatted, percent } from "./units.js";

/** @typedef {import("./diff_answers.js").DiffAnswer} DiffAnswer */
/** @typedef {import("./table_columns.js").TableColumn} TableColumn */

/** A bar of less than this share would only be a dot. */
const LEAST_BAR = 0.005;

/** The share of a change from which on a row has most of it. */
const MOST = 0.5;

const INTERVAL = "The change of the median step is within this interval with a confidence of 95 %.";

/** @type {import("./table.js").TableFace<DiffAnswer>} */
export const CHANGES = {
  columns: columnsOf,
  name: nameCell,
  title: ({ rows, oldNames }, place) => {
    const row = rows.row[place];
    const old = oldNames.get(row);
    const name = row === 0 ? ROOT : rows.data.name.get(row);
    return old === undefined ? name : `${name}\nbefore: ${old}`;
  },
  foot: footOf,
  size: ({ rows }) => rows.row.length,
  first: mainChange,
};

/**
 * @param {DiffAnswer} answer
 * @returns {TableColumn[]}
 */
function columnsOf(answer) {
  const { rows, metric, number, change } = answer;
  const at = (/** @type {number} */ place) => rows.row[place];
  const side = (/** @type {"before" | "after"} */ name) => column(name, "98px", (place) =>
    numberText(number[name][at(place)], metric.unit), metric.meaning);
  const found = [
    side("before"),
    side("after"),
    column("change", "178px", (place) => changeCell(answer, at(place)), "After minus before."),
    column("% of before", "92px", (place) =>
      percentOfBefore(number.before[at(place)], number.after[at(place)]), "Change by before."),
    column("% of all change", "128px", (place) =>
      shareOfChange(change[at(place)], change[0]), "Share of the change of all rows."),
  ];
  if (!metric.is_time || !number.times?.is_conclusive) return found;
  const interval = (/** @type {number} */ place) => intervalText(answer, at(place));
  return [...found, column("95 % interval", "216px", interval, INTERVAL)];
}

/**
 * @param {string} heading
 * @param {string} width
 * @param {TableColumn["cell"]} cell
 * @param {string} meaning
 * @returns {TableColumn}
 */
function column(heading, width, cell, meaning) {
  return {
    key: "", metric: "", heading, group: "", meaning, class: "table-number", width, cell,
  };
}

/**
 * @param {number} value
 * @param {import("./types.d.ts").Unit} unit
 */
function numberText(value, unit) {
  const attributes = value === 0 ? { class: "amount table-zero" } : { title: exact(value, unit) };
  return amount(formatted(value, unit), value, attributes);
}

/**
 * The change with a bar to the right for more, and to the left for less.
 * @param {DiffAnswer} answer
 * @param {number} row
 */
function changeCell(answer, row) {
  const { change, metric, total } = answer;
  const bar = h("span", { class: `diff-bar ${colourName(levelOf(answer, row))}` });
  const share = Math.min(Math.abs(change[row]) / Math.max(largest(answer), 1), 1);
  bar.style.width = total[0] > 0 && share >= LEAST_BAR ? `${50 * share}%` : "0";
  bar.style[change[row] < 0 ? "right" : "left"] = "50%";
  const quiet = isShown(answer, row) ? "" : " table-zero";
  const text = amount(changeText(answer, row), change[row], {
    class: `amount${quiet}`, title: exactChange(change[row], metric.unit),
  });
  return h("span", { class: "diff-barred" }, h("span", { class: "diff-track" }, bar), text);
}

/**
 * The largest change of any row.
 * @param {DiffAnswer} answer
 */
function largest({ change, rows }) {
  return rows.row.reduce((most, row) => Math.max(most, Math.abs(change[row])), 0);
}

/**
 * The name of a row, its name before if that was another one, and what happened to it.
 * @param {DiffAnswer} answer
 * @param {number} place
 * @param {string} search
 */
function nameCell({ view, rows, parent, oldNames }, place, search) {
  const row = rows.row[place];
  const above = parent[place] < 0 ? -1 : rows.row[parent[place]];
  const word = MARK_WORDS[view.mark[row]];
  const old = oldNames.get(row);
  return [
    markedName(shortName(view, row, above), search),
    word && h("span", { class: `diff-mark diff-${word}` }, word),
    old !== undefined && h("span", { class: "quiet diff-old" }, "was ", markedName(old, search)),
  ];
}

/**
 * The place where the change is: the first row is the largest, as long as it has most of the change
 * of the row above it.
 * @param {DiffAnswer} answer
 */
function mainChange({ rows: { row, end }, change }) {
  let place = 0;
  while (end[place] > place + 1 && isMost(change[row[place + 1]], change[row[place]])) place += 1;
  return place;
}

/**
 * @param {number} part
 * @param {number} whole
 */
function isMost(part, whole) {
  return part * whole > 0 && Math.abs(part) > MOST * Math.abs(whole);
}

/**
 * How many rows are listed, which are not, and what the page lacks.
 * @param {DiffAnswer} answer
 */
function footOf({ rows, view, metric, number }) {
  const listed = rows.row.length - 1;
  const all = view.end.length - 1;
  const missing = listed < all ? notListed(number, metric.is_time) : "";
  return [
    `${counted(listed)} of ${counted(all)} rows${missing}.`,
    view.left_out && h(
      "span",
      { "data-left-out": view.left_out.rows },
      ` ${counted(view.left_out.rows)} rows with the smallest numbers and changes are not in this `
      + `page. Together they have ${percent(view.left_out.before[metric.column], number.before[0])}`
      + ` of the ${metric.label} before, and `
      + `${percent(view.left_out.after[metric.column], number.after[0])} after.`,
    ),
  ];
}

/**
 * @param {DiffAnswer["number"]} number
 * @param {boolean} isTime
 */
function notListed({ unchanged, small }, isTime) {
  const why = `without a change${isTime ? " that the steps show" : ""}`;
  const reasons = [
    unchanged > 0 && `${counted(unchanged)} ${why}`,
    small > 0 && `${counted(small)} with changes below 0.5\u00a0% of the whole`,
  ].filter(Boolean);
  return reasons.length > 0 ? `; not listed: ${reasons.join(", ")}` : "";
}

/** @param {number} count */
function counted(count) {
  return count.toLocaleString("en-US");
}

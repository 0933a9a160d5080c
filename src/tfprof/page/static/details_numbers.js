// All numbers of a row, with all their digits, and what follows from them.

import { amount, h } from "./dom.js";
import { exact, formatted, percent } from "./units.js";

/** @typedef {import("./workbench.js").Answer} Answer */
/** @typedef {import("./workbench.js").Bench} Bench */
/** @typedef {import("./types.d.ts").Unit} Unit */

/**
 * A number of a row; `own` is null if the row shows none.
 * @typedef {{ key: string, label: string, unit: Unit, own: number | null, total: number }} Number_
 */

/**
 * @param {Bench} bench
 * @param {Answer} answer
 * @param {number} row
 */
export function numbersOf(bench, answer, row) {
  const found = all(bench, answer, row);
  // If nothing is below a row, its totals are its own numbers.
  const isNested = answer.rows.data.nested
    && (answer.rows.data.end[row] > row + 1 || found.some(({ own, total }) => differs(own, total)));
  const shown = found.filter(({ own, total }) => total !== 0 || own);
  return h(
    "table",
    { class: "details-numbers" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("td", null),
        isNested && h("th", { scope: "col" }, "own"),
        h("th", { scope: "col" }, "total"),
      ),
    ),
    h(
      "tbody",
      null,
      shown.map((one) => line(one, isNested, one.key === answer.metric.key)),
      rate(found, isNested),
      count(answer, row, isNested),
      share(answer, row, isNested),
    ),
  );
}

/**
 * @param {number | null} own
 * @param {number} total
 */
function differs(own, total) {
  return own !== null && own !== total;
}

/**
 * @param {Bench} bench
 * @param {Answer} answer
 * @param {number} row
 * @returns {Number_[]}
 */
function all({ payload }, { rows }, row) {
  const { data } = rows;
  const isOwn = data.accounted[row] === 1 || !data.nested;
  const numbers = payload.metrics.map(({ key, column, label, unit }) => ({
    key,
    label,
    unit,
    own: isOwn ? rows.own(column)[row] : null,
    total: rows.total(column)[row],
  }));
  const known = new Set(numbers.map(({ key }) => key));
  const others = data.columns
    .filter(({ key, column, unit }) => unit && !known.has(key)
      && (column in data.total || column in data.own))
    .map(({ key, column, heading, group, unit }) => ({
      key,
      label: group ? `${heading} ${group}` : heading,
      unit: unit ?? "count",
      own: isOwn && column in data.own ? rows.own(column)[row] : null,
      total: Math.max(0, rows.total(column)[row]),
    }));
  return [...numbers, ...others];
}

/**
 * @param {Number_} number
 * @param {boolean} isNested
 * @param {boolean} isChosen
 */
function line({ key, label, unit, own, total }, isNested, isChosen) {
  const ownText = own === null ? dash() : number(own, unit);
  const row = cells(label, isNested && ownText, number(total, unit));
  row.dataset["metric"] = key;
  row.classList.toggle("details-chosen", isChosen);
  return row;
}

/**
 * @param {string} label
 * @param {import("./dom.js").Child | import("./dom.js").Child[]} own false if it is not shown
 * @param {import("./dom.js").Child | import("./dom.js").Child[]} total
 */
export function cells(label, own, total) {
  return h(
    "tr",
    null,
    h("th", { scope: "row" }, label),
    own !== false && h("td", null, own),
    h("td", null, total),
  );
}

function dash() {
  return h("span", { class: "quiet" }, "–");
}

/**
 * A number as people read it, and below it with all its digits.
 * @param {number} value
 * @param {Unit} unit
 */
export function number(value, unit) {
  const short = formatted(value, unit);
  const long = exact(value, unit);
  return [amount(short, value), short !== long && h("span", { class: "details-exact" }, long)];
}

/**
 * Float operations per second, if both are known.
 * @param {Number_[]} numbers
 * @param {boolean} isNested
 */
function rate(numbers, isNested) {
  const work = numbers.find(({ key }) => key === "float_ops");
  const time = numbers.find(({ key }) => key === "micros");
  const total = work && time && perSecond(work.total, time.total);
  if (!total) return null;
  const row = cells("float ops per second", isNested && perSecond(work.own, time.own), total);
  row.dataset["metric"] = "rate";
  return row;
}

/**
 * @param {number | null} work
 * @param {number | null} nanos
 */
function perSecond(work, nanos) {
  if (!work || !nanos || work < 0 || nanos < 0) return null;
  const value = (1e9 * work) / nanos;
  return amount(`${formatted(value, "count")}/s`, value);
}

/**
 * The number of ops, of the row itself and with those below it.
 * @param {Answer} answer
 * @param {number} row
 * @param {boolean} isNested
 */
function count({ rows }, row, isNested) {
  const ops = rows.opCounts();
  let total = 0;
  for (let below = row; below < rows.data.end[row]; below += 1) total += ops[below];
  const [own, every] = [ops[row], total].map((one) => amount(one.toLocaleString("en-US"), one));
  const row_ = cells("ops", isNested && own, every);
  row_.dataset["metric"] = "ops";
  return row_;
}

/**
 * The share of the chosen metric.
 * @param {Answer} answer
 * @param {number} row
 * @param {boolean} isNested
 */
function share({ rows, own, total, whole }, row, isNested) {
  const ownShare = rows.data.accounted[row] ? percent(own[row], whole) : dash();
  return cells("share of the whole", isNested && ownShare, percent(total[row], whole));
}

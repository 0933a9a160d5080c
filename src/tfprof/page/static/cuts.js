// Why rows are not shown, in the words of `views/cuts.py` and `views/unmatched.py`.

import { compared, depthsOf, named, reaching } from "./select.js";
import { Patterns } from "./patterns.js";

/** @typedef {import("./kept_rows.js").KeptRows} KeptRows */
/** @typedef {ReturnType<typeof import("./select.js").select>} Selected */
/** @typedef {Selected["selection"]} Selection */

const NAME_FILTERS = /** @type {const} */ (["start", "trim", "show", "hide"]);

/**
 * Sentences about regexes without a match, and about rows that options leave out.
 * @param {Selected} selected
 */
export function cuts(selected) {
  const { selection, kept } = selected;
  const unmatched = [...devices(selection), ...names(selection)];
  const left = [...depth(selected), ...thresholds(selected)];
  const isEmpty = kept.length <= 1 && unmatched.length + left.length === 0;
  return [...unmatched, ...left, ...(isEmpty ? emptied(selected) : [])];
}

/** @param {Selection} selection */
function* names(selection) {
  const { question, data } = selection;
  for (const verb of NAME_FILTERS) {
    const patterns = question[verb];
    if (patterns.isEverything) continue;
    for (const source of patterns.sources) {
      const option = `${verb}_name_regexes`;
      const count = (/** @type {string} */ regex) => {
        const matches = selection.matches(option, new Patterns([regex], patterns.advice));
        return { rows: sum(matches) - matches[0], first: matches.indexOf(1, 1) };
      };
      if (count(source).rows > 0) continue;
      const hint = hintOf(source, "row", (regex) => {
        const { rows, first } = count(regex);
        return { rows, example: rows > 0 ? data.name.get(first) : "" };
      });
      yield `-${option}: no row matches \`${source}\`.${hint}`;
    }
  }
}

/** @param {Selection} selection */
function* devices({ question, numbers }) {
  const { device: patterns } = question;
  if (patterns.isEverything || patterns.isEmpty) return;
  const known = new Set(numbers.payload.ops.device.names.flat());
  if (known.size === 0) {
    yield "-device_regexes: no op has a device, because no run was recorded.";
    return;
  }
  for (const source of patterns.sources) {
    const count = (/** @type {string} */ regex) => {
      const one = new Patterns([`(?i)${regex}`], patterns.advice);
      const found = [...known, ""].filter((name) => one.matches(name));
      return { rows: found.length, example: found[0] ?? "" };
    };
    const regex = source.slice("(?i)".length);
    if (count(regex).rows > 0) continue;
    yield `-device_regexes: no device matches \`${regex}\`.${hintOf(regex, "device", count)}`;
  }
}

/**
 * A similar regex that matches, as the start of another sentence.
 * @param {string} regex
 * @param {string} what
 * @param {(regex: string) => { rows: number, example: string }} count
 */
function hintOf(regex, what, count) {
  for (const wider of widerThan(regex)) {
    const { rows, example } = count(wider);
    if (rows === 0) continue;
    const found = rows > 1
      ? `${rows.toLocaleString("en-US")} ${what}s, such as \`${example}\``
      : `\`${example}\``;
    return ` A regex must match the whole name: \`${wider}\` matches ${found}.`;
  }
  return "";
}

/**
 * Regexes that a reader may have meant, the narrowest first.
 * @param {string} regex
 */
function widerThan(regex) {
  const inner = regex.includes("|") ? `(?:${regex})` : regex;
  const lower = regex.toLowerCase();
  return [
    ...(regex.endsWith("/") ? [regex.replace(/\/+$/, "")] : []),
    `${inner}.*`,
    `.*${inner}`,
    `.*${inner}.*`,
    ...(lower === regex ? [] : [lower, `.*${lower}.*`]),
  ];
}

/** @param {Selected} selected */
function* depth({ selection, before }) {
  const { question: { maxDepth }, data } = selection;
  const kept = /** @type {KeptRows} */ (before.get("show"));
  if (maxDepth === Infinity) return;
  const depths = depthsOf(kept, selection);
  const flags = named(kept, selection);
  const reached = reaching(kept, selection);
  const deep = depths.filter((one, place) =>
    place > 0 && one > maxDepth && flags[place] && reached[place]);
  if (deep.length === 0) return;
  const limit = maxDepth + (data.nested ? 0 : 1);
  const where = data.nested
    ? maxDepth > 1 ? `below depth ${maxDepth}` : "below the root"
    : `after the first ${limit.toLocaleString("en-US")}`;
  const deepest = deep.reduce((one, other) => Math.max(one, other), 0);
  const are = deep.length === 1 ? "is" : "are";
  yield `${counted(deep.length, "row", "rows")} ${where} ${are} not shown; `
    + `-max_depth ${deepest} shows all.`;
}

/** @param {Selected} selected */
function* thresholds({ selection, before }) {
  const kept = /** @type {KeptRows} */ (before.get("reach"));
  if (kept.length <= 1) return;
  for (const { name, least, column } of compared(selection)) {
    let best = kept.rows[1];
    for (const row of kept.rows.subarray(1)) if (column[row] > column[best]) best = row;
    const largest = column[best];
    if (largest >= least) continue;
    const shown = `${largest.toLocaleString("en-US")} (\`${selection.data.name.get(best)}\`)`;
    const instead = largest > 0 ? `-${name} ${largest} shows it` : `leave out -${name}`;
    yield `no row reaches -${name} ${least}: the largest number is ${shown}; ${instead}.`;
  }
}

/**
 * Which options leave no row, if no single regex or threshold explains it.
 * @param {Selected} selected
 */
function* emptied({ selection }) {
  const { question, data } = selection;
  const used = Object.keys(question.texts).filter((name) =>
    name !== "order_by" && name !== "max_depth").map((name) => `-${name}`);
  const rows = counted(data.end.length - 1, "row", "rows");
  if (used.length === 1) yield `${used[0]} hides all ${rows}; remove it to see them.`;
  if (used.length > 1) {
    yield `no row passes all of ${used.join(", ")}; leave one out to see what the others keep.`;
  }
}

/** @param {Uint8Array} flags */
function sum(flags) {
  return flags.reduce((before, flag) => before + flag, 0);
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} many
 */
function counted(count, one, many) {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

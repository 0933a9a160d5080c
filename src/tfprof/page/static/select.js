// Filters and orders the rows of a view as `views/select.py` does, by the steps of its policy.

import { KeptRows } from "./kept_rows.js";
import { explained, OptionError } from "./options.js";

/** @typedef {import("./types.d.ts").Numbers} Numbers */
/** @typedef {import("./types.d.ts").Texts} Texts */
/** @typedef {import("./options.js").Question} Question */
/** @typedef {import("./patterns.js").Patterns} Patterns */
/** @typedef {import("./view_numbers.js").ViewNumbers} ViewNumbers */

/** A question about a view, and what its steps share. */
class Selection {
  /**
   * @param {Question} question
   * @param {ViewNumbers} numbers
   */
  constructor(question, numbers) {
    this.question = question;
    this.numbers = numbers;
    this.data = numbers.data;
    /** @type {((key: string) => Numbers) | null} totals over the rows in their order */
    this.running = null;
  }

  /** @param {string} key */
  total(key) {
    return this.running ? this.running(key) : this.numbers.total(key);
  }

  /**
   * Which rows of the data have a name that matches.
   * @param {string} option
   * @param {Patterns} patterns
   */
  matches(option, patterns) {
    return explained(option, () => patterns.matchColumn(this.data.name));
  }
}

/** @type {Record<string, (kept: KeptRows, selection: Selection) => KeptRows>} */
const STEPS = {
  account: (kept) => kept, // everything is accounted for
  recount: (kept) => kept,
  start,
  show: (kept, selection) => kept.keep(shown(kept, selection)),
  reach: (kept, selection) => kept.keep(reaching(kept, selection)),
  order,
  run_on: runOn,
  side_by_side: (kept) => kept.sideBySide(),
};

/**
 * The rows of a view that a question shows, and what each step received.
 * @param {Question} question
 * @param {ViewNumbers} numbers
 */
export function select(question, numbers) {
  const selection = new Selection(question, numbers);
  let kept = KeptRows.all(selection.data.end);
  /** @type {Map<string, KeptRows>} */
  const before = new Map();
  for (const step of selection.data.policy.steps) {
    before.set(step, kept);
    kept = STEPS[step](kept, selection);
  }
  return { kept, before, selection };
}

/**
 * Keep the topmost rows with matching names and everything below.
 * @param {KeptRows} kept
 * @param {Selection} selection
 */
function start(kept, selection) {
  const patterns = selection.question.start;
  const keepsAll = patterns.isEmpty && selection.data.policy.starts_by_default;
  if (patterns.isEverything || keepsAll) return kept;
  const matches = selection.matches("start_name_regexes", patterns);
  const flags = new Uint8Array(kept.length).map((_, place) => matches[kept.rows[place]]);
  flags[0] = 0;
  const below = kept.below(flags);
  return kept.keep(flags.map((flag, place) => flag | below[place]));
}

/**
 * Nest each row below the one before it, so that its total covers all later rows.
 * @param {KeptRows} kept
 * @param {Selection} selection
 */
function runOn(kept, selection) {
  selection.running = (key) => {
    const own = selection.numbers.own(key);
    const found = new Float64Array(own.length);
    let sum = 0;
    for (let place = kept.length - 1; place >= 0; place -= 1) {
      sum += own[kept.rows[place]];
      found[kept.rows[place]] = sum;
    }
    return found;
  };
  return kept.chained();
}

/**
 * Which rows have the depth, device and name that the options ask for.
 * @param {KeptRows} kept
 * @param {Selection} selection
 */
function shown(kept, selection) {
  const { maxDepth } = selection.question;
  const flags = named(kept, selection);
  if (maxDepth === Infinity) return flags;
  const depths = depthsOf(kept, selection);
  return flags.map((flag, place) => (depths[place] <= maxDepth ? flag : 0));
}

/**
 * The depth of each row, 1 for the root; in a flat list, its position from 0.
 * @param {KeptRows} kept
 * @param {Selection} selection
 */
export function depthsOf(kept, selection) {
  return selection.data.nested ? kept.depths : kept.rows.map((_, place) => place - 1);
}

/**
 * Which rows have the device and name that the options ask for.
 * @param {KeptRows} kept
 * @param {Selection} selection
 */
export function named(kept, selection) {
  const { device, trim, show, hide } = selection.question;
  const flags = new Uint8Array(kept.length).fill(1);
  if (!device.isEverything) {
    const ran = ranOn(selection);
    filter(flags, kept, (row) => ran[row] === 1);
  }
  if (!trim.isEmpty) {
    const trimmed = isTrimmed(kept, selection);
    for (let place = 0; place < flags.length; place += 1) flags[place] &= 1 - trimmed[place];
  }
  if (!show.isEverything) {
    const matches = selection.matches("show_name_regexes", show);
    filter(flags, kept, (row) => matches[row] === 1);
  }
  if (!hide.isEmpty) {
    const matches = selection.matches("hide_name_regexes", hide);
    filter(flags, kept, (row) => matches[row] === 0);
  }
  return flags;
}

/**
 * Clear the flags of rows that do not pass.
 * @param {Uint8Array} flags
 * @param {KeptRows} kept
 * @param {(row: number) => boolean} passes
 */
function filter(flags, kept, passes) {
  for (let place = 0; place < flags.length; place += 1) {
    if (!passes(kept.rows[place])) flags[place] = 0;
  }
}

/**
 * Which rows are below a trimmed row, or are trimmed rows that the policy drops as well.
 * @param {KeptRows} kept
 * @param {Selection} selection
 */
function isTrimmed(kept, selection) {
  const { data } = selection;
  const matches = selection.matches("trim_name_regexes", selection.question.trim);
  const flags = new Uint8Array(kept.length).map((_, place) => matches[kept.rows[place]]);
  if (!data.nested) flags[0] = 0;
  const below = kept.below(flags);
  return data.policy.trimmed_rows_vanish ? below.map((flag, at) => flag | flags[at]) : below;
}

/**
 * Which rows have an op on a device that the options ask for.
 * @param {Selection} selection
 */
function ranOn(selection) {
  const { numbers, question: { device: patterns }, data } = selection;
  const { device } = numbers.payload.ops;
  const noDevice = patterns.matches("") ? 1 : 0;
  const ofList = device.names.map((names) =>
    (names.length > 0 ? Number(names.some((name) => patterns.matches(name))) : noDevice));
  if (!data.gathered) {
    const ofOp = (/** @type {number} */ op) => (op >= 0 ? ofList[device.codes[op]] : noDevice);
    return new Uint8Array(data.op.length).map((_, row) => ofOp(data.op[row]));
  }
  const rows = numbers.rowOfOps();
  const found = new Uint8Array(data.ops.length).map((_, row) => (data.ops[row] > 0 ? 0 : noDevice));
  for (let op = 0; op < rows.length; op += 1) {
    if (rows[op] >= 0) found[rows[op]] |= ofList[device.codes[op]];
  }
  return found;
}

/**
 * Which rows reach every threshold.
 * @param {KeptRows} kept
 * @param {Selection} selection
 */
export function reaching(kept, selection) {
  const flags = new Uint8Array(kept.length).fill(1);
  for (const { least, column } of compared(selection)) {
    filter(flags, kept, (row) => column[row] >= least);
  }
  return flags;
}

/**
 * The thresholds that may hide rows, each with the numbers that it is compared with.
 * @param {Selection} selection
 */
export function compared(selection) {
  const { question, numbers, data } = selection;
  /** @type {{ name: string, metric: string, least: number, column: Numbers }[]} */
  const found = [];
  for (const { option: { name, metric, is_measured: isMeasured }, least } of question.thresholds) {
    if (metric === "occurrence") {
      const columns = occurrences(selection, least);
      found.push(...columns.map((column) => ({ name, metric, least, column })));
    } else if (least > 0 || numbers.hasNegative(metric)) {
      const isOwn = !data.gathered && !isMeasured;
      const column = isOwn ? numbers.own(metric) : selection.total(metric);
      found.push({ name, metric, least, column });
    }
  }
  return found;
}

/**
 * @param {Selection} selection
 * @param {number} least
 * @returns {Numbers[]}
 */
function occurrences({ numbers, data }, least) {
  if (data.policy.counts_ops && least > 0) return [data.ops];
  const isUsed = !data.gathered && (least > 0 || numbers.hasNegative("runs"));
  return isUsed ? [numbers.own("runs")] : [];
}

/**
 * Sort siblings by name, or by a number in descending order.
 * @param {KeptRows} kept
 * @param {Selection} selection
 */
function order(kept, selection) {
  const { question: { orderBy }, data, numbers } = selection;
  if (!orderBy) return kept;
  if (orderBy === "occurrence" && data.gathered) {
    return kept.ordered((one, other) => data.ops[other] - data.ops[one]);
  }
  if (orderBy === "name" || orderBy === "occurrence") {
    return kept.ordered((one, other) => compareTexts(data.name, one, other));
  }
  if (!numbers.has(orderBy)) {
    throw new OptionError("order_by", `order_by ${orderBy} needs tfprof ui in this view.`);
  }
  const column = data.nested ? selection.total(orderBy) : numbers.own(orderBy);
  return kept.ordered((one, other) => column[other] - column[one]);
}

/**
 * Compare two texts by their bytes.
 * @param {Texts} texts
 * @param {number} one
 * @param {number} other
 */
export function compareTexts({ data, starts, ends }, one, other) {
  const sizes = [ends[one] - starts[one], ends[other] - starts[other]];
  const size = Math.min(...sizes);
  for (let at = 0; at < size; at += 1) {
    const difference = data[starts[one] + at] - data[starts[other] + at];
    if (difference !== 0) return difference;
  }
  return sizes[0] - sizes[1];
}

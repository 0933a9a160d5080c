// The values of options, read from texts as the command line reads them.

import { InvalidPattern, listed, Patterns } from "./patterns.js";

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").Option} Option */

/** An option with a value that it cannot have; the message is one line. */
export class OptionError extends Error {
  /**
   * @param {string} option
   * @param {string} message
   */
  constructor(option, message) {
    super(message);
    this.option = option;
  }
}

const EVERYTHING = ".*";
const NOTHING = "";

/** Options that a page without a server can apply: all others need ops to be counted again. */
const APPLIED = new Set([
  "start_name_regexes",
  "trim_name_regexes",
  "show_name_regexes",
  "hide_name_regexes",
  "device_regexes",
  "max_depth",
  "order_by",
]);

/**
 * Whether a page without a server can apply an option.
 * @param {Option} option
 */
export function isApplied(option) {
  return APPLIED.has(option.name) || isThreshold(option);
}

/** @param {Option} option */
export function isThreshold(option) {
  return option.name.startsWith("min_");
}

/**
 * A whole number.
 * @param {string} option
 * @param {string} text
 */
export function numberOf(option, text) {
  const number = Number(text.trim().replaceAll(/(?<=\d)_(?=\d)/g, ""));
  if (!/^\s*[+-]?\d+(_\d+)*\s*$/.test(text)) {
    throw new OptionError(option, `\`${option}\` takes a whole number, not \`${text}\`.`);
  }
  if (!Number.isSafeInteger(number)) {
    throw new OptionError(option, `\`${option}\` is out of range: ${text} is too large.`);
  }
  return number;
}

/** The options of a question; what is not given has its default, and `max_depth` no limit. */
export class Question {
  /**
   * @param {Record<string, string>} texts by option
   * @param {Payload} payload
   */
  constructor(texts, payload) {
    this.texts = texts;
    this.payload = payload;
    for (const name of Object.keys(texts)) {
      const option = payload.options.find((one) => one.name === name);
      if (!option || !isApplied(option)) throw new OptionError(name, `${name} needs tfprof ui.`);
    }
    this.start = this.patterns("start_name_regexes", EVERYTHING);
    this.trim = this.patterns("trim_name_regexes", NOTHING);
    this.show = this.patterns("show_name_regexes", EVERYTHING);
    this.hide = this.patterns("hide_name_regexes", NOTHING);
    this.device = this.devicePatterns();
    this.maxDepth = "max_depth" in texts ? numberOf("max_depth", texts["max_depth"]) : Infinity;
    this.orderBy = this.orderKey();
    this.thresholds = payload.options.filter(isThreshold).map((option) => ({
      option,
      least: option.name in texts ? numberOf(option.name, texts[option.name]) : 0,
    }));
  }

  /**
   * @param {string} name
   * @param {string} unset the regexes if the option is not given
   */
  patterns(name, unset) {
    const sources = listed(this.texts[name] ?? unset);
    return explained(name, () => new Patterns(sources, this.payload.advice_on_regexes));
  }

  /** Devices are matched in any case; `isEverything` is that of the option itself. */
  devicePatterns() {
    const given = this.patterns("device_regexes", EVERYTHING);
    if (given.isEverything) return given;
    const sources = given.sources.map((source) => `(?i)${source}`);
    return explained("device_regexes", () => new Patterns(sources, given.advice));
  }

  /** The key to sort by, empty for the order of the data. */
  orderKey() {
    const text = this.texts["order_by"] ?? "auto";
    const key = text.replaceAll(/^["']+|["']+$/g, "");
    if (key === "auto") return "";
    const known = this.payload.order_keys;
    if (!known.includes(key)) {
      throw new OptionError("order_by", `\`order_by\` cannot be \`${key}\`; ${oneOf(known)}.`);
    }
    return key;
  }
}

/** @param {string[]} known */
function oneOf(known) {
  return `use one of ${known.join(", ")}`;
}

/**
 * The result of a function; an invalid regex becomes an error of the option.
 * @template T
 * @param {string} option
 * @param {() => T} compute
 */
export function explained(option, compute) {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof InvalidPattern)) throw error;
    throw new OptionError(option, `\`${option}\`: ${error.message}`);
  }
}

// Lists of regexes, matched against whole names, as in `patterns.py`.

import { Automaton } from "./automaton.js";
import { parsed } from "./regex.js";
import { PatternError } from "./regex_sets.js";

/** @typedef {import("./types.d.ts").Texts} Texts */

const MOST_REMEMBERED = 24;

/** @type {Map<string, Automaton>} */
const automata = new Map();
/** @type {WeakMap<Texts, Map<string, Uint8Array>>} */
const columns = new WeakMap();

/** A regex that cannot be used, with a sentence that says what to write instead. */
export class InvalidPattern extends Error {}

/**
 * The regexes of an option, given as comma-separated text; quotes around the text are dropped.
 * @param {string} text
 */
export function listed(text) {
  return text.replace(/^["']+|["']+$/g, "").split(",").filter((item) => item !== "");
}

/** A list of regexes, which matches a name if any of them matches all of it. */
export class Patterns {
  /**
   * @param {string[]} sources
   * @param {Record<string, string>} advice what to write instead, by the start of RE2's error
   */
  constructor(sources, advice) {
    this.sources = sources;
    this.advice = advice;
    for (const source of sources) this.explained(source, () => automaton(source));
  }

  /** Whether the only regex is `.*`, which matches every name, even with newlines. */
  get isEverything() {
    return this.sources.length === 1 && this.sources[0] === ".*";
  }

  get isEmpty() {
    return this.sources.length === 0;
  }

  /**
   * Which of the names match, as 0 and 1.
   * @param {Texts} names
   */
  matchColumn(names) {
    const found = new Uint8Array(names.length);
    if (this.isEverything) return found.fill(1);
    for (const source of this.sources) {
      const flags = this.explained(source, () => remembered(names, source));
      for (let row = 0; row < found.length; row += 1) found[row] |= flags[row];
    }
    return found;
  }

  /**
   * Whether a text matches.
   * @param {string} text
   */
  matches(text) {
    const data = new TextEncoder().encode(text);
    const column = { data, starts: Uint8Array.of(0), ends: Uint32Array.of(data.length), length: 1 };
    return this.isEverything || this.sources.some((source) =>
      this.explained(source, () => automaton(source).matchColumn(column)[0] === 1));
  }

  /**
   * The result of a function; an error that it throws becomes a sentence.
   * @template T
   * @param {string} source
   * @param {() => T} compute
   * @returns {T}
   */
  explained(source, compute) {
    try {
      return compute();
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      const sentence = error.advice || adviceOn(error.message, this.advice);
      const shown = source.replace(/\p{Cs}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
      throw new InvalidPattern(`pattern \`${shown}\`: ${sentence}.`.replaceAll("\n", "\\n"));
    }
  }
}

/**
 * @param {string} error
 * @param {Record<string, string>} advice
 */
function adviceOn(error, advice) {
  const part = error.includes(": ") ? error.slice(error.indexOf(": ") + 2) : "";
  const start = Object.keys(advice).find((key) => error.startsWith(key)) ?? "";
  return (advice[start] ?? error).replaceAll("{error}", () => error)
    .replaceAll("{part}", () => part);
}

/** @param {string} source */
function automaton(source) {
  return recent(automata, source, () => new Automaton(parsed(source)));
}

/**
 * Which of the names a regex matches; the latest results are kept.
 * @param {Texts} names
 * @param {string} source
 */
function remembered(names, source) {
  const known = columns.get(names) ?? new Map();
  columns.set(names, known);
  return recent(known, source, () => automaton(source).matchColumn(names));
}

/**
 * A value by its key, computed if it is not known; the oldest are forgotten.
 * @template T
 * @param {Map<string, T>} known
 * @param {string} key
 * @param {() => T} compute
 * @returns {T}
 */
function recent(known, key, compute) {
  const found = known.get(key) ?? compute();
  known.delete(key);
  known.set(key, found);
  const [oldest] = known.keys();
  if (known.size > MOST_REMEMBERED) known.delete(oldest);
  return found;
}

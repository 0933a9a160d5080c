// Reads regexes in the language of RE2, which tfprof uses, as trees. JavaScript's own regexes are
// another language, and some of them take very long to match; see `automaton.js`.

import { complement, EVERYTHING } from "./characters.js";
import { PatternError, SetReader } from "./regex_sets.js";

/** @typedef {import("./characters.js").Ranges} Ranges */
/** @typedef {"textStart" | "textEnd" | "lineStart" | "lineEnd" | "boundary" | "inside"} Place */
/**
 * @typedef {{ type: "set", ranges: Ranges }
 *   | { type: "place", place: Place }
 *   | { type: "sequence", parts: Node[] }
 *   | { type: "choice", parts: Node[] }
 *   | { type: "repeat", part: Node, least: number, most: number }} Node
 */

const MOST_REPEATS = 1000;
// RE2 has no such limits.
const MOST_LENGTH = 10_000;
const MOST_DEPTH = 1000;
const WITHOUT_LIMIT = Infinity;

/** @type {Record<string, [number, number]>} */
const SIGNS = { "*": [0, WITHOUT_LIMIT], "+": [1, WITHOUT_LIMIT], "?": [0, 1] };

const REPEAT = /[*+?]|\{(0|[1-9][0-9]{0,8})(?:(,)(0|[1-9][0-9]{0,8})?)?\}/uy;
const QUOTED = /\\Q([^]*?)(?:\\E|$)/uy;
const LOOK_AROUND = /\(\?(?:[=!]|<[=!])/uy;
const NAMED_GROUP = /\(\?P?<([^>]*)>/uy;
const STARTS_NAMED_GROUP = /\(\?(?:P<|<(?=[^]))/uy;
const FLAGS = /\(\?([imsU]*)(?:(-)([imsU]*))?/uy;
const WORD = /^[\p{L}\p{M}\p{N}\p{Pc}]+$/u;

/** @type {Map<string, Place>} */
const PLACES = new Map(Object.entries({
  "\\A": /** @type {const} */ ("textStart"),
  "\\z": /** @type {const} */ ("textEnd"),
  "\\b": /** @type {const} */ ("boundary"),
  "\\B": /** @type {const} */ ("inside"),
}));

/**
 * The tree of a regex; throws `PatternError` if it is invalid.
 * @param {string} pattern
 * @returns {Node}
 */
export function parsed(pattern) {
  if (/\p{Cs}/u.test(pattern)) throw new PatternError("invalid UTF-8");
  if (pattern.length > MOST_LENGTH) {
    throw new PatternError("", `it is longer than ${MOST_LENGTH.toLocaleString("en")} characters`);
  }
  return new Reader(pattern).whole();
}

class Reader extends SetReader {
  depth = 0;

  whole() {
    const found = this.choice();
    if (this.at < this.pattern.length) throw new PatternError(`unexpected ): ${this.pattern}`);
    return found;
  }

  /**
   * Everything up to the end of the group, or of the pattern.
   * @returns {Node}
   */
  choice() {
    /** @type {Node[][]} */
    const branches = [[]];
    let isRepeated = "";
    while (this.at < this.pattern.length && !this.sees(")")) {
      const branch = branches[branches.length - 1];
      const repeat = this.take(REPEAT);
      if (repeat) {
        isRepeated = this.repeat(branch, repeat, isRepeated);
      } else {
        isRepeated = "";
        if (this.take(/\|/uy)) branches.push([]);
        else this.extend(branch);
      }
    }
    const parts = branches.map((branch) => sequence(branch));
    return parts.length === 1 ? parts[0] : { type: "choice", parts };
  }

  /**
   * Repeat the last part of a branch; returns the text of the repetition.
   * @param {Node[]} branch
   * @param {RegExpExecArray} sign
   * @param {string} before the repetition that precedes this one directly, which is an error
   */
  repeat(branch, sign, before) {
    const [text, first, comma, second] = sign;
    const shown = text + (this.take(/\?/uy)?.[0] ?? "");
    if (before) throw new PatternError(`bad repetition operator: ${before}${shown}`);
    const part = branch.pop();
    if (!part) throw new PatternError(`no argument for repetition operator: ${shown}`);
    const [least, most] = first === undefined ? SIGNS[text] : limits(first, comma, second);
    /** @type {Node} */
    const found = { type: "repeat", part, least, most };
    if (most < least || (first !== undefined && repeats(found) > MOST_REPEATS)) {
      throw new PatternError(`invalid repetition size: ${shown}`);
    }
    branch.push(found);
    return shown;
  }

  /**
   * Add what comes next to a branch.
   * @param {Node[]} branch
   */
  extend(branch) {
    const quoted = this.take(QUOTED);
    if (quoted) branch.push(...Array.from(quoted[1], (text) => this.set(text.codePointAt(0) ?? 0)));
    else if (this.sees("(")) branch.push(...this.group());
    else if (this.sees("[")) branch.push({ type: "set", ranges: this.bracket() });
    else branch.push(this.atom());
  }

  /** The group that starts here; none if it only sets flags. */
  group() {
    const start = this.at;
    const outer = new Set(this.flags);
    if (this.sees("(?")) {
      if (this.opening(start) === ")") return [];
    } else {
      this.at += 1;
    }
    this.depth += 1;
    if (this.depth > MOST_DEPTH) {
      throw new PatternError("", `groups are nested more than ${MOST_DEPTH} deep`);
    }
    const inside = this.choice();
    if (!this.sees(")")) throw new PatternError(`missing ): ${this.pattern}`);
    this.at += 1;
    this.depth -= 1;
    this.useFlags(outer);
    return [inside];
  }

  /**
   * Step over the start of a group with `(?`; returns its last character.
   * @param {number} start
   */
  opening(start) {
    const refused = this.next(LOOK_AROUND);
    if (refused) throw new PatternError(`invalid perl operator: ${refused}`);
    if (this.next(STARTS_NAMED_GROUP)) return this.namedGroup(start);
    const [, added, minus, removed] = this.take(FLAGS) ?? [];
    const end = this.take(/[^]/uy)?.[0];
    if ((end !== ":" && end !== ")") || (minus && !removed)) {
      const shown = this.pattern.slice(start, this.at);
      throw new PatternError(`invalid perl operator: ${shown}`);
    }
    for (const flag of added) this.flags.add(flag);
    for (const flag of removed ?? "") this.flags.delete(flag);
    return end;
  }

  /** @param {number} start */
  namedGroup(start) {
    const named = this.take(NAMED_GROUP);
    if (!named || !WORD.test(named[1])) {
      const shown = named ? named[0] : this.pattern.slice(start);
      throw new PatternError(`invalid named capture group: ${shown}`);
    }
    return ">";
  }

  /**
   * One character, set or place outside of square brackets.
   * @returns {Node}
   */
  atom() {
    const place = PLACES.get(this.pattern.slice(this.at, this.at + 2));
    if (place) {
      this.at += 2;
      return { type: "place", place };
    }
    if (this.sees("\\C")) {
      throw new PatternError("", "`\\C` is not supported here; write `.` to match a character");
    }
    if (this.take(/\^/uy)) {
      return { type: "place", place: this.flags.has("m") ? "lineStart" : "textStart" };
    }
    if (this.take(/\$/uy)) {
      return { type: "place", place: this.flags.has("m") ? "lineEnd" : "textEnd" };
    }
    if (this.take(/\./uy)) {
      const ranges = this.flags.has("s") ? EVERYTHING : complement([[10, 10]]);
      return { type: "set", ranges };
    }
    const named = this.namedSet();
    return named ? { type: "set", ranges: named } : this.set(this.character());
  }

  /**
   * @param {number} code
   * @returns {Node}
   */
  set(code) {
    return { type: "set", ranges: this.signed([[code, code]]) };
  }
}

/**
 * The least and most repetitions of `{first}`, `{first,}` or `{first,second}`.
 * @param {string} first
 * @param {string | undefined} comma
 * @param {string | undefined} second
 * @returns {[number, number]}
 */
function limits(first, comma, second) {
  if (second !== undefined) return [Number(first), Number(second)];
  return [Number(first), comma ? WITHOUT_LIMIT : Number(first)];
}

/**
 * @param {Node[]} parts
 * @returns {Node}
 */
function sequence(parts) {
  return parts.length === 1 ? parts[0] : { type: "sequence", parts };
}

/**
 * How often a part of a tree is repeated at most by counts, one inside the other.
 * @param {Node} node
 * @returns {number}
 */
function repeats(node) {
  if (node.type === "set" || node.type === "place") return 1;
  if (node.type !== "repeat") return Math.max(1, ...node.parts.map(repeats));
  const most = node.most === WITHOUT_LIMIT ? node.least : node.most;
  return repeats(node.part) * Math.max(1, most);
}

// Reads the characters and sets of characters of regexes in the language of RE2.

import {
  complement,
  folded,
  LAST,
  perlClass,
  posixClass,
  unicodeGroup,
  union,
} from "./characters.js";

/** @typedef {import("./characters.js").Ranges} Ranges */

const CLASS_NAME = /\[:([^]*?):\]/uy;
const UNICODE_GROUP = /\\([pP])(?:\{([^}]*)\}|([^{]))/uy;
const PERL_CLASS = /\\([dDsSwW])/uy;
const RANGE_DASH = /-(?=[^\]])/uy;
const ESCAPED = new RegExp(
  "\\\\(?:x\\{([0-9A-Fa-f]+)\\}|x([0-9A-Fa-f]{2})|(0[0-7]{0,2}|[1-7][0-7]{1,2})"
  + "|([afnrtv])|([\\0-/:-@[-`{-\\x7f]))",
  "uy",
);
/** What an error shows of an escape sequence that is none. */
const BAD_ESCAPE = /\\(?:x(?:\{[0-9A-Fa-f]*[^]?|[^{][^]?)?|[^])/uy;
const CONTROLS = new Map(Object.entries({ a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 }));

/** A regex that cannot be used: the text of RE2's error, or advice if RE2 would accept it. */
export class PatternError extends Error {
  /**
   * @param {string} error
   * @param {string} [advice]
   */
  constructor(error, advice = "") {
    super(error);
    this.advice = advice;
  }
}

/** Reads a regex from left to right. */
export class SetReader {
  /** @param {string} pattern */
  constructor(pattern) {
    this.pattern = pattern;
    this.at = 0;
    /** @type {Set<string>} */
    this.flags = new Set();
  }

  /** @param {Set<string>} flags */
  useFlags(flags) {
    this.flags = flags;
  }

  /** @param {string} text */
  sees(text) {
    return this.pattern.startsWith(text, this.at);
  }

  /**
   * Step over what matches if it comes next.
   * @param {RegExp} token
   */
  take(token) {
    token.lastIndex = this.at;
    const found = token.exec(this.pattern);
    if (found) this.at = token.lastIndex;
    return found;
  }

  /** @param {RegExp} token */
  next(token) {
    token.lastIndex = this.at;
    return token.exec(this.pattern)?.[0] ?? "";
  }

  /** The characters of the class in square brackets that starts here. */
  bracket() {
    const start = this.at;
    this.at += 1;
    const isNegated = this.take(/\^/uy) !== null;
    /** @type {Ranges} */
    const found = [];
    do {
      if (this.at === this.pattern.length) throw this.unclosed(start);
      found.push(...this.members(start));
    } while (!this.sees("]"));
    this.at += 1;
    return isNegated ? complement(union(found)) : union(found);
  }

  /** @param {number} start */
  unclosed(start) {
    return new PatternError(`missing ]: ${this.pattern.slice(start)}`);
  }

  /**
   * The next member of a class: a named set, a range or one character.
   * @param {number} start where the class starts
   */
  members(start) {
    const named = this.take(CLASS_NAME);
    if (named) {
      const isNegated = named[1].startsWith("^");
      const ranges = posixClass(named[1].slice(isNegated ? 1 : 0));
      if (!ranges) throw new PatternError(`invalid character class range: ${named[0]}`);
      return this.signed(ranges, isNegated);
    }
    const group = this.namedSet(true);
    if (group) return group;
    const from = this.at;
    const first = this.character();
    let last = first;
    if (this.take(RANGE_DASH)) last = this.character();
    else if (this.at === this.pattern.length) throw this.unclosed(start);
    if (last < first) {
      const shown = this.pattern.slice(from, this.at);
      throw new PatternError(`invalid character class range: ${shown}`);
    }
    return this.signed([[first, last]]);
  }

  /** The characters of the `\d`, `\pL` or similar that comes next, null if none does. */
  namedSet(isInClass = false) {
    const perl = this.take(PERL_CLASS);
    if (perl) {
      const lower = perl[1].toLowerCase();
      return this.signed(perlClass(lower) ?? [], perl[1] !== lower);
    }
    const start = this.at;
    const group = this.take(UNICODE_GROUP);
    if (!group) {
      if (!this.sees("\\p") && !this.sees("\\P")) return null;
      if (isInClass && start + 2 === this.pattern.length) return null;
      const rest = this.pattern.slice(start);
      throw new PatternError(`invalid character class range: ${rest}`);
    }
    const [shown, letter, braced, single] = group;
    const name = braced ?? single;
    const isInverted = name.startsWith("^");
    const ranges = unicodeGroup(name.slice(isInverted ? 1 : 0));
    if (!ranges) throw new PatternError(`invalid character class range: ${shown}`);
    return this.signed(ranges, (letter === "P") !== isInverted);
  }

  /**
   * The characters of ranges in the cases asked for, or all others.
   * @param {Ranges} ranges
   */
  signed(ranges, isNegated = false) {
    const found = this.flags.has("i") ? folded(ranges) : ranges;
    return isNegated ? complement(found) : found;
  }

  /** The code of the character that comes next, escaped or not. */
  character() {
    if (!this.sees("\\")) {
      const code = this.pattern.codePointAt(this.at) ?? 0;
      this.at += code > 0xffff ? 2 : 1;
      return code;
    }
    if (this.at + 1 === this.pattern.length) throw new PatternError("trailing \\");
    const start = this.at;
    const escaped = this.take(ESCAPED);
    const code = escaped ? escapedCode(escaped) : LAST + 1;
    if (code > LAST) {
      this.at = start;
      throw new PatternError(`invalid escape sequence: ${this.badEscape()}`);
    }
    return code;
  }

  /** The escape sequence that comes next, up to the character that makes it invalid. */
  badEscape() {
    const text = this.next(BAD_ESCAPE);
    const prefix = "\\x{".length;
    let size = prefix + 1;
    while (size < text.length && parseInt(text.slice(prefix, size), 16) <= LAST) size += 1;
    return text.startsWith("\\x{") ? text.slice(0, size) : text;
  }
}

/** @param {RegExpExecArray} found */
function escapedCode([, long, short, octal, letter, mark]) {
  if (octal) return parseInt(octal, 8);
  if (letter ?? mark) return CONTROLS.get(letter) ?? mark.charCodeAt(0);
  return parseInt(long ?? short, 16);
}

// Sets of characters in regexes, as RE2 defines them: ascending ranges of code points.

/** @typedef {[number, number][]} Ranges */

/** The last code point. */
export const LAST = 0x10ffff;

/** @type {Ranges} */
export const EVERYTHING = [[0, LAST]];

const DIGIT = "09";
const LETTER = "AZaz";

/** The characters of `[:name:]`, as pairs of first and last. */
const POSIX = new Map(Object.entries({
  alnum: DIGIT + LETTER,
  alpha: LETTER,
  ascii: "\u0000\u007f",
  blank: "\t\t  ",
  cntrl: "\u0000\u001f\u007f\u007f",
  digit: DIGIT,
  graph: "!~",
  lower: "az",
  print: " ~",
  punct: "!/:@[`{~",
  space: "\t\r  ",
  upper: "AZ",
  word: `${DIGIT}AZ__az`,
  xdigit: `${DIGIT}AFaf`,
}));

/** The characters of `\d`, `\s` and `\w`; unlike `[:space:]`, `\s` has no vertical tab. */
const PERL = new Map(Object.entries({ d: DIGIT, s: "\t\n\f\r  ", w: `${DIGIT}AZ__az` }));

// JavaScript also knows unassigned characters and groups of letters, which RE2 does not.
const CATEGORIES = new Set(
  ("C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So "
    + "Z Zl Zp Zs").split(" "),
);
const ASSIGNED_OTHERS = "[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}]";
// Codes of scripts, which RE2 does not know, have four letters; these names have four as well.
const SHORT_SCRIPTS = new Set(["Ahom", "Cham", "Kawi", "Lisu", "Newa", "Thai", "Toto"]);

/** @type {Map<string, Ranges | null>} */
const known = new Map();

/**
 * The characters of a class such as `alpha`, null if there is none of that name.
 * @param {string} name
 */
export function posixClass(name) {
  return pairs(POSIX.get(name));
}

/**
 * The characters of `\d`, `\s` or `\w`, null for other letters.
 * @param {string} letter
 */
export function perlClass(letter) {
  return pairs(PERL.get(letter));
}

/** @param {string | undefined} text */
function pairs(text) {
  if (text === undefined) return null;
  /** @type {Ranges} */
  const found = [];
  for (let at = 0; at < text.length; at += 2) {
    found.push([text.charCodeAt(at), text.charCodeAt(at + 1)]);
  }
  return union(found);
}

/**
 * The characters of a Unicode category or script, null if there is none of that name.
 * @param {string} name
 */
export function unicodeGroup(name) {
  if (name === "Any") return EVERYTHING;
  if (!known.has(name)) known.set(name, enumerated(name));
  return known.get(name) ?? null;
}

/** @param {string} name */
function enumerated(name) {
  const property = propertyOf(name);
  if (!property) return null;
  let is;
  try {
    is = new RegExp(`^${property}$`, "u");
  } catch {
    return null; // no such script
  }
  return matching((code) => is.test(String.fromCodePoint(code)), LAST);
}

/** @param {string} name */
function propertyOf(name) {
  if (name === "C") return ASSIGNED_OTHERS;
  if (CATEGORIES.has(name)) return `\\p{${name}}`;
  const isScript = /^[A-Z][A-Za-z_]*$/.test(name)
    && (name.length !== 4 || SHORT_SCRIPTS.has(name));
  return isScript ? `\\p{Script=${name}}` : "";
}

/**
 * The code points up to `last` that have a property.
 * @param {(code: number) => boolean} is
 * @param {number} last
 */
function matching(is, last) {
  /** @type {Ranges} */
  const found = [];
  let start = -1;
  for (let code = 0; code <= last; code += 1) {
    const isIn = is(code);
    if (isIn && start < 0) start = code;
    if (!isIn && start >= 0) {
      found.push([start, code - 1]);
      start = -1;
    }
  }
  if (start >= 0) found.push([start, last]);
  return found;
}

/**
 * Ranges in ascending order, joined where they touch.
 * @param {Ranges} ranges
 */
export function union(ranges) {
  /** @type {Ranges} */
  const found = [];
  for (const [first, last] of ranges.toSorted((one, other) => one[0] - other[0])) {
    const before = found.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else found.push([first, last]);
  }
  return found;
}

/**
 * All characters that are not in ascending ranges.
 * @param {Ranges} ranges
 */
export function complement(ranges) {
  /** @type {Ranges} */
  const found = [];
  let next = 0;
  for (const [first, last] of ranges) {
    if (next < first) found.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= LAST) found.push([next, LAST]);
  return found;
}

/**
 * The ranges with the other cases of their letters.
 * @param {Ranges} ranges
 */
export function folded(ranges) {
  const isAscii = ranges.every(([, last]) => last < 128);
  /** @type {Ranges} */
  const found = [...ranges];
  for (const cases of isAscii ? asciiCases() : allCases()) {
    if (cases.some((code) => contains(ranges, code))) {
      found.push(...cases.map((code) => /** @type {[number, number]} */ ([code, code])));
    }
  }
  return union(found);
}

/**
 * @param {Ranges} ranges
 * @param {number} code
 */
function contains(ranges, code) {
  return ranges.some(([first, last]) => first <= code && code <= last);
}

/** The cases of ASCII letters; two of them have a third case beyond ASCII. */
function asciiCases() {
  return [..."abcdefghijklmnopqrstuvwxyz"].map((letter) => {
    const more = letter === "k" ? "\u212a" : letter === "s" ? "\u017f" : "";
    return [...`${letter}${letter.toUpperCase()}${more}`].map((one) => one.charCodeAt(0));
  });
}

/** @type {number[][] | undefined} */
let casesOfLetters;

/** Letters that differ only in case, one list each. */
function allCases() {
  casesOfLetters ??= groupedCases();
  return casesOfLetters;
}

function groupedCases() {
  /** @type {Map<number, number[]>} */
  const groups = new Map();
  const lastLetter = 0x1ffff;
  for (let code = 0; code <= lastLetter; code += 1) {
    const letter = String.fromCodePoint(code);
    for (const other of [letter.toLowerCase(), letter.toUpperCase()]) {
      if (other !== letter && isSameFolded(letter, other)) {
        join(groups, code, other.codePointAt(0) ?? code);
      }
    }
  }
  return [...new Set(groups.values())];
}

/**
 * Whether two texts are single characters that differ only in case.
 * @param {string} letter
 * @param {string} other
 */
function isSameFolded(letter, other) {
  // Some letters are two letters in the other case, and a dotless i is another letter than i.
  return [...other].length === 1 && new RegExp(`^${letter}$`, "iu").test(other);
}

/**
 * @param {Map<number, number[]>} groups
 * @param {number} one
 * @param {number} other
 */
function join(groups, one, other) {
  const joined = [...new Set([...(groups.get(one) ?? [one]), ...(groups.get(other) ?? [other])])];
  for (const code of joined) groups.set(code, joined);
}

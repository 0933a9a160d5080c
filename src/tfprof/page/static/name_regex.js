// Regexes that match exactly one name, for the options of views.

/** Characters that need no escape in RE2 and in lists of regexes. */
const PLAIN = /[A-Za-z0-9_/:<> \u0080-\u{10ffff}-]/u;

/** A comma would separate regexes, and quotes around a list are dropped. */
const CODED = /[,"'\\\u0000-\u001f\u007f]/;

/**
 * A regex in the syntax of RE2 that matches only this name. Options match whole names.
 * @param {string} name
 */
export function regexOf(name) {
  return [...name].map(escaped).join("");
}

/** @param {string} letter */
function escaped(letter) {
  if (CODED.test(letter)) return `\\x${letter.charCodeAt(0).toString(16).padStart(2, "0")}`;
  return PLAIN.test(letter) ? letter : `\\${letter}`;
}

/**
 * A list of regexes with one more.
 * @param {string | undefined} list
 * @param {string} regex
 */
export function withRegex(list, regex) {
  const known = (list ?? "").split(",").filter((one) => one !== "");
  return known.includes(regex) ? known.join(",") : [...known, regex].join(",");
}

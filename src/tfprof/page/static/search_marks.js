// Marks what a reader searches for in names.

import { h, nameOf, visible } from "./dom.js";
import { plainText } from "./search_text.js";

/**
 * A name in which every occurrence of the text is marked. Matches of a regex are not marked: only
 * whether it matches is known, not where.
 * @param {string} name
 * @param {string} search
 * @param {Record<string, any>} [attributes]
 */
export function markedName(name, search, attributes) {
  const element = nameOf(name, attributes);
  const text = plainText(search);
  const shown = visible(name);
  const lower = shown.toLowerCase();
  // The lower case of a few letters is longer, so places would not be the same.
  if (text === "" || lower.length !== shown.length || !lower.includes(text)) return element;
  const parts = [];
  let from = 0;
  for (let at = lower.indexOf(text); at >= 0; at = lower.indexOf(text, from)) {
    parts.push(shown.slice(from, at), h("mark", null, shown.slice(at, at + text.length)));
    from = at + text.length;
  }
  element.replaceChildren(...parts, shown.slice(from));
  return element;
}

// Creates elements. Text enters the page only as text nodes, because names come from untrusted
// files; nothing in the page assigns markup.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set([
  ..."svg g path rect line text circle polygon title defs marker".split(" "),
]);

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * An element with attributes, listeners (`onclick: …`) and children. Texts become text nodes.
 * @param {string} tag
 * @param {Record<string, any> | null} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes, ...children) {
  return /** @type {HTMLElement} */ (filled(document.createElement(tag), attributes, children));
}

/**
 * The same for an element of a drawing.
 * @param {string} tag
 * @param {Record<string, any> | null} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes, ...children) {
  if (!SVG_TAGS.has(tag)) throw new Error(`unexpected element ${tag}`);
  const element = document.createElementNS(SVG, tag);
  return /** @type {SVGElement} */ (filled(element, attributes, children));
}

/**
 * @param {Element} element
 * @param {Record<string, any> | null | undefined} attributes
 * @param {(Child | Child[])[]} children
 */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter(isShown).map(asNode));
  return element;
}

/** @param {Child} child */
function isShown(child) {
  return child !== null && child !== undefined && child !== false;
}

/** @param {Child} child */
function asNode(child) {
  return child instanceof Node ? child : String(child);
}

/**
 * Replace all children of an element.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  element.replaceChildren();
  element.append(...children.flat().filter(isShown).map(asNode));
}

const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/g;

/**
 * A text with its control characters made visible.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(CONTROLS, (control) => {
    const code = control.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\u2421";
  });
}

/**
 * A note of the command line as a sentence. A note that starts with a file name stays as it is.
 * @param {string} note
 */
export function sentence(note) {
  return note.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase());
}

/**
 * A name from a file. It is isolated, so that right-to-left text cannot reorder its surroundings.
 * @param {string} text
 * @param {Record<string, any>} [attributes]
 */
export function nameOf(text, attributes) {
  return h("bdi", { class: "name", dir: "ltr", ...attributes }, visible(text));
}

/**
 * A number as text, with its exact value for tools and tests.
 * @param {string} text
 * @param {number} value
 * @param {Record<string, any>} [attributes]
 */
export function amount(text, value, attributes) {
  return h("span", { class: "amount", "data-value": value, ...attributes }, text);
}

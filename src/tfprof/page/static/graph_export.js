// The picture of the graph as a file of its own: SVG that needs no style sheet.

/** @typedef {import("./graph_scene.js").Scene} Scene */

const MARGIN = 24;
/** What the style sheet sets for elements of the picture. */
const PROPERTIES = [
  "fill", "stroke", "stroke-width", "stroke-dasharray", "paint-order", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "transform",
];

/**
 * The drawn scene as text, with the colours of the page.
 * @param {SVGElement} content
 * @param {Scene} scene
 */
export function asSvg(content, scene) {
  const picture = /** @type {SVGSVGElement} */ (content.ownerSVGElement);
  const copy = /** @type {SVGElement} */ (picture.cloneNode(true));
  const originals = [...picture.querySelectorAll("*")];
  const copies = /** @type {SVGElement[]} */ ([...copy.querySelectorAll("*")]);
  copies.forEach((element, place) => inline(originals[place], element));
  const inner = copies[originals.indexOf(content)];
  inner.style.transform = `translate(${MARGIN}px, ${MARGIN}px)`;
  const [width, height] = [scene.width + 2 * MARGIN, scene.height + 2 * MARGIN];
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copy.style.background = getComputedStyle(/** @type {Element} */ (picture.parentElement))
    .backgroundColor;
  return new XMLSerializer().serializeToString(copy);
}

/**
 * Write the style of an element into its copy.
 * @param {Element} original
 * @param {SVGElement} copy
 */
function inline(original, copy) {
  const style = getComputedStyle(original);
  for (const name of PROPERTIES) copy.style.setProperty(name, style.getPropertyValue(name));
  for (const name of ["class", "tabindex", "role"]) copy.removeAttribute(name);
}

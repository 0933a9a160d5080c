// Wheel and drag: scroll, move and zoom the picture of the graph.

/** @typedef {import("./graph_camera.js").Camera} Camera */

/** The pointer must move this far before it drags the picture. */
const START = 4;

/**
 * @param {HTMLElement | SVGElement} element
 * @param {Camera} camera
 */
export function listen(element, camera) {
  element.addEventListener("wheel", (event) => onWheel(/** @type {WheelEvent} */ (event), camera), {
    passive: false,
  });
  element.addEventListener("pointerdown", (event) => {
    const start = /** @type {PointerEvent} */ (event);
    if (start.button === 0) drag(element, start, camera);
  });
}

/**
 * The wheel scrolls, and zooms with Ctrl as elsewhere. At the end of the picture, the page scrolls.
 * @param {WheelEvent} event
 * @param {Camera} camera
 */
function onWheel(event, camera) {
  if (event.ctrlKey || event.metaKey) {
    const { left, top } = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    camera.zoom(Math.exp(-event.deltaY / 300), [event.clientX - left, event.clientY - top]);
    event.preventDefault();
    return;
  }
  const [dx, dy] = event.shiftKey ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
  if (camera.move(-dx, -dy)) event.preventDefault();
}

/**
 * @param {HTMLElement | SVGElement} element
 * @param {PointerEvent} start
 * @param {Camera} camera
 */
function drag(element, start, camera) {
  let [x, y] = [start.clientX, start.clientY];
  let isDragging = false;
  const move = (/** @type {Event} */ event) => {
    const { clientX, clientY, pointerId } = /** @type {PointerEvent} */ (event);
    const isFar = Math.hypot(clientX - start.clientX, clientY - start.clientY) > START;
    if (!isDragging && !isFar) return;
    if (!isDragging) element.setPointerCapture(pointerId);
    isDragging = true;
    element.classList.add("graph-dragging");
    camera.move(clientX - x, clientY - y);
    [x, y] = [clientX, clientY];
  };
  const end = () => {
    element.removeEventListener("pointermove", move);
    element.classList.remove("graph-dragging");
  };
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", end, { once: true });
  element.addEventListener("pointercancel", end, { once: true });
}

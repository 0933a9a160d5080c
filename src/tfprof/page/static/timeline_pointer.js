// Mouse, pen and touch on the canvas of a timeline: drag to pan, shift + drag or drag on the ruler
// to measure, ctrl + wheel to zoom, click to select.

/** @typedef {import("./timeline_window.js").VisibleTime} VisibleTime */

/**
 * What the pointer acts on.
 * @typedef {{
 *   canvas: HTMLElement, ruler: HTMLElement, shown: VisibleTime,
 *   hover: (x: number, y: number) => void, leave: () => void,
 *   click: (x: number, y: number) => void, open: (x: number, y: number) => void,
 *   measure: (from: number, to: number) => void, scroll: (pixels: number) => void,
 * }} Target
 */

const STILL = 4; // a drag starts after this many pixels
const ZOOM = 1.0016; // per pixel of the wheel
const LINE = 16; // pixels per line, for wheels that count lines

/** @param {Target} target */
export function attachPointer(target) {
  const { canvas, ruler } = target;
  for (const element of [canvas, ruler]) {
    element.addEventListener("pointerdown", (event) => press(target, event, element === ruler));
    element.addEventListener("wheel", (event) => wheel(target, event), { passive: false });
  }
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons === 0) target.hover(...placeIn(canvas, event));
  });
  canvas.addEventListener("pointerleave", () => target.leave());
  canvas.addEventListener("dblclick", (event) => target.open(...placeIn(canvas, event)));
}

/**
 * @param {HTMLElement} element
 * @param {MouseEvent} event
 * @returns {[number, number]}
 */
function placeIn(element, event) {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/**
 * @param {Target} target
 * @param {PointerEvent} event
 * @param {boolean} isRuler
 */
function press(target, event, isRuler) {
  if (event.button !== 0) return;
  const { canvas, shown } = target;
  const { from, to } = shown;
  const width = canvas.clientWidth;
  const [begun, height] = placeIn(canvas, event);
  const isMeasuring = isRuler || event.shiftKey;
  const timeAt = (/** @type {number} */ x) => from + (x / width) * (to - from);
  let last = event.clientY;
  let isDragged = false;

  const drag = (/** @type {PointerEvent} */ one) => {
    const [x] = placeIn(canvas, one);
    isDragged ||= Math.hypot(one.clientX - event.clientX, one.clientY - event.clientY) > STILL;
    if (!isDragged) return;
    target.leave();
    if (isMeasuring) {
      target.measure(timeAt(Math.min(begun, x)), timeAt(Math.max(begun, x)));
      return;
    }
    const moved = ((begun - x) / width) * (to - from);
    shown.show(from + moved, to + moved);
    target.scroll(last - one.clientY);
    last = one.clientY;
  };
  const drop = () => {
    removeEventListener("pointermove", drag);
    removeEventListener("pointerup", drop);
    removeEventListener("pointercancel", drop);
    if (!isDragged && !isRuler) target.click(begun, height);
  };
  addEventListener("pointermove", drag);
  addEventListener("pointerup", drop);
  addEventListener("pointercancel", drop);
}

/**
 * Without ctrl or shift, the wheel scrolls up and down as everywhere.
 * @param {Target} target
 * @param {WheelEvent} event
 */
function wheel({ canvas, shown }, event) {
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1;
  const [x] = placeIn(canvas, event);
  if (event.ctrlKey || event.metaKey) {
    const at = shown.from + (x / canvas.clientWidth) * shown.length;
    shown.zoom(ZOOM ** (event.deltaY * unit), at);
    event.preventDefault();
    return;
  }
  const across = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
  if (Math.abs(across) <= (event.shiftKey ? 0 : Math.abs(event.deltaY))) return;
  shown.pan(((across * unit) / canvas.clientWidth) * shown.length);
  event.preventDefault();
}

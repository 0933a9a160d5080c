// The keys of a timeline. Moving keys act as long as they are pressed.

/** @typedef {import("./timeline_window.js").TimeWindow} TimeWindow */

/** Per second of a pressed key: the share of the window that it moves, and the factor of a zoom. */
const PAN = 1.2;
const ZOOM = 6;
/** What a single step does if animations are not wanted. */
const STEP = 0.15;

const EDITABLE = "input:not([type=checkbox]), select, textarea, [contenteditable]";

/**
 * @typedef {{
 *   canvas: HTMLElement, shown: TimeWindow, signal: AbortSignal, isActive: () => boolean,
 *   pointer: () => number | null,
 *   actions: Record<string, () => void>, arrows: Record<string, () => void>,
 * }} KeyTarget
 */

/**
 * @param {KeyTarget} target
 */
export function attachKeys(target) {
  const held = new HeldKeys(target);
  const { signal } = target;
  document.addEventListener("keydown", (event) => {
    if (!target.isActive() || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.matches(EDITABLE)) return;
    const isArrow = event.target === target.canvas && event.key in target.arrows;
    const act = isArrow ? target.arrows[event.key] : target.actions[event.key];
    if (act) act();
    else if (!held.press(event.key.toLowerCase())) return;
    event.preventDefault();
  }, { signal });
  document.addEventListener("keyup", (event) => held.release(event.key.toLowerCase()), { signal });
  addEventListener("blur", () => held.releaseAll(), { signal });
}

class HeldKeys {
  /** @param {KeyTarget} target */
  constructor({ shown, pointer }) {
    this.shown = shown;
    this.pointer = pointer;
    /** @type {Set<string>} */
    this.keys = new Set();
    this.frame = 0;
    this.before = 0;
  }

  /**
   * @param {string} key
   * @returns {boolean} whether the key moves the window
   */
  press(key) {
    if (!["w", "a", "s", "d"].includes(key)) return false;
    if (this.shown.still.matches) {
      this.move(key, STEP);
      return true;
    }
    if (this.keys.size === 0) {
      this.before = performance.now();
      this.frame = requestAnimationFrame((now) => this.tick(now));
    }
    this.keys.add(key);
    return true;
  }

  /** @param {string} key */
  release(key) {
    // A key that was pressed for less than a frame moves a little, too.
    if (this.keys.has(key)) this.tick(performance.now());
    this.keys.delete(key);
  }

  releaseAll() {
    this.keys.clear();
  }

  /** @param {number} now */
  tick(now) {
    cancelAnimationFrame(this.frame);
    const seconds = Math.min(Math.max(now - this.before, 0) / 1000, 0.1);
    this.before = now;
    for (const key of this.keys) this.move(key, seconds);
    if (this.keys.size > 0) this.frame = requestAnimationFrame((next) => this.tick(next));
  }

  /**
   * @param {string} key
   * @param {number} seconds
   */
  move(key, seconds) {
    const { shown } = this;
    if (key === "a") shown.pan(-PAN * seconds * shown.length);
    if (key === "d") shown.pan(PAN * seconds * shown.length);
    const at = this.pointer() ?? (shown.from + shown.to) / 2;
    if (key === "w") shown.zoom(ZOOM ** -seconds, at);
    if (key === "s") shown.zoom(ZOOM ** seconds, at);
  }
}

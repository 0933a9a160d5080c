// The visible part of a timeline, and how it moves.

/** The shortest visible time, in nanoseconds. */
const LEAST = 20;
/** How long a jump is animated, in milliseconds. */
const JUMP = 200;
/** The space beside what is fitted, as a share of its length. */
const MARGIN = 0.02;

/**
 * What is visible of a timeline, and how the pointer and keys move it.
 * @typedef {Pick<TimeWindow, "from" | "to" | "length" | "show" | "zoom" | "pan">} VisibleTime
 */

export class TimeWindow {
  /**
   * @param {number} begin of everything
   * @param {number} finish
   * @param {() => void} changed called after each change
   */
  constructor(begin, finish, changed) {
    // Around what has no length, there is as much time on both sides.
    const missing = Math.max(LEAST - (finish - begin), 0) / 2;
    this.begin = begin - missing;
    this.finish = finish + missing;
    this.changed = changed;
    this.from = this.begin;
    this.to = this.finish;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.jump = 0;
  }

  get length() {
    return this.to - this.from;
  }

  /**
   * Show this part, moved and shortened so that it stays near the data.
   * @param {number} from
   * @param {number} to
   */
  show(from, to) {
    cancelAnimationFrame(this.jump);
    this.move(from, to);
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  move(from, to) {
    const room = MARGIN * (this.finish - this.begin);
    const [least, most] = [this.begin - room, this.finish + room];
    const length = Math.min(Math.max(to - from, LEAST), most - least);
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - length / 2, least), most - length);
    this.to = this.from + length;
    this.changed();
  }

  /**
   * Zoom so that a time stays where it is; a factor below 1 shows less.
   * @param {number} factor
   * @param {number} at
   */
  zoom(factor, at) {
    // At the limit the window would move instead.
    if (factor < 1 && this.length <= LEAST) return;
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  /** @param {number} nanos */
  pan(nanos) {
    this.show(this.from + nanos, this.to + nanos);
  }

  /**
   * Show a span with some space on both sides.
   * @param {number} start
   * @param {number} end
   * @param {{ margin?: number, isSudden?: boolean }} [how] the space as a share of the span, and
   *   whether to skip the animation
   */
  fit(start, end, { margin = MARGIN, isSudden = false } = {}) {
    const room = margin * Math.max(end - start, LEAST);
    if (isSudden) this.show(start - room, end + room);
    else this.glide(start - room, end + room);
  }

  /**
   * Move to another part in a short animation.
   * @param {number} from
   * @param {number} to
   */
  glide(from, to) {
    cancelAnimationFrame(this.jump);
    if (this.still.matches) {
      this.move(from, to);
      return;
    }
    const [oldFrom, oldTo] = [this.from, this.to];
    const begun = performance.now();
    const step = (/** @type {number} */ now) => {
      const part = Math.min(Math.max((now - begun) / JUMP, 0), 1);
      const eased = 1 - (1 - part) ** 3;
      this.move(oldFrom + (from - oldFrom) * eased, oldTo + (to - oldTo) * eased);
      if (part < 1) this.jump = requestAnimationFrame(step);
    };
    this.jump = requestAnimationFrame(step);
  }
}

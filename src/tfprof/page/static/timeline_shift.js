// A window of a timeline whose times are shifted, so that several timelines share one time axis.

/** @typedef {import("./timeline_window.js").TimeWindow} TimeWindow */

export class ShiftedWindow {
  /**
   * @param {TimeWindow} shared
   * @param {number} offset the time of this timeline at 0 of the shared window
   */
  constructor(shared, offset) {
    this.shared = shared;
    this.offset = offset;
  }

  get from() {
    return this.shared.from + this.offset;
  }

  get to() {
    return this.shared.to + this.offset;
  }

  get length() {
    return this.shared.length;
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  show(from, to) {
    this.shared.show(from - this.offset, to - this.offset);
  }

  /**
   * @param {number} factor
   * @param {number} at
   */
  zoom(factor, at) {
    this.shared.zoom(factor, at - this.offset);
  }

  /** @param {number} nanos */
  pan(nanos) {
    this.shared.pan(nanos);
  }
}

// Draws runs that are narrower than a few pixels. They are not drawn one by one: each column of
// pixels is filled to the share of its time that was busy, in the colours of the runs. So an
// overview shows how busy a lane was, and takes no longer to draw than a close view.

/** @typedef {import("./timeline_colours.js").Ink} Ink */

/** A lane as columns of device pixels, each filled to the share of its time that was busy. */
export class Strip {
  constructor() {
    this.width = 0;
    this.height = 0;
    this.colours = 0;
    this.busy = new Float32Array(0);
    this.image = new ImageData(1, 1);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.first = 0;
    this.last = -1;
  }

  /**
   * @param {number} width
   * @param {number} height
   * @param {number} colours
   */
  reset(width, height, colours) {
    if (width !== this.width || colours !== this.colours) {
      this.busy = new Float32Array(width * colours);
    }
    if (width !== this.width || height !== this.height) {
      this.image = new ImageData(Math.max(width, 1), Math.max(height, 1));
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.width = width;
    this.height = height;
    this.colours = colours;
    this.first = width;
    this.last = -1;
  }

  /**
   * Add a run from `start` to `end`, in columns.
   * @param {number} start
   * @param {number} end
   * @param {number} colour
   */
  add(start, end, colour) {
    const first = Math.max(Math.floor(start), 0);
    const last = Math.min(Math.floor(end), this.width - 1);
    for (let column = first; column <= last; column += 1) {
      const part = Math.min(end, column + 1) - Math.max(start, column);
      // Even the shortest run is visible.
      this.busy[column * this.colours + colour] += Math.max(part, 1e-6);
    }
    if (first < this.first) this.first = first;
    if (last > this.last) this.last = last;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} top
   * @param {Ink[]} inks
   */
  draw(context, top, inks) {
    const { width, height, colours, busy, pixels } = this;
    if (this.last < this.first) return;
    pixels.fill(0);
    const least = Math.ceil(height / 20); // of a column in which anything ran
    for (let column = this.first; column <= this.last; column += 1) {
      let [sum, filled] = [0, 0];
      for (let colour = 0; colour < colours; colour += 1) {
        const part = busy[column * colours + colour];
        if (part === 0) continue;
        busy[column * colours + colour] = 0;
        sum += part;
        const until = Math.max(Math.min(Math.round(sum * height), height), least);
        for (; filled < until; filled += 1) {
          pixels[(height - 1 - filled) * width + column] = inks[colour].pixel;
        }
      }
    }
    context.putImageData(this.image, 0, top, this.first, 0, this.last - this.first + 1, height);
  }
}

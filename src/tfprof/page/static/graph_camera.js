// Moves and zooms the picture of the graph.

/** @typedef {{ x: number, y: number, scale: number }} Look */
/** @typedef {{ width: number, height: number }} Size */

const LEAST = 0.05;
const MOST = 2.5;
const MARGIN = 24;
/** When a graph is first shown, it is not reduced further than this: texts must be readable. */
const READABLE = 0.68;

/** The part of the picture that is shown: picture times scale plus `x`, `y` is on the screen. */
export class Camera {
  /**
   * @param {SVGElement} content
   * @param {() => Size} room
   * @param {() => void} moved
   */
  constructor(content, room, moved) {
    this.content = content;
    this.room = room;
    this.moved = moved;
    /** @type {Look} */
    this.look = { x: MARGIN, y: MARGIN, scale: 1 };
    /** @type {Size} */
    this.size = { width: 1, height: 1 };
  }

  /** @param {Look} look */
  show(look) {
    this.look = look;
    const { x, y, scale } = look;
    this.content.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    this.moved();
  }

  /**
   * Move by pixels, but keep some of the picture in sight; returns whether that was possible.
   * @param {number} dx
   * @param {number} dy
   */
  move(dx, dy) {
    const { width, height } = this.room();
    const { scale } = this.look;
    const x = limited(this.look.x + dx, width, this.size.width * scale);
    const y = limited(this.look.y + dy, height, this.size.height * scale);
    const isMoved = x !== this.look.x || y !== this.look.y;
    if (isMoved) this.show({ x, y, scale });
    return isMoved;
  }

  /**
   * Zoom around a point of the screen, by default the middle.
   * @param {number} factor
   * @param {[number, number]} [point]
   */
  zoom(factor, point) {
    const { width, height } = this.room();
    const [a, b] = point ?? [width / 2, height / 2];
    const scale = Math.min(MOST, Math.max(LEAST, this.look.scale * factor));
    const by = scale / this.look.scale;
    this.show({ x: a - (a - this.look.x) * by, y: b - (b - this.look.y) * by, scale });
  }

  /** Show the whole picture. */
  fit() {
    this.show(this.fitted(LEAST));
  }

  /** Show as much as is readable, from the start. */
  begin() {
    this.show(this.fitted(READABLE));
  }

  /**
   * @param {number} least
   * @returns {Look}
   */
  fitted(least) {
    const { width, height } = this.room();
    const across = (width - 2 * MARGIN) / this.size.width;
    const down = (height - 2 * MARGIN) / this.size.height;
    const scale = Math.max(least, Math.min(1, across, down));
    const x = Math.max(MARGIN, (width - this.size.width * scale) / 2);
    const y = Math.max(MARGIN, (height - this.size.height * scale) / 2);
    return { x, y, scale };
  }

  /**
   * Move as little as necessary to show a box, which is enlarged if it is too small to read.
   * @param {{ x: number, y: number, width: number, height: number }} box
   */
  reveal(box) {
    const { width, height } = this.room();
    if (this.look.scale < READABLE) this.show({ ...this.look, scale: READABLE });
    const { x, y, scale } = this.look;
    const dx = inside(x + box.x * scale, box.width * scale, width);
    const dy = inside(y + box.y * scale, Math.min(box.height, 200) * scale, height);
    if (dx || dy) this.show({ x: x + dx, y: y + dy, scale });
  }
}

/**
 * @param {number} start
 * @param {number} room
 * @param {number} size
 */
function limited(start, room, size) {
  const least = Math.min(MARGIN, room - size - MARGIN);
  const most = Math.max(MARGIN, room - size - MARGIN);
  return Math.min(most, Math.max(least, start));
}

/**
 * How far to move so that a range is inside of the room.
 * @param {number} start
 * @param {number} size
 * @param {number} room
 */
function inside(start, size, room) {
  if (start >= MARGIN && start + size <= room - MARGIN) return 0;
  return size > room - 2 * MARGIN ? MARGIN - start : room / 2 - (start + size / 2);
}

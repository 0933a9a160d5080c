// Places boxes in columns and connects them; the result is what an expanded node shows inside.

import { GAP, columns } from "./graph_columns.js";
import { flow } from "./graph_flow.js";

/** @typedef {import("./graph_columns.js").Box} Box */
/** @typedef {import("./graph_columns.js").Size} Size */
/** @typedef {import("./graph_flow.js").Point} Point */
/** @typedef {import("./graph_links.js").Link} Link */

/**
 * An edge between boxes or points of the border, with the links that it stands for.
 * @typedef {{ from: string, to: string, links: Link[] }} Edge
 */

/**
 * A line of the picture: a curve downwards, or one around the end of a column with corners. It is a
 * piece of the way of its links; `isEnd` if they end there.
 * @typedef {Edge & { points: Point[], hasCorners: boolean, isEnd: boolean }} Line
 */

/**
 * @typedef {{ place: Map<string, Point>, lines: Line[], width: number, height: number }} Sheet
 */

/**
 * Finds where lines enter or leave a box: the distance from its left border, null for the middle.
 * @typedef {(id: string, side: "entries" | "exits", links: Link[]) => number | null} PortFinder
 */

/** The distance between lines side by side, and that of the first from boxes. */
const LANE = 7;

/**
 * Boxes in columns, with entries on the upper border and exits on the lower one.
 * @param {Box[]} boxes
 * @param {Edge[]} edges
 * @param {string[]} entries
 * @param {string[]} exits
 * @param {Size} room
 * @param {PortFinder} port
 * @returns {Sheet}
 */
export function sheet(boxes, edges, entries, exits, room, port) {
  const isExit = new Set(exits);
  const between = edges.filter(({ to }) => !isExit.has(to));
  const found = columns(boxes, between, room);
  const ids = new Map(found.flatMap((column, place) => column.map((id) => [id, place])));
  for (const id of entries) ids.set(id, 0);
  for (const { from, to } of edges) {
    if (isExit.has(to)) ids.set(to, Math.max(ids.get(to) ?? 0, ids.get(from) ?? 0));
  }
  return new Columns(boxes, edges, new Set(entries), isExit, ids, port).placed(found.length);
}

/** Places columns one after the other. */
class Columns {
  /**
   * @param {Box[]} boxes
   * @param {Edge[]} edges
   * @param {Set<string>} entries
   * @param {Set<string>} exits
   * @param {Map<string, number>} column of each box and point
   * @param {PortFinder} port
   */
  constructor(boxes, edges, entries, exits, column, port) {
    this.boxes = boxes;
    this.port = port;
    this.edges = edges;
    this.entries = entries;
    this.exits = exits;
    this.column = column;
    /** The last column that each box has an edge to, if that is a later one. */
    this.reach = new Map();
    for (const { from, to } of edges) {
      const last = Math.max(this.reach.get(from) ?? 0, this.columnOf(to));
      if (last > this.columnOf(from)) this.reach.set(from, last);
    }
    this.boxIds = new Set(boxes.map(({ id }) => id));
    /** @type {Map<string, Point>} */
    this.place = new Map();
    /** @type {Line[]} */
    this.lines = [];
  }

  /** @param {string} id */
  columnOf(id) {
    return this.column.get(id) ?? 0;
  }

  /**
   * The boxes whose edges cross from one column to the next.
   * @param {number} number
   */
  crossing(number) {
    return [...this.reach].filter(([id, last]) => this.columnOf(id) <= number && last > number)
      .map(([id]) => id);
  }

  /**
   * @param {number} count
   * @returns {Sheet}
   */
  placed(count) {
    const margin = count > 1 ? LANE * 2 + LANE * Math.max(
      ...Array.from({ length: count - 1 }, (_, number) => this.crossing(number).length),
    ) : 0;
    let x = 0;
    let height = 0;
    const bottoms = [];
    for (let number = 0; number < count; number += 1) {
      const size = this.addColumn(number, x, margin);
      bottoms.push(margin + size.height);
      height = Math.max(height, size.height);
      x += size.width + GAP.column;
    }
    for (let number = 0; number + 1 < count; number += 1) {
      this.connect(number, bottoms[number], margin);
    }
    height += 2 * margin;
    this.addLeaps();
    this.stretch(height);
    return { place: this.place, lines: this.lines, width: x - GAP.column, height };
  }

  /**
   * @param {number} number
   * @param {number} x
   * @param {number} y
   */
  addColumn(number, x, y) {
    const own = this.boxes.filter(({ id }) => this.columnOf(id) === number);
    const entering = number > 0 ? this.crossing(number - 1) : [];
    const leaving = this.crossing(number);
    const edges = this.edgesIn(number, leaving);
    const placed = flow(
      own,
      edges,
      [...(number === 0 ? this.entries : []), ...entering.map((id) => into(id, number))],
      [
        ...leaving.map((id) => outOf(id, number)),
        ...[...this.exits].filter((id) => this.columnOf(id) === number),
      ],
    );
    for (const [id, [left, top]] of placed.place) this.place.set(id, [left + x, top + y]);
    const lines = edges.map((edge, row) => {
      const points = placed.lines[row].map(([a, b]) => /** @type {Point} */ ([a + x, b + y]));
      const isEnd = this.column.has(edge.to) && !this.exits.has(edge.to);
      return this.attached({ ...edge, points, hasCorners: false, isEnd });
    });
    this.straighten(lines);
    this.lines.push(...lines);
    return placed;
  }

  /**
   * A line with its ends moved to the ports of its boxes.
   * @param {Line} line
   */
  attached(line) {
    const { from, to, links, points } = line;
    const [start, end] = [this.port(from, "exits", links), this.port(to, "entries", links)];
    if (start !== null) points[0][0] = (this.place.get(from)?.[0] ?? 0) + start;
    if (end !== null) points[points.length - 1][0] = (this.place.get(to)?.[0] ?? 0) + end;
    // Between neighbours, the bend on the way to the middle of the box would be a detour.
    const isDetour = points.length === 3 && (start !== null || end !== null);
    return isDetour ? { ...line, points: [points[0], points[2]] } : line;
  }

  /**
   * Move points of the borders right above or below the boxes that they are connected with.
   * @param {Line[]} lines
   */
  straighten(lines) {
    /** @type {Map<string, number>} */
    const uses = new Map();
    for (const id of lines.flatMap(({ from, to }) => [from, to])) {
      uses.set(id, (uses.get(id) ?? 0) + 1);
    }
    const isFree = (/** @type {string} */ id) => !this.boxIds.has(id) && uses.get(id) === 1;
    for (const line of lines.filter(({ points }) => points.length <= 3)) {
      const [first, last] = [line.points[0], line.points[line.points.length - 1]];
      const [id, x] = isFree(line.from) ? [line.from, last[0]] : [line.to, first[0]];
      if (!isFree(id)) continue;
      first[0] = last[0] = x;
      line.points = [first, last];
      this.place.set(id, [x, this.place.get(id)?.[1] ?? 0]);
    }
  }

  /**
   * The edges inside of a column; those from and to other columns end at its borders.
   * @param {number} number
   * @param {string[]} leaving
   * @returns {Edge[]}
   */
  edgesIn(number, leaving) {
    const found = this.edges
      .filter(({ from, to }) => this.columnOf(to) === number && this.columnOf(from) <= number)
      .map((edge) => ({ ...edge, from: this.start(edge.from, number) }));
    const onwards = leaving.map((id) => ({
      from: this.start(id, number),
      to: outOf(id, number),
      links: this.linksBeyond(id, number),
    }));
    return [...found, ...onwards];
  }

  /**
   * Where an edge starts in a column.
   * @param {string} id
   * @param {number} number
   */
  start(id, number) {
    return this.columnOf(id) === number ? id : into(id, number);
  }

  /**
   * The links of a box to columns after one.
   * @param {string} id
   * @param {number} number
   */
  linksBeyond(id, number) {
    return this.edges
      .filter(({ from, to }) => from === id && this.columnOf(to) > number)
      .flatMap(({ links }) => links);
  }

  /**
   * Connect the lower end of a column with the upper end of the next one.
   * @param {number} number
   * @param {number} bottom
   * @param {number} top
   */
  connect(number, bottom, top) {
    const crossing = this.crossing(number);
    const right = Math.max(
      ...this.boxes.filter(({ id }) => this.columnOf(id) === number)
        .map(({ id, width }) => (this.place.get(id)?.[0] ?? 0) + width),
    );
    crossing.forEach((id, place) => {
      const [x] = this.place.get(outOf(id, number)) ?? [0, 0];
      const [end] = this.place.get(into(id, number + 1)) ?? [0, 0];
      const low = bottom + LANE * (place + 1);
      const high = top - LANE * (place + 1);
      const middle = Math.max(right, x) + GAP.column / 2 + LANE * (place - crossing.length / 2);
      this.lines.push({
        from: outOf(id, number),
        to: into(id, number + 1),
        points: [[x, bottom], [x, low], [middle, low], [middle, high], [end, high], [end, top]],
        hasCorners: true,
        isEnd: false,
        links: this.linksBeyond(id, number),
      });
    });
  }

  /** Add the lines of cycles that lead back to an earlier column. */
  addLeaps() {
    const size = new Map(this.boxes.map((box) => [box.id, box]));
    for (const edge of this.edges) {
      if (this.columnOf(edge.to) >= this.columnOf(edge.from)) continue;
      const [x, y] = this.place.get(edge.from) ?? [0, 0];
      const [a, top] = this.place.get(edge.to) ?? [0, 0];
      const { width, height } = size.get(edge.from) ?? { width: 0, height: 0 };
      const [start, end] = [x + width / 2, a + (size.get(edge.to)?.width ?? 0) / 2];
      const [low, high, side] = [y + height + LANE, top - LANE, x - GAP.x / 2];
      /** @type {Point[]} */
      const way = [[start, low], [side, low], [side, high], [end, high]];
      const points = /** @type {Point[]} */ ([[start, y + height], ...way, [end, top]]);
      this.lines.push({ ...edge, points, hasCorners: true, isEnd: true });
    }
  }

  /**
   * Lead entries and exits to the borders of the whole.
   * @param {number} height
   */
  stretch(height) {
    for (const { from, to, points } of this.lines) {
      if (this.entries.has(from)) points[0][1] = 0;
      if (this.exits.has(to)) points[points.length - 1][1] = height;
    }
  }
}

/**
 * @param {string} id
 * @param {number} number
 */
function into(id, number) {
  return `${number} into ${id}`;
}

/**
 * @param {string} id
 * @param {number} number
 */
function outOf(id, number) {
  return `${number} out of ${id}`;
}

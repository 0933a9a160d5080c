// The runs of a timeline as columns, lane by lane. Runs in the same lane do not overlap, so both
// their starts and their ends ascend, and the visible ones are found by binary search.

import { matchingNames } from "./search_text.js";
import { union, busyWithin } from "./timeline_spans.js";

/** @typedef {import("./types.d.ts").TimelineData} TimelineData */
/** @typedef {import("./types.d.ts").TimelineTrack} TimelineTrack */
/** @typedef {import("./types.d.ts").WideNumbers} WideNumbers */
/** @typedef {import("./types.d.ts").Ops} Ops */
/** @typedef {import("./timeline_spans.js").Spans} Spans */

/** All runs, transfers and waits. */
export class Runs {
  /**
   * @param {TimelineData} data
   * @param {Ops} ops
   */
  constructor(data, ops) {
    const { tracks, runs } = data;
    this.data = data;
    this.ops = ops;
    this.tracks = tracks;
    this.count = runs.op.length;
    this.trackLane = runningSums(tracks.map(({ lanes }) => lanes));
    const owners = tracks.flatMap(({ lanes }, track) => Array(lanes).fill(track));
    this.laneTrack = Int32Array.from(owners);
    const starts = startsOf(tracks, wide(runs.start));
    const durations = wide(runs.duration);
    const lane = lanesOf(tracks, this.trackLane, runs.lane);
    /** The first run of each lane. */
    this.laneFirst = runningSums(counted(lane, this.laneTrack.length));
    const order = ordered(lane, this.laneFirst);
    this.start = picked(new Float64Array(this.count), starts, order);
    this.end = picked(new Float64Array(this.count), durations, order);
    for (let run = 0; run < this.count; run += 1) this.end[run] += this.start[run];
    this.op = picked(new Int32Array(this.count), runs.op, order);
    this.step = picked(new Int32Array(this.count), runs.step, order);
    /** When any op or transfer of each group ran. */
    this.busy = data.groups.map((_, group) => this.spansOf(group, starts, durations));
    /** @type {{ op: number, rows: number[] }} */
    this.lastAsked = { op: -1, rows: [] };
  }

  /**
   * When a group was busy. The time of iterators includes waiting, so it does not count.
   * @param {number} group
   * @param {Float64Array} starts
   * @param {Float64Array} durations
   */
  spansOf(group, starts, durations) {
    /** @type {Spans | null} */
    let found = null;
    let first = 0;
    for (const track of this.tracks) {
      const end = first + track.count;
      if (track.group === group && track.kind !== "iterators") {
        found = union(found, starts.subarray(first, end), durations.subarray(first, end));
      }
      first = end;
    }
    return found ?? union(null, starts.subarray(0, 0), durations.subarray(0, 0));
  }

  /**
   * The first run of a lane that ends after a time; the end of the lane if there is none.
   * @param {number} lane
   * @param {number} time
   */
  firstAfter(lane, time) {
    let low = this.laneFirst[lane];
    let high = this.laneFirst[lane + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[middle] > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** @param {number} run */
  laneOf(run) {
    let low = 0;
    let high = this.laneTrack.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.laneFirst[middle] > run) high = middle - 1;
      else low = middle;
    }
    return low;
  }

  /** @param {number} run */
  trackOf(run) {
    return this.tracks[this.laneTrack[this.laneOf(run)]];
  }

  /** @param {number} run */
  name(run) {
    const op = this.op[run];
    return op >= 0 ? this.ops.name.get(op) : this.data.runs.names.get(-1 - op);
  }

  /** @param {number} run */
  duration(run) {
    return this.end[run] - this.start[run];
  }

  /**
   * All runs of an op (or of all transfers with the same name) in order of their starts.
   * @param {number} op as in `op`
   */
  runsOf(op) {
    if (this.lastAsked.op !== op) {
      const rows = [];
      for (let run = 0; run < this.count; run += 1) if (this.op[run] === op) rows.push(run);
      rows.sort((one, other) => this.start[one] - this.start[other]);
      this.lastAsked = { op, rows };
    }
    return this.lastAsked.rows;
  }

  /**
   * Whether the names of runs match a search; null if there is nothing to search for.
   * @param {string} search
   * @returns {((run: number) => boolean) | null}
   */
  matching(search) {
    const ops = matchingNames(this.ops.name, search);
    const others = matchingNames(this.data.runs.names, search);
    if (!ops || !others) return null;
    return (run) => (this.op[run] >= 0 ? ops[this.op[run]] : others[-1 - this.op[run]]) === 1;
  }

  /**
   * The first start and the last end of everything.
   * @returns {[number, number]}
   */
  bounds() {
    const { steps } = this.data;
    let [first, last] = [Infinity, -Infinity];
    steps.start.forEach((start, step) => {
      first = Math.min(first, start);
      last = Math.max(last, start + steps.wall[step]);
    });
    for (let lane = 0; lane < this.laneTrack.length; lane += 1) {
      first = Math.min(first, this.start[this.laneFirst[lane]]);
      last = Math.max(last, this.end[this.laneFirst[lane + 1] - 1]);
    }
    return [first, last];
  }

  /**
   * Whether the page has all runs between two times.
   * @param {number} from
   * @param {number} to
   */
  isWholeWithin(from, to) {
    const { start, wall, whole } = this.data.steps;
    if (!this.data.left_out) return true;
    return whole.every(
      (isWhole, step) => isWhole === 1 || start[step] >= to || start[step] + wall[step] <= from,
    );
  }

  /**
   * How long a group was busy between two times.
   * @param {number} group
   * @param {number} from
   * @param {number} to
   */
  busyWithin(group, from, to) {
    return busyWithin(this.busy[group], from, to);
  }
}

/**
 * The sum of all numbers before each one, and of all.
 * @param {ArrayLike<number>} numbers
 */
function runningSums(numbers) {
  const sums = new Int32Array(numbers.length + 1);
  for (let row = 0; row < numbers.length; row += 1) sums[row + 1] = sums[row] + numbers[row];
  return sums;
}

/**
 * The lane of each run, counted over all tracks.
 * @param {TimelineTrack[]} tracks
 * @param {Int32Array} firstLane of each track
 * @param {ArrayLike<number>} lane in the track
 */
function lanesOf(tracks, firstLane, lane) {
  const found = Int32Array.from(lane);
  let row = 0;
  tracks.forEach(({ count }, track) => {
    for (const end = row + count; row < end; row += 1) found[row] += firstLane[track];
  });
  return found;
}

/**
 * How often each code occurs.
 * @param {Int32Array} codes
 * @param {number} count
 */
function counted(codes, count) {
  const found = new Int32Array(count);
  for (let row = 0; row < codes.length; row += 1) found[codes[row]] += 1;
  return found;
}

/**
 * The rows sorted by lane; those of a lane stay in order.
 * @param {Int32Array} lane
 * @param {Int32Array} first
 */
function ordered(lane, first) {
  const next = first.slice();
  const order = new Int32Array(lane.length);
  for (let row = 0; row < lane.length; row += 1) {
    order[next[lane[row]]] = row;
    next[lane[row]] += 1;
  }
  return order;
}

/**
 * @param {TimelineTrack[]} tracks
 * @param {Float64Array} distances from the previous start
 */
function startsOf(tracks, distances) {
  let row = 0;
  for (const { count, first } of tracks) {
    let start = first;
    for (const end = row + count; row < end; row += 1) {
      start += distances[row];
      distances[row] = start;
    }
  }
  return distances;
}

/** @param {WideNumbers} column */
function wide({ low, rows, high }) {
  const found = Float64Array.from(low);
  rows.forEach((row, place) => void (found[row] += high[place] * 2 ** 32));
  return found;
}

/**
 * @template {Int32Array | Float64Array} T
 * @param {T} found
 * @param {ArrayLike<number>} column
 * @param {Int32Array} rows
 */
function picked(found, column, rows) {
  for (let row = 0; row < rows.length; row += 1) found[row] = column[rows[row]];
  return found;
}

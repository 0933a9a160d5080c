// What ran in a range of time: sums over the parts of runs that are in the range.

/** @typedef {import("./timeline_runs.js").Runs} Runs */

/**
 * @typedef {{
 *   from: number, to: number, runs: number, transfers: number, busy: number[],
 *   ops: { op: number, nanos: number, runs: number }[],
 * }} Measured
 */

const MOST_OPS = 10;

/**
 * Iterators of the input pipeline are left out, because their time includes waiting.
 * @param {Runs} runs
 * @param {number} from
 * @param {number} to
 * @returns {Measured}
 */
export function measured(runs, from, to) {
  const nanos = new Float64Array(runs.ops.count);
  const counts = new Uint32Array(runs.ops.count);
  const found = { runs: 0, transfers: 0 };
  runs.laneTrack.forEach((track, lane) => {
    const { kind } = runs.tracks[track];
    if (kind !== "ops" && kind !== "transfers") return;
    const last = runs.laneFirst[lane + 1];
    for (let run = runs.firstAfter(lane, from); run < last && runs.start[run] < to; run += 1) {
      if (kind === "transfers") {
        found.transfers += 1;
        continue;
      }
      found.runs += 1;
      counts[runs.op[run]] += 1;
      nanos[runs.op[run]] += Math.min(runs.end[run], to) - Math.max(runs.start[run], from);
    }
  });
  const busy = runs.busy.map((_, group) => runs.busyWithin(group, from, to));
  return { from, to, ...found, busy, ops: largest(nanos, counts) };
}

/**
 * The ops with the most time.
 * @param {Float64Array} nanos
 * @param {Uint32Array} counts
 */
function largest(nanos, counts) {
  /** @type {{ op: number, nanos: number, runs: number }[]} */
  const found = [];
  counts.forEach((runs, op) => {
    if (runs === 0) return;
    const least = found.length < MOST_OPS ? -1 : found[found.length - 1].nanos;
    if (nanos[op] <= least) return;
    if (found.length === MOST_OPS) found.pop();
    let place = found.length;
    while (place > 0 && found[place - 1].nanos < nanos[op]) place -= 1;
    found.splice(place, 0, { op, nanos: nanos[op], runs });
  });
  return found;
}

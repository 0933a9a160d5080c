// Runs beside others: in the same lane, in the next lane, or of the same op.

/** @typedef {import("./timeline_runs.js").Runs} Runs */

const NONE = -1;

/**
 * The run before or after one in its lane, -1 if there is none.
 * @param {Runs} runs
 * @param {number} run
 * @param {number} distance
 */
export function nextInLane(runs, run, distance) {
  const lane = runs.laneOf(run);
  const next = run + distance;
  return next >= runs.laneFirst[lane] && next < runs.laneFirst[lane + 1] ? next : NONE;
}

/**
 * The run in the lane above or below that is nearest in time, -1 if there is no such lane.
 * @param {Runs} runs
 * @param {number} run
 * @param {number} distance
 */
export function inOtherLane(runs, run, distance) {
  const lane = runs.laneOf(run) + distance;
  if (lane < 0 || lane >= runs.laneTrack.length) return NONE;
  const middle = (runs.start[run] + runs.end[run]) / 2;
  const last = runs.laneFirst[lane + 1] - 1;
  const after = Math.min(runs.firstAfter(lane, middle), last);
  const before = Math.max(after - 1, runs.laneFirst[lane]);
  const away = (/** @type {number} */ one) =>
    Math.max(runs.start[one] - middle, middle - runs.end[one], 0);
  return away(before) < away(after) ? before : after;
}

/**
 * The first run of an op between two times, -1 if there is none.
 * @param {Runs} runs
 * @param {number} from
 * @param {number} to
 */
export function firstVisible(runs, from, to) {
  let found = NONE;
  runs.laneTrack.forEach((track, lane) => {
    if (runs.tracks[track].kind !== "ops") return;
    const run = runs.firstAfter(lane, from);
    const isVisible = run < runs.laneFirst[lane + 1] && runs.start[run] < to;
    if (isVisible && (found < 0 || runs.start[run] < runs.start[found])) found = run;
  });
  return found;
}

/**
 * The run of the same op before or after one, -1 if there is none.
 * @param {Runs} runs
 * @param {number} run
 * @param {number} distance
 */
export function nextOfOp(runs, run, distance) {
  const all = runs.runsOf(runs.op[run]);
  return all[all.indexOf(run) + distance] ?? NONE;
}

/**
 * A run of an op, preferably in one of these steps; -1 if it never ran.
 * @param {Runs} runs
 * @param {number} op
 * @param {number[]} steps
 */
export function runOf(runs, op, steps) {
  const all = runs.runsOf(op);
  for (const step of steps) {
    const run = all.find((one) => runs.step[one] === step);
    if (run !== undefined) return run;
  }
  return all[0] ?? NONE;
}

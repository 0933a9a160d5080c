// The runs that a run got its inputs from, and those that used its outputs. Ops between them that
// were not recorded, such as reshapes that need no kernel, are passed through.

import { inputsOf, usersOf } from "./edges.js";

/** @typedef {import("./edges.js").Edges} Edges */
/** @typedef {import("./timeline_runs.js").Runs} Runs */

/** @typedef {{ producers: number[], consumers: number[] }} Flows */

const MOST_ARROWS = 200;
const MOST_OPS = 5000; // that are passed through

/**
 * @param {Runs} runs
 * @param {number} run
 * @returns {Flows}
 */
export function flowsOf(runs, run) {
  const op = runs.op[run];
  if (op < 0) return { producers: [], consumers: [] };
  const { before, after, ran } = runsBeside(runs, run);
  return {
    producers: reached(op, inputsOf(runs.ops), ran).flatMap((one) => before.get(one) ?? []),
    consumers: reached(op, usersOf(runs.ops), ran).flatMap((one) => after.get(one) ?? []),
  };
}

/**
 * In the step of a run: the last run of each op that started before it, the first one after it, and
 * all ops that ran.
 * @param {Runs} runs
 * @param {number} run
 */
function runsBeside({ start, step, op, count }, run) {
  /** @type {Map<number, number>} */
  const before = new Map();
  /** @type {Map<number, number>} */
  const after = new Map();
  const ran = new Set();
  for (let other = 0; other < count; other += 1) {
    if (step[other] !== step[run] || op[other] < 0) continue;
    ran.add(op[other]);
    const side = start[other] < start[run] ? before : after;
    const known = side.get(op[other]);
    const isNearer = known === undefined
      || Math.abs(start[other] - start[run]) < Math.abs(start[known] - start[run]);
    if (other !== run && isNearer) side.set(op[other], other);
  }
  return { before, after, ran };
}

/**
 * The nearest ops that ran, along edges.
 * @param {number} op
 * @param {Edges} edges
 * @param {Set<number>} ran
 */
function reached(op, edges, ran) {
  const open = [op];
  const seen = new Set(open);
  /** @type {number[]} */
  const found = [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (let edge = edges.offsets[next]; edge < edges.offsets[next + 1]; edge += 1) {
      const other = edges.op[edge];
      const isData = other >= 0 && edges.slot[edge] >= 0;
      if (!isData || seen.has(other)) continue;
      if (seen.size > MOST_OPS || found.length === MOST_ARROWS) return found;
      seen.add(other);
      if (ran.has(other)) found.push(other);
      else open.push(other);
    }
  }
  return found;
}

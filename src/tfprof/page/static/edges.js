// The edges between ops: what each op uses, and what uses it.

/** @typedef {import("./types.d.ts").Ops} Ops */
/** @typedef {import("./types.d.ts").Numbers} Numbers */

/**
 * Edges by op: those of op `i` are `offsets[i]` up to `offsets[i + 1]`. `op` is the other end, -1
 * if it is unknown; `slot` is the output of the source, -1 for a control dependency.
 * @typedef {{ offsets: Int32Array, op: Int32Array, slot: Numbers }} Edges
 */

/** @type {WeakMap<Ops, Edges>} */
const inputs = new WeakMap();
/** @type {WeakMap<Ops, Edges>} */
const users = new WeakMap();

/**
 * The edges into each op, in the order of its inputs.
 * @param {Ops} ops
 */
export function inputsOf(ops) {
  const known = inputs.get(ops) ?? resolved(ops);
  inputs.set(ops, known);
  return known;
}

/**
 * The edges out of each op, in the order of its users.
 * @param {Ops} ops
 */
export function usersOf(ops) {
  const known = users.get(ops) ?? reversed(inputsOf(ops));
  users.set(ops, known);
  return known;
}

/**
 * @param {Ops} ops
 * @returns {Edges}
 */
function resolved({ inputs: { counts, back, slot } }) {
  const offsets = new Int32Array(counts.length + 1);
  const op = new Int32Array(back.length);
  for (let row = 0; row < counts.length; row += 1) {
    const end = offsets[row] + counts[row];
    for (let edge = offsets[row]; edge < end; edge += 1) op[edge] = row - back[edge];
    offsets[row + 1] = end;
  }
  return { offsets, op, slot };
}

/**
 * @param {Edges} edges
 * @returns {Edges}
 */
function reversed({ offsets, op: sources, slot }) {
  const count = offsets.length - 1;
  const starts = new Int32Array(count + 1);
  for (const source of sources) if (source >= 0) starts[source + 1] += 1;
  for (let row = 0; row < count; row += 1) starts[row + 1] += starts[row];
  const next = starts.slice();
  const op = new Int32Array(starts[count]);
  const slots = new Int32Array(starts[count]);
  for (let row = 0; row < count; row += 1) {
    for (let edge = offsets[row]; edge < offsets[row + 1]; edge += 1) {
      if (sources[edge] < 0) continue;
      const place = next[sources[edge]];
      next[sources[edge]] += 1;
      op[place] = row;
      slots[place] = slot[edge];
    }
  }
  return { offsets: starts, op, slot: slots };
}

// Times in whole microseconds, which options compare and sort by. The page shows nanoseconds.

/** @typedef {import("./types.d.ts").Numbers} Numbers */
/** @typedef {import("./types.d.ts").Payload} Payload */

const NANOS_PER_MICRO = 1000;

/** The exact times from which each time is rounded, part by part so that the parts add up. */
const PARTS = new Map([
  ["micros", ["accelerator_nanos", "cpu_nanos"]],
  ["accelerator_micros", ["accelerator_nanos"]],
  ["cpu_micros", ["cpu_nanos"]],
  ["transfer_micros", ["transfer_nanos"]],
]);

/**
 * A time of each op in whole microseconds, rounded as in Python.
 * @param {Payload} payload
 * @param {string} key
 * @returns {Numbers}
 */
export function wholeMicros(payload, key) {
  const { ops } = payload;
  if (key in ops.micros) return ops.micros[key];
  const found = new Float64Array(ops.count);
  if (ops.carries_micros) {
    const order = Array.from(payload.views.scope.op).filter((op) => op >= 0);
    for (const part of PARTS.get(key) ?? []) {
      if (ops.numbers[part]) addCarried(found, order, ops.numbers[part]);
    }
    return found;
  }
  const nanos = ops.numbers[key.replace(/micros$/, "nanos")];
  return nanos ? found.map((_, op) => Math.floor(nanos[op] / NANOS_PER_MICRO)) : found;
}

/**
 * A time of each row of many ops in whole microseconds, rounded as in Python.
 * @param {string} key
 * @param {(part: string) => Numbers} nanosOf
 * @returns {Numbers}
 */
export function carriedMicros(key, nanosOf) {
  const parts = (PARTS.get(key) ?? [key.replace(/micros$/, "nanos")]).map(nanosOf);
  const found = new Float64Array(parts[0].length);
  for (const nanos of parts) addCarried(found, found.keys(), nanos);
  return found;
}

/**
 * Add nanoseconds as microseconds; each rounding error is carried over to the next row.
 * @param {Float64Array} micros
 * @param {Iterable<number>} order
 * @param {Numbers} nanos
 */
function addCarried(micros, order, nanos) {
  let sum = 0;
  let before = 0;
  for (const row of order) {
    sum += nanos[row];
    const until = Math.floor((sum + NANOS_PER_MICRO / 2) / NANOS_PER_MICRO);
    micros[row] += until - before;
    before = until;
  }
}

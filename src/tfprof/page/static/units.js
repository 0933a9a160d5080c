// Numbers as people read them: `7.76 G`, `74.14 ms`, `98.02 MB`. `page/units.py` gives the same.

/** @typedef {import("./types.d.ts").Unit} Unit */

/** @type {Record<Unit, [number, string][]>} */
const SCALES = {
  count: [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"], [1e12, "T"], [1e15, "P"], [1e18, "E"]],
  nanos: [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]],
  bytes: [[1, "B"], [1e3, "KB"], [1e6, "MB"], [1e9, "GB"], [1e12, "TB"], [1e15, "PB"]],
};

/** Below this, a count is written in full. */
const FULL = 100_000;

/** Made once: `toLocaleString` with options makes one for every number, which is slow. */
const EXACT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });

/**
 * A number with its unit.
 * @param {number} value
 * @param {Unit} unit
 */
export function formatted(value, unit) {
  const size = Math.abs(value);
  if (size < 1000 || (unit === "count" && size < FULL)) {
    return joined(Math.round(value).toLocaleString("en-US"), SCALES[unit][0][1]);
  }
  let step = SCALES[unit].length - 1;
  while (size < SCALES[unit][step][0]) step -= 1;
  // What rounds to a thousand of one unit is written as one of the next.
  const isNext = Number((size / SCALES[unit][step][0]).toFixed(2)) >= 1000;
  const [scale, suffix] = SCALES[unit][Math.min(step + Number(isNext), SCALES[unit].length - 1)];
  return joined((value / scale).toFixed(2), suffix);
}

/**
 * @param {string} number
 * @param {string} suffix
 */
function joined(number, suffix) {
  return suffix ? `${number}\u00a0${suffix}` : number;
}

/**
 * A number with all its digits, for tooltips and details.
 * @param {number} value
 * @param {Unit} unit
 */
export function exact(value, unit) {
  const suffix = SCALES[unit][0][1];
  // Larger numbers are not exact in JavaScript.
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return `about ${formatted(value, unit)}`;
  return joined(EXACT.format(value), suffix);
}

/**
 * The share of a part in a whole: `12.3 %`.
 * @param {number} part
 * @param {number} whole
 */
export function percent(part, whole) {
  return whole > 0 ? `${((100 * part) / whole).toFixed(1)}\u00a0%` : "–";
}

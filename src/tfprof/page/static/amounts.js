// Amounts as people type them: `1 ms`, `25 M`, `1.5 GB`.

/** @typedef {import("./types.d.ts").Unit} Unit */

/**
 * The suffixes of each unit, largest first, and what they stand for. Times are in microseconds, as
 * the options have them.
 * @type {Record<Unit, [string, number][]>}
 */
const SUFFIXES = {
  count: [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3], ["", 1]],
  nanos: [["s", 1e6], ["ms", 1e3], ["µs", 1], ["ns", 1e-3]],
  bytes: [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["KB", 1e3], ["B", 1]],
};

/**
 * The suffixes that can be typed, in lower case.
 * @type {Record<Unit, Map<string, number>>}
 */
const TYPEABLE = {
  count: suffixes("t 1e12 g 1e9 b 1e9 m 1e6 k 1e3"),
  nanos: suffixes("sec 1e6 s 1e6 ms 1e3 us 1 µs 1 μs 1 ns 1e-3"),
  bytes: suffixes(
    "tb 1e12 gb 1e9 mb 1e6 kb 1e3 b 1 t 1e12 g 1e9 m 1e6 k 1e3 "
    + `tib ${2 ** 40} gib ${2 ** 30} mib ${2 ** 20} kib ${2 ** 10}`,
  ),
};

const TYPED = /^\s*(\d[\d,_]*\.?\d*|\.\d+)\s*([a-zµμ]*)\s*$/i;

/** What a field shows as an example. */
export const EXAMPLES = { count: "25 M", nanos: "1 ms", bytes: "10 MB" };

/** @param {string} pairs */
function suffixes(pairs) {
  const words = pairs.split(" ");
  return new Map(words.filter((_, at) => at % 2 === 0).map((suffix, at) =>
    [suffix, Number(words[2 * at + 1])]));
}

/**
 * The whole number that a text stands for, null if it stands for none. Without a suffix it is a
 * number of microseconds, bytes or pieces, as on the command line.
 * @param {string} text
 * @param {Unit} unit
 */
export function amountOf(text, unit) {
  const [, digits, suffix] = TYPED.exec(text) ?? [];
  if (digits === undefined) return null;
  const scale = suffix === "" ? 1 : TYPEABLE[unit].get(suffix.toLowerCase());
  const value = Number(digits.replaceAll(/[,_]/g, ""));
  // Rounded, because 0.3 times 1000 is not a whole number as a double.
  const number = scale === 1 ? value : Number((value * (scale ?? NaN)).toPrecision(15));
  return Number.isSafeInteger(number) ? number : null;
}

/**
 * A number as one would type it, without losing digits.
 * @param {number} number
 * @param {Unit} unit
 */
export function typed(number, unit) {
  const [suffix, scale] = SUFFIXES[unit].find(([, one]) => one <= Math.abs(number)) ?? ["", 1];
  const scaled = String(number / scale);
  const short = suffix ? `${scaled} ${suffix}` : scaled;
  // The product of a scaled number of 16 digits may be rounded.
  const isExact = scaled.length <= String(number).length && amountOf(short, unit) === number;
  if (isExact) return short;
  return unit === "count" ? String(number) : typedInFull(number, unit);
}

/**
 * @param {number} number
 * @param {Unit} unit
 */
function typedInFull(number, unit) {
  return `${number} ${unit === "nanos" ? "µs" : "B"}`;
}

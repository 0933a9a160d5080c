// The numbers of the rows of a view that options compare and sort by, by the keys of the options.

import { ownNumbers, sumsBelow } from "./tree.js";
import { carriedMicros, wholeMicros } from "./whole_micros.js";

/** @typedef {import("./types.d.ts").Numbers} Numbers */
/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").ViewData} ViewData */

const NOTHING = new Uint8Array();
const NOTHING_MERGED = { at: NOTHING, ops: { counts: NOTHING, op: NOTHING } };

/** @type {Set<unknown>} */
const UNSIGNED = new Set([Uint8Array, Uint16Array, Uint32Array]);

/** Own and total numbers of all rows of a view, each computed once. */
export class ViewNumbers {
  /**
   * @param {Payload} payload
   * @param {ViewData} data
   */
  constructor(payload, data) {
    this.payload = payload;
    this.data = data;
    /** @type {Map<string, Numbers>} */
    this.known = new Map();
  }

  /**
   * The own numbers of all rows: of a metric, or `runs`.
   * @param {string} key
   */
  own(key) {
    return this.remembered(`own ${key}`, () => {
      const { data, payload } = this;
      const isTime = key.endsWith("micros");
      if (!isTime && (data.gathered || key in data.own)) return ownNumbers(data, payload.ops, key);
      if (data.gathered && payload.ops.carries_micros) {
        return carriedMicros(key, (part) => ownNumbers(data, payload.ops, part));
      }
      const numbers = opNumbers(payload, key);
      return data.gathered ? this.gathered(numbers) : this.ofSingleOps(numbers);
    });
  }

  /**
   * The numbers of all rows and the rows below them.
   * @param {string} key
   */
  total(key) {
    return this.remembered(`total ${key}`, () => sumsBelow(this.data.end, this.own(key)));
  }

  /**
   * Whether the page can compute a number: it does not know which ops are trainable.
   * @param {string} key
   */
  has(key) {
    return this.data.gathered || !["trainable_params", "other_params"].includes(key);
  }

  /**
   * Whether any op has a negative number, so that rows may be hidden without a threshold.
   * @param {string} key
   */
  hasNegative(key) {
    const { ops } = this.payload;
    const numbers = key === "runs" ? ops.runs : ops.numbers[key.replace(/micros$/, "nanos")];
    if (!numbers || UNSIGNED.has(numbers.constructor)) return false;
    const compute = () => Uint8Array.of(Number(Array.prototype.some.call(numbers, isNegative)));
    return this.remembered(`negative ${key}`, compute)[0] === 1;
  }

  /**
   * The row of each op, -1 for none; only if rows gather ops.
   * @returns {Numbers}
   */
  rowOfOps() {
    const { ops } = this.payload;
    if (this.data.kind === "code") return ops.line;
    if (this.data.kind === "layers") return ops.layer;
    return this.remembered("rows", () => {
      const { name } = this.data;
      const rows = new Map(Array.from({ length: name.length - 1 }, (_, row) =>
        [name.get(row + 1), row + 1]));
      const rowOfKind = Array.from({ length: ops.kind.values.length }, (_, code) =>
        rows.get(ops.kind.values.get(code)) ?? -1);
      return new Int32Array(ops.count).map((_, op) => rowOfKind[ops.kind.codes[op]]);
    });
  }

  /** @param {Numbers} numbers of ops */
  ofSingleOps(numbers) {
    const { op, merged } = this.data;
    const found = new Float64Array(op.length);
    for (let row = 0; row < op.length; row += 1) if (op[row] >= 0) found[row] = numbers[op[row]];
    const { at, ops } = merged ?? NOTHING_MERGED;
    let next = 0;
    for (let place = 0; place < at.length; place += 1) {
      for (const last = next + ops.counts[place]; next < last; next += 1) {
        found[at[place]] += numbers[ops.op[next]];
      }
    }
    return found;
  }

  /** @param {Numbers} numbers of ops */
  gathered(numbers) {
    const rows = this.rowOfOps();
    const found = new Float64Array(this.data.end.length);
    for (let op = 0; op < rows.length; op += 1) if (rows[op] >= 0) found[rows[op]] += numbers[op];
    return found;
  }

  /**
   * @param {string} key
   * @param {() => Numbers} compute
   */
  remembered(key, compute) {
    const found = this.known.get(key) ?? compute();
    this.known.set(key, found);
    return found;
  }
}

/** @param {number} number */
function isNegative(number) {
  return number < 0;
}

/**
 * A number of each op.
 * @param {Payload} payload
 * @param {string} key
 * @returns {Numbers}
 */
function opNumbers(payload, key) {
  const { ops } = payload;
  const [, phase, whole] = /^(forward|backward)_(.*)$/.exec(key) ?? [];
  if (phase) {
    const numbers = opNumbers(payload, whole);
    const { codes, values } = ops.phase;
    const counts = Array.from({ length: values.length }, (_, code) => values.get(code) === phase);
    return new Float64Array(ops.count).map((_, op) => (counts[codes[op]] ? numbers[op] : 0));
  }
  if (key.endsWith("micros")) return wholeMicros(payload, key);
  return key === "runs" ? ops.runs : ops.numbers[key] ?? new Uint8Array(ops.count);
}

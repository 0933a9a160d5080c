// Spans of time that do not overlap, with running sums: how long any of them lasted up to a time.

/** @typedef {{ start: Float64Array, end: Float64Array, before: Float64Array }} Spans */

/**
 * The spans that are covered by the known ones or by any of these intervals, sorted by start.
 * @param {Spans | null} known
 * @param {Float64Array} starts
 * @param {Float64Array} durations
 * @returns {Spans}
 */
export function union(known, starts, durations) {
  const others = known ?? { start: new Float64Array(0), end: new Float64Array(0) };
  const most = starts.length + others.start.length;
  const found = { start: new Float64Array(most), end: new Float64Array(most) };
  let count = 0;
  let [one, other] = [0, 0];
  while (one < starts.length || other < others.start.length) {
    const isOne = other >= others.start.length || starts[one] <= others.start[other];
    const start = isOne ? starts[one] : others.start[other];
    const end = isOne ? start + durations[one] : others.end[other];
    if (isOne) one += 1;
    else other += 1;
    if (count > 0 && start <= found.end[count - 1]) {
      found.end[count - 1] = Math.max(found.end[count - 1], end);
    } else {
      found.start[count] = start;
      found.end[count] = end;
      count += 1;
    }
  }
  return withSums(found.start.slice(0, count), found.end.slice(0, count));
}

/**
 * @param {Float64Array} start
 * @param {Float64Array} end
 */
function withSums(start, end) {
  const before = new Float64Array(start.length + 1);
  for (let row = 0; row < start.length; row += 1) {
    before[row + 1] = before[row] + end[row] - start[row];
  }
  return { start, end, before };
}

/**
 * How long the spans last between two times.
 * @param {Spans} spans
 * @param {number} from
 * @param {number} to
 */
export function busyWithin(spans, from, to) {
  return to > from ? busyUntil(spans, to) - busyUntil(spans, from) : 0;
}

/**
 * @param {Spans} spans
 * @param {number} time
 */
function busyUntil({ start, end, before }, time) {
  let low = 0;
  let high = start.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : before[low] - Math.max(end[low - 1] - time, 0);
}

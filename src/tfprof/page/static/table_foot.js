// The last line of a table: how many rows it has, and which are left out or merged.

import { amount } from "./dom.js";
import { percent } from "./units.js";

/** @param {number} count */
function counted(count) {
  return amount(count.toLocaleString("en-US"), count);
}

/**
 * @param {import("./workbench.js").Answer} answer
 * @returns {(HTMLElement | string)[]}
 */
export function footOf({ rows, metric, whole }) {
  const { merged } = rows;
  // A row that stands for others is not one of them.
  const others = new Set(rows.data.merged?.at);
  const shown = rows.row.filter((row) => row > 0 && !others.has(row)).length;
  const every = rows.data.end.length - 1 - others.size + (rows.data.merged?.rows ?? 0);
  const found = [counted(shown)];
  /** @type {(HTMLElement | string)[]} */
  const line = shown < every ? [...found, " of ", counted(every), " rows"] : [...found, " rows"];
  if (merged) {
    const share = percent(merged.numbers[metric.column] ?? 0, whole);
    line.push(`; the smallest are merged, together ${share} of the ${metric.label}`);
  }
  return line;
}

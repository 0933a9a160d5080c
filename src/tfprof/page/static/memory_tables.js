// Tables of what holds memory at a time, by scope, kind of op and line of code.

import { shareBar } from "./bars.js";
import { amount, h } from "./dom.js";
import { nameLink } from "./links.js";
import { groupingTitle } from "./memory_choice.js";
import { heldAt, heldByLabel, heldByScope } from "./memory_held.js";
import { exact, formatted, percent } from "./units.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").MemoryData} MemoryData */
/** @typedef {import("./types.d.ts").MemoryStep} MemoryStep */
/** @typedef {import("./memory_held.js").Held} Held */

/** @typedef {import("./memory_choice.js").By} By */

/**
 * What holds memory at a time; without the changes of the step, at its peak.
 * @param {MemoryData} memory
 * @param {MemoryStep} step
 * @param {number} time
 * @param {number} most rows; -1 for all
 * @returns {[By, Held][]}
 */
export function heldInGroups({ holders, most_depth: mostDepth }, step, time, most) {
  if (!step.changes) {
    const found = Object.entries(step.held ?? {});
    return found.map(([by, rows]) => heldAs(by, rows));
  }
  const held = heldAt(step.changes, holders.row.length, time);
  /** @type {[By, Held][]} */
  const groups = [
    ["scope", heldByScope(holders, held, most, mostDepth)],
    ["op", heldByLabel(holders.kind, held, most)],
  ];
  return holders.line ? [...groups, ["code", heldByLabel(holders.line, held, most)]] : groups;
}

/**
 * Rows as Python computed them.
 * @param {string} by
 * @param {import("./types.d.ts").MemoryHeld} rows
 * @returns {[By, Held]}
 */
function heldAs(by, rows) {
  const held = {
    name: [...rows.bytes].map((_, row) => rows.name.get(row)),
    depth: rows.depth,
    bytes: rows.bytes,
    ops: rows.ops,
    hiddenRows: rows.hidden_rows,
    hiddenBytes: rows.hidden_bytes,
  };
  const grouping = /** @type {By} */ (by);
  return [grouping, held];
}

/**
 * @param {Context} context
 * @param {By} by
 * @param {Held} held
 * @param {number} whole the bytes held by all
 */
export function heldTable(context, by, held, whole) {
  const cells = held.name.map((name, row) =>
    heldRow(nameLink(context, by, name, shortName(held, row)), held, row, whole));
  const heading = h(
    "tr",
    null,
    h("th", { scope: "col" }, groupingTitle(by)),
    ["held", "share", "ops"].map((text) =>
      h("th", { scope: "col", class: `number memory-${text}` }, text)),
  );
  return h(
    "table",
    { class: "small-table memory-table", "data-by": by },
    h("caption", { class: "sr-only" }, `Memory held, by ${groupingTitle(by)}`),
    h("thead", null, heading),
    h("tbody", null, cells, held.hiddenRows > 0 && hiddenRow(held, whole)),
  );
}

/**
 * A name without that of the row that contains it.
 * @param {Held} held
 * @param {number} row
 */
function shortName(held, row) {
  let above = row - 1;
  while (above >= 0 && held.depth[above] >= held.depth[row]) above -= 1;
  const prefix = above < 0 ? "" : `${held.name[above]}/`;
  const name = held.name[row];
  return prefix && name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

/**
 * @param {HTMLElement} name
 * @param {Held} held
 * @param {number} row
 * @param {number} whole
 */
function heldRow(name, held, row, whole) {
  const bytes = held.bytes[row];
  const cell = h("td", { class: "memory-name" }, name);
  cell.style.paddingInlineStart = `${8 + 16 * (held.depth[row] - 1)}px`;
  return h(
    "tr",
    { "data-name": held.name[row], "data-depth": held.depth[row] },
    cell,
    bytesCell(bytes),
    shareCell(bytes, whole),
    h("td", { class: "number" }, amount(formatted(held.ops[row], "count"), held.ops[row])),
  );
}

/**
 * @param {Held} held
 * @param {number} whole
 */
function hiddenRow(held, whole) {
  const rows = held.hiddenRows === 1 ? "1 row" : `${formatted(held.hiddenRows, "count")} rows`;
  return h(
    "tr",
    { class: "memory-hidden" },
    h("td", { class: "memory-name" }, `${rows} not shown`),
    bytesCell(held.hiddenBytes),
    shareCell(held.hiddenBytes, whole),
    h("td", null),
  );
}

/** @param {number} bytes */
function bytesCell(bytes) {
  const text = amount(formatted(bytes, "bytes"), bytes, { title: exact(bytes, "bytes") });
  return h("td", { class: "number" }, text);
}

/**
 * @param {number} bytes
 * @param {number} whole
 */
function shareCell(bytes, whole) {
  const text = h("span", { class: "memory-percent" }, percent(bytes, whole));
  return h("td", { class: "number memory-share" }, shareBar(whole > 0 ? bytes / whole : 0), text);
}

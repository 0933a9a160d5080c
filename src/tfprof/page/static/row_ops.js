// The rows that ops are part of.

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").Numbers} Numbers */
/** @typedef {import("./types.d.ts").ViewData} ViewData */

/**
 * By the rows of the view: an answer of the server may have other numbers for the same rows.
 * @type {WeakMap<Numbers, Numbers>}
 */
const known = new WeakMap();

/**
 * The row of a view that each op is part of itself, -1 if there is none.
 * @param {Payload} payload
 * @param {ViewData} data
 */
export function rowsOfOps(payload, data) {
  const found = known.get(data.end) ?? computed(payload, data);
  known.set(data.end, found);
  return found;
}

/**
 * @param {Payload} payload
 * @param {ViewData} data
 * @returns {Numbers}
 */
function computed({ ops, views }, data) {
  if (data.end === views.layers?.end) return ops.layer;
  if (data.end === views.code?.end) return ops.line;
  if (data.end === views.op?.end) {
    const { codes, values } = ops.kind;
    const rowOfCode = Int32Array.from({ length: values.length }, (_, code) =>
      rowOfName(data, values.bytes(code)),
    );
    return new Int32Array(codes.length).map((_, op) => rowOfCode[codes[op]]);
  }
  const found = new Int32Array(ops.count).fill(-1);
  data.op.forEach((op, row) => {
    if (op >= 0) found[op] = row;
  });
  let place = 0;
  data.merged?.at.forEach((row, group) => {
    const end = place + (data.merged?.ops.counts[group] ?? 0);
    for (; place < end; place += 1) found[data.merged?.ops.op[place] ?? -1] = row;
  });
  return found;
}

/**
 * The first row of that name, except for the root; -1 if there is none.
 * @param {ViewData} data
 * @param {Uint8Array} name
 */
export function rowOfName(data, name) {
  for (let row = 1; row < data.name.length; row += 1) {
    const other = data.name.bytes(row);
    if (other.length === name.length && other.every((byte, place) => byte === name[place])) {
      return row;
    }
  }
  return -1;
}

/**
 * The ops of a row and of the rows below it.
 * @param {import("./types.d.ts").Rows} rows
 * @param {number} row of the data
 */
export function opsBelow(rows, row) {
  const rowOf = rows.rowOfOps();
  const end = rows.data.end[row];
  const found = [];
  for (let op = 0; op < rowOf.length; op += 1) {
    if (rowOf[op] >= row && rowOf[op] < end) found.push(op);
  }
  return found;
}

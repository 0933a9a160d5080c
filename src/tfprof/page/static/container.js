// Unpacks the data of a report, which `page/container.py` packs: a JSON header and typed columns.

/** @typedef {import("./types.d.ts").Numbers} Numbers */

/** @type {Record<string, any>} */
const ARRAYS = {
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  i1: Int8Array,
  i2: Int16Array,
  i4: Int32Array,
  f8: Float64Array,
};

/** A column of texts: `data` holds their UTF-8, text `i` from `offsets[i]` to `offsets[i + 1]`. */
export class Texts {
  /**
   * @param {Numbers} offsets
   * @param {Uint8Array} data
   */
  constructor(offsets, data) {
    this.offsets = offsets;
    this.data = data;
    this.decoder = new TextDecoder();
  }

  get length() {
    return this.offsets.length - 1;
  }

  /** @param {number} row */
  get(row) {
    return this.decoder.decode(this.bytes(row));
  }

  /** @param {number} row */
  bytes(row) {
    return this.data.subarray(this.offsets[row], this.offsets[row + 1]);
  }
}

/**
 * The value that was packed, with columns as typed arrays and `Texts`.
 * @param {ArrayBuffer} buffer
 * @returns {any}
 */
export function unpack(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const header = new TextDecoder().decode(new Uint8Array(buffer, 4, size));
  const start = Math.ceil((4 + size) / 8) * 8;
  return JSON.parse(header, (_, value) => revived(value, buffer, start));
}

/**
 * @param {any} value
 * @param {ArrayBuffer} buffer
 * @param {number} start
 */
function revived(value, buffer, start) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value.$column)) {
    const [type, offset, count] = value.$column;
    return new ARRAYS[type](buffer, start + offset, count);
  }
  // The reviver gets inner values first, so these are typed arrays already.
  return "$texts" in value ? new Texts(value.$texts.offsets, value.$texts.data) : value;
}

/**
 * Decode base64 and gzip.
 * @param {string} text
 * @returns {Promise<ArrayBuffer>}
 */
export async function decoded(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  // Much faster than `Uint8Array.from`: a large report has millions of letters.
  for (let place = 0; place < letters.length; place += 1) bytes[place] = letters.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

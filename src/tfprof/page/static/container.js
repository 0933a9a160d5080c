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

/** A column of texts: `data` holds their UTF-8, text `i` from `starts[i]` to `ends[i]`. */
export class Texts {
  /**
   * @param {Numbers} starts
   * @param {Numbers} ends
   * @param {Uint8Array} data
   */
  constructor(starts, ends, data) {
    this.starts = starts;
    this.ends = ends;
    this.data = data;
    this.decoder = new TextDecoder("utf-8", { ignoreBOM: true }); // all bytes of a name count
  }

  get length() {
    return this.starts.length;
  }

  /** @param {number} row */
  get(row) {
    return this.decoder.decode(this.bytes(row));
  }

  /** @param {number} row */
  bytes(row) {
    return this.data.subarray(this.starts[row], this.ends[row]);
  }
}

/**
 * The value that was packed, with columns as typed arrays and `Texts`. Each is decoded when it is
 * first used: most views need only a few of them.
 * @param {ArrayBuffer} buffer
 * @returns {any}
 */
export function unpack(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const header = new TextDecoder().decode(new Uint8Array(buffer, 4, size));
  const columns = new Columns(buffer, Math.ceil((4 + size) / 8) * 8);
  return columns.inside(JSON.parse(header));
}

/** What the columns of a header stand for. */
class Columns {
  /**
   * @param {ArrayBuffer} buffer
   * @param {number} start of the columns
   */
  constructor(buffer, start) {
    this.buffer = buffer;
    this.start = start;
    /** @type {(() => Texts)[]} */
    this.texts = [];
  }

  /**
   * A value of the header, with the columns in it.
   * @param {any} value
   */
  inside(value) {
    for (const [key, part] of Object.entries(value)) {
      if (part === null || typeof part !== "object") continue;
      const decode = this.decoder(part);
      if (decode) defineLazily(value, key, decode);
      else this.inside(part);
      if ("$texts" in part) this.texts.push(() => value[key]);
    }
    return value;
  }

  /**
   * A function that decodes a column, null if the value is none.
   * @param {any} value
   */
  decoder(value) {
    if (Array.isArray(value.$column)) return () => column(value.$column, this.buffer, this.start);
    if ("$texts" in value) {
      const parts = this.inside(value.$texts);
      return () => joinedTexts(parts);
    }
    if (!("$spans" in value)) return null;
    const of = this.texts[value.$spans.of];
    const parts = this.inside(value.$spans);
    return () => spans(of(), parts);
  }
}

/**
 * Define a property that is computed when it is first used.
 * @param {object} object
 * @param {string} key
 * @param {() => unknown} compute
 */
function defineLazily(object, key, compute) {
  /** @type {unknown} */
  let found;
  const get = () => (found ??= compute());
  Object.defineProperty(object, key, { get, enumerable: true });
}

/**
 * A column as a typed array, from its place and types.
 * @param {[string, number, number, string?]} place
 * @param {ArrayBuffer} buffer
 * @param {number} start
 */
function column([type, offset, count, result], buffer, start) {
  const found = new ARRAYS[type](buffer, start + offset, count);
  return result === undefined ? found : summed(found, new ARRAYS[result](count));
}

/**
 * The numbers whose steps were packed; 0 stands for -1.
 * @param {Numbers} steps
 * @param {Numbers} numbers
 */
function summed(steps, numbers) {
  let number = 0;
  for (let row = 0; row < steps.length; row += 1) {
    const step = steps[row];
    // Not with bit operations: steps may have more than 32 bits.
    if (step > 0) number += step % 2 === 1 ? (step - 1) / 2 : -step / 2;
    numbers[row] = step > 0 ? number : -1;
  }
  return numbers;
}

/**
 * Texts that were packed without what they have in common with the text before.
 * @param {{ shared: Numbers, length: Numbers, data: Uint8Array }} packed
 */
function joinedTexts({ shared, length, data: rest }) {
  const offsets = new Uint32Array(shared.length + 1);
  for (let row = 0; row < shared.length; row += 1) {
    offsets[row + 1] = offsets[row] + shared[row] + length[row];
  }
  const data = new Uint8Array(offsets[shared.length]);
  let from = 0;
  for (let row = 0; row < shared.length; row += 1) {
    const start = offsets[row];
    const before = row > 0 ? offsets[row - 1] : 0;
    data.copyWithin(start, before, before + shared[row]);
    for (let to = start + shared[row]; to < offsets[row + 1]; to += 1) {
      data[to] = rest[from];
      from += 1;
    }
  }
  return new Texts(offsets.subarray(0, -1), offsets.subarray(1), data);
}

/**
 * Texts that are, or start like, texts of another column.
 * @param {Texts} of
 * @param {{ row: Numbers, length: Numbers, more: Texts }} packed
 */
function spans(of, { row, length, more }) {
  const data = new Uint8Array(of.data.length + more.data.length);
  data.set(of.data);
  data.set(more.data, of.data.length);
  const starts = new Uint32Array(row.length);
  const ends = new Uint32Array(row.length);
  for (let place = 0; place < row.length; place += 1) {
    const source = row[place] < of.length ? of : more;
    const which = source === of ? row[place] : row[place] - of.length;
    const shift = source === of ? 0 : of.data.length;
    starts[place] = source.starts[which] + shift;
    const size = length[place] || source.ends[which] - source.starts[which];
    ends[place] = starts[place] + size;
  }
  return new Texts(starts, ends, data);
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
  return unzipped(new Blob([bytes]).stream());
}

/**
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} stream
 * @returns {Promise<ArrayBuffer>}
 */
export async function unzipped(stream) {
  return new Response(stream.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

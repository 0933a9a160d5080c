// The rows that the number of the selected row refers to, and how the URL names them. Numbers of
// rows change with the model; names do not, so that a link also fits a newer report.

import { rowOfSameName } from "./renewal.js";
import { rowsOfOps } from "./row_ops.js";

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").State} State */
/** @typedef {import("./types.d.ts").Texts} Texts */
/** @typedef {import("./types.d.ts").ViewData} ViewData */
/** @typedef {import("./types.d.ts").ViewKind} ViewKind */
/** @typedef {Pick<State, "row" | "op">} Selected */

/** A row with a longer name is kept by its number. */
const LONGEST = 2000; // bytes

export class ShownRows {
  /** @param {Payload} payload */
  constructor(payload) {
    this.payload = payload;
    /** @type {ViewData | null} rows of a server that are not those of the payload */
    this.current = null;
    /** @type {{ view: string, words: URLSearchParams } | null} a row that is not known yet */
    this.wanted = null;
  }

  /**
   * The rows of a view, undefined if it has none.
   * @param {string} view
   * @returns {ViewData | undefined}
   */
  of(view) {
    if (this.current?.kind === view) return this.current;
    return this.payload.views[/** @type {ViewKind} */ (view)];
  }

  /**
   * The number of a row among other rows of its view, which are shown from now on.
   * @param {ViewData} data
   * @param {number} row
   */
  follow(data, row) {
    const { wanted } = this;
    const same = rowOfSameName(this.of(data.kind)?.name, data.name, row);
    this.current = data;
    this.wanted = null;
    return row < 0 && wanted?.view === data.kind ? rowFrom(data, wanted.words) : same;
  }

  /** Forget the rows of a server, because another view or a newer profile is shown. */
  leave() {
    this.current = null;
  }

  /**
   * The words of the URL for what is selected.
   * @param {Pick<State, "view" | "row" | "op">} state
   * @returns {[string, string][]}
   */
  words({ view, row, op }) {
    const name = this.of(view)?.name;
    if (name && row >= 0 && row < name.length) return wordsOf(name, row);
    if (op >= 0) return [["op", this.payload.ops.name.get(op)]];
    return this.wanted?.view === view ? rowWords(this.wanted.words) : [];
  }

  /**
   * What the words of a URL select in a view.
   * @param {string} view
   * @param {URLSearchParams} words
   * @returns {Selected}
   */
  find(view, words) {
    if (this.current?.kind !== view) this.leave();
    const data = this.of(view);
    this.wanted = null;
    if (data && words.has("row")) {
      const row = rowFrom(data, words);
      if (row < 0) this.wanted = { view, words };
      return { row, op: row < 0 ? -1 : data.op[row] };
    }
    const op = words.has("op") ? rowsNamed(this.payload.ops.name, words.get("op") ?? "")[0] : -1;
    if (op === undefined || op < 0) return { row: -1, op: -1 };
    return { row: data ? rowsOfOps(this.payload, data)[op] : -1, op };
  }
}

/**
 * The name of a row, and which of the rows with that name it is unless it is the first.
 * @param {Texts} names
 * @param {number} row
 * @returns {[string, string][]}
 */
function wordsOf(names, row) {
  if (names.ends[row] - names.starts[row] > LONGEST) return [["row", String(row)]];
  const name = names.get(row);
  const place = rowsNamed(names, name).indexOf(row);
  return place > 0 ? [["row", name], ["nth", String(place + 1)]] : [["row", name]];
}

/**
 * @param {URLSearchParams} words
 * @returns {[string, string][]}
 */
function rowWords(words) {
  return [...words].filter(([key]) => key === "row" || key === "nth");
}

/**
 * @param {ViewData} data
 * @param {URLSearchParams} words
 */
function rowFrom({ name }, words) {
  const text = words.get("row") ?? "";
  const found = rowsNamed(name, text);
  if (found.length > 0) return found[Number(words.get("nth") ?? 1) - 1] ?? found[0];
  return /^\d{1,9}$/.test(text) && Number(text) < name.length ? Number(text) : -1;
}

/**
 * @param {Texts} names
 * @param {string} text
 */
function rowsNamed(names, text) {
  const bytes = new TextEncoder().encode(text);
  const isLossy = text.includes("\ufffd"); // the name may not be valid UTF-8
  const found = [];
  for (let row = 0; row < names.length; row += 1) {
    if (isLossy ? names.get(row) === text : hasBytes(names, row, bytes)) found.push(row);
  }
  return found;
}

/**
 * @param {Texts} names
 * @param {number} row
 * @param {Uint8Array} bytes
 */
function hasBytes({ data, starts, ends }, row, bytes) {
  const start = starts[row];
  if (ends[row] - start !== bytes.length) return false;
  // Names often start alike, so the end is compared first.
  for (let place = bytes.length - 1; place >= 0; place -= 1) {
    if (data[start + place] !== bytes[place]) return false;
  }
  return true;
}

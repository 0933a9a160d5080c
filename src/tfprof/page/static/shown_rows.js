// The rows that the number of the selected row refers to, and how the URL names them.

import { rowOfSameName } from "./renewal.js";
import { rowsOfOps } from "./row_ops.js";
import { rowFrom, rowsNamed, rowWords, wordsOf } from "./row_words.js";

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").State} State */
/** @typedef {import("./types.d.ts").ViewData} ViewData */
/** @typedef {import("./types.d.ts").ViewKind} ViewKind */
/** @typedef {Pick<State, "row" | "op">} Selected */

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

// How the URL of a diff page names the selected row, and where the selection is in another view.

import { rowFrom, rowsNamed, wordsOf } from "./row_words.js";

/** @typedef {import("./diff_types.d.ts").DiffPayload} DiffPayload */
/** @typedef {import("./diff_types.d.ts").DiffStore} DiffStore */
/** @typedef {import("./types.d.ts").State} State */
/** @typedef {import("./types.d.ts").ViewKind} ViewKind */

const NONE = { row: -1, op: -1 };

export class DiffLinks {
  /** @param {DiffPayload} payload */
  constructor(payload) {
    this.payload = payload;
  }

  /** @param {string} view */
  of(view) {
    return this.payload.views[/** @type {ViewKind} */ (view)];
  }

  /**
   * The words of the URL for what is selected.
   * @param {Pick<State, "view" | "row">} state
   * @returns {[string, string][]}
   */
  words({ view, row }) {
    const name = this.of(view)?.name;
    return name && row >= 0 && row < name.length ? wordsOf(name, row) : [];
  }

  /**
   * What the words of a URL select in a view.
   * @param {string} view
   * @param {URLSearchParams} words
   */
  find(view, words) {
    const data = this.of(view);
    return data && words.has("row") ? { row: rowFrom(data, words), op: -1 } : NONE;
  }

  leave() {
    // All rows are in the page.
  }

  /**
   * The row of the same name in another view, -1 if there is none.
   * @param {string} from
   * @param {number} row
   * @param {string} to
   */
  follow(from, row, to) {
    const [one, other] = [this.of(from), this.of(to)];
    if (!one || !other || row <= 0) return -1;
    return rowsNamed(other.name, one.name.get(row))[0] ?? -1;
  }
}

/**
 * A store that selects the row of the same name when the view changes.
 * @param {DiffStore} store
 * @returns {DiffStore}
 */
export function following(store) {
  const followed = (/** @type {Partial<State>} */ part) => {
    const { view, row } = store.state;
    if (part.view === undefined || part.view === view || part.row !== undefined) return part;
    return { ...part, row: store.rows.follow(view, row, part.view) };
  };
  return {
    ...store,
    get state() {
      return store.state;
    },
    set: (part) => store.set(followed(part)),
    visit: (part) => store.visit(followed(part)),
  };
}

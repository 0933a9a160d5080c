// What happened to a row, in the order of the codes of `page/diff_views.py`.

export const MARK = { same: 0, added: 1, removed: 2, renamed: 3, moved: 4 };

/** The words for each code; rows that stayed have none. */
export const MARK_WORDS = ["", "added", "removed", "renamed", "moved"];

// The names of rows as panels show them.

/** @typedef {import("./types.d.ts").RowTexts} RowTexts */

/** What the root of a view is called; its name in the data is that of the command line. */
export const ROOT = "total";

/**
 * The name of a row below another one: without the other's name, if it starts with that.
 * @param {RowTexts} data
 * @param {number} row
 * @param {number} parent a row of the data, -1 if there is none
 */
export function shortName(data, row, parent) {
  if (row === 0) return ROOT;
  const name = data.name.get(row);
  if (parent <= 0) return name;
  const scope = `${data.name.get(parent)}/`;
  return name.length > scope.length && name.startsWith(scope) ? name.slice(scope.length) : name;
}

/**
 * A name as its last part, and the scope before it. Lines of code are not divided.
 * @param {RowTexts} data
 * @param {string} name
 * @returns {[string, string]}
 */
export function leafAndScope(data, name) {
  const slash = data.kind === "code" ? -1 : name.lastIndexOf("/");
  return slash > 0 && slash < name.length - 1
    ? [name.slice(slash + 1), name.slice(0, slash)]
    : [name, ""];
}

/**
 * The full name of a row.
 * @param {RowTexts} data
 * @param {number} row
 */
export function fullName(data, row) {
  return row === 0 ? ROOT : data.name.get(row);
}

/**
 * The ends of names that are enough to tell them apart, also from `others`. An end does not begin
 * with a number, which says nothing without the name before it: `blocks/0/attn`.
 * @param {string[]} names
 * @param {string[]} others
 */
export function shortNames(names, others = names) {
  return names.map((name) => {
    const parts = name.split("/");
    for (let first = parts.length - 1; first > 0; first -= 1) {
      const end = parts.slice(first).join("/");
      const isNumber = /^[0-9]*$/u.test(parts[first]);
      const isLike = (/** @type {string} */ other) => other === end || other.endsWith(`/${end}`);
      if (!isNumber && others.filter(isLike).length === 1) return end;
    }
    return name;
  });
}

// Where keys move the selection in a table.

/**
 * The place that a key leads to, -1 if it leads nowhere.
 * @param {string} key
 * @param {import("./icicle_layout.js").ShownTree} answer
 * @param {Int32Array} listed
 * @param {number} place
 * @param {number} page the number of lines of a page
 */
export function targetOf(key, { parent, rows }, listed, place, page) {
  const line = listed.indexOf(place);
  const last = listed.length - 1;
  switch (key) {
    case "ArrowUp":
      return listed[Math.max(0, line - 1)];
    case "ArrowDown":
      return listed[Math.min(last, line + 1)];
    case "PageUp":
      return listed[Math.max(0, line - page)];
    case "PageDown":
      return listed[Math.min(last, line + page)];
    case "Home":
      return listed[0];
    case "End":
      return listed[last];
    case "ArrowLeft":
      return parent[place];
    case "ArrowRight":
      return rows.end[place] > place + 1 ? place + 1 : -1;
    default:
      return -1;
  }
}

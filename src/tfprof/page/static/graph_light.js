// Finds the lines and boxes that are connected with a node.

/** @typedef {import("./graph_links.js").Link} Link */
/** @typedef {import("./graph_sheet.js").Line} Line */
/** @typedef {import("./graph_state.js").GraphState} GraphState */

/**
 * The lines that carry what a node uses and what it produces, on all levels, and the nodes there.
 * @param {GraphState} state
 * @param {Line[]} lines
 * @param {number} node
 */
export function connected(state, lines, node) {
  const around = new Set([node, ...state.tree.around(node)]);
  const own = lines.flatMap(({ links }) => links)
    .filter(({ from, to }) => from === node || to === node);
  const used = tensorsOf(own.filter(({ to }) => to === node));
  const made = tensorsOf(own.filter(({ from }) => from === node));
  /** @type {(link: Link) => boolean} */
  const isConnected = ({ from, to, tensors }) =>
    (around.has(to) && overlap(tensors, used)) || (around.has(from) && overlap(tensors, made));
  const found = lines.filter(({ links }) => links.some(isConnected));
  const nodes = found.flatMap(({ links }) => links).filter(isConnected)
    .flatMap(({ from, to }) => [from, to]);
  return { lines: new Set(found), nodes: new Set([node, ...nodes]) };
}

/** @param {Link[]} links */
function tensorsOf(links) {
  return new Set(links.flatMap(({ tensors }) => [...tensors]));
}

/**
 * @param {Set<number>} one
 * @param {Set<number>} other
 */
function overlap(one, other) {
  for (const tensor of one) if (other.has(tensor)) return true;
  return false;
}

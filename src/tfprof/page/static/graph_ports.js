// Ports: the points on the border of an expanded node where lines enter and leave it.

/** @typedef {import("./graph_links.js").Link} Link */

/**
 * A port: the nodes outside that it leads to or comes from, and its links by child.
 * @typedef {{ id: string, outside: number[], links: Map<number, Link[]> }} Port
 */

/** A border has at most this many ports; if there are more, several become one. */
const MOST_PORTS = 6;

/**
 * The ports where links enter a node: one for each node that they come from.
 * @param {Link[]} links
 * @returns {Port[]}
 */
export function entryPorts(links) {
  const found = byOutside(links, ({ from }) => from, ({ to }) => to);
  return named("in", found.length > MOST_PORTS ? merged(found) : found);
}

/**
 * The ports where links leave a node: one for each result, wherever it is used.
 * @param {Link[]} links
 * @returns {Port[]}
 */
export function exitPorts(links) {
  return named("out", merged(byOutside(links, ({ to }) => to, ({ from }) => from)));
}

/**
 * The edges between nodes, and between nodes and ports.
 * @param {Link[]} links
 * @param {Port[]} entries
 * @param {Port[]} exits
 * @returns {import("./graph_sheet.js").Edge[]}
 */
export function edgesOf(links, entries, exits) {
  return [
    ...links.map((link) => ({ from: `${link.from}`, to: `${link.to}`, links: [link] })),
    ...entries.flatMap(({ id, links: own }) =>
      [...own].map(([child, some]) => ({ from: id, to: `${child}`, links: some }))),
    ...exits.flatMap(({ id, links: own }) =>
      [...own].map(([child, some]) => ({ from: `${child}`, to: id, links: some }))),
  ];
}

/**
 * @param {Link[]} links
 * @param {(link: Link) => number} outside
 * @param {(link: Link) => number} child
 */
function byOutside(links, outside, child) {
  /** @type {Map<number, Port>} */
  const found = new Map();
  for (const link of links) {
    const key = outside(link);
    const port = found.get(key) ?? { id: "", outside: [key], links: new Map() };
    port.links.set(child(link), [link]);
    found.set(key, port);
  }
  return [...found.values()];
}

/**
 * Ports with those merged that have the same children; all of them if there are still too many.
 * @param {Port[]} ports
 */
function merged(ports) {
  const found = joined(ports, ({ links }) => [...links.keys()].sort((a, b) => a - b).join());
  return found.length > MOST_PORTS ? joined(found, () => "") : found;
}

/**
 * @param {Port[]} ports
 * @param {(port: Port) => string} key
 */
function joined(ports, key) {
  /** @type {Map<string, Port>} */
  const found = new Map();
  for (const port of ports) {
    const known = found.get(key(port));
    if (!known) {
      found.set(key(port), { ...port, links: new Map(port.links) });
      continue;
    }
    known.outside = [...known.outside, ...port.outside];
    for (const [child, links] of port.links) {
      known.links.set(child, [...(known.links.get(child) ?? []), ...links]);
    }
  }
  return [...found.values()];
}

/**
 * @param {string} name
 * @param {Port[]} ports
 */
function named(name, ports) {
  return ports.map((port, place) => ({ ...port, id: `${name} ${place}` }));
}

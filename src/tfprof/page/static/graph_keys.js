// Moves through the drawn graph with the arrow keys.

/** @typedef {import("./graph_scene.js").Scene} Scene */
/** @typedef {import("./graph_scene.js").SceneBox} SceneBox */
/** @typedef {import("./graph_state.js").GraphState} GraphState */

/**
 * The node that an arrow key leads to, or the same node: down to what uses a node, up to what it
 * uses, sideways to its neighbours.
 * @param {GraphState} state
 * @param {Scene} scene
 * @param {number} node
 * @param {string} key
 */
export function neighbour(state, scene, node, key) {
  const box = scene.boxes.get(node);
  if (!box) return node;
  if (key === "ArrowDown") return below(state, scene, box);
  if (key === "ArrowUp") return above(state, scene, box);
  return beside(scene, box, key === "ArrowRight" ? 1 : -1);
}

/**
 * @param {GraphState} state
 * @param {Scene} scene
 * @param {SceneBox} box
 */
function below(state, scene, box) {
  if (box.isExpanded) {
    const first = leading(inside(state, scene, box.node));
    if (first) return first.node;
  }
  for (let node = box.node; node >= 0; node = state.tree.parentOf(node)) {
    const found = linked(state, scene, node, box, true);
    if (found !== undefined) return found;
  }
  return box.node;
}

/**
 * @param {GraphState} state
 * @param {Scene} scene
 * @param {SceneBox} box
 */
function above(state, scene, box) {
  const found = linked(state, scene, box.node, box, false);
  if (found !== undefined) return found;
  const parent = state.tree.parentOf(box.node);
  return scene.boxes.has(parent) ? parent : box.node;
}

/**
 * The nearest box that uses a node, or that it uses, on its own level.
 * @param {GraphState} state
 * @param {Scene} scene
 * @param {number} node
 * @param {SceneBox} from
 * @param {boolean} isDown
 */
function linked(state, scene, node, from, isDown) {
  const parent = state.tree.parentOf(node);
  if (parent < 0) return undefined;
  const links = state.children.links(parent).inside.filter((link) =>
    link.from !== link.to && (isDown ? link.from === node : link.to === node));
  const boxes = links.flatMap((link) => scene.boxes.get(isDown ? link.to : link.from) ?? []);
  return nearest(boxes, from)?.node;
}

/**
 * The nearest box at the left or at the right, preferably at the same height.
 * @param {Scene} scene
 * @param {SceneBox} box
 * @param {number} direction
 */
function beside(scene, box, direction) {
  const [x, y] = centre(box);
  let best = box.node;
  let least = Infinity;
  for (const other of scene.boxes.values()) {
    const [a, b] = centre(other);
    const across = (a - x) * direction;
    const distance = across + 3 * Math.abs(b - y);
    if (across <= 1 || distance >= least || contains(other, box) || contains(box, other)) continue;
    least = distance;
    best = other.node;
  }
  return best;
}

/**
 * @param {GraphState} state
 * @param {Scene} scene
 * @param {number} node
 */
function inside(state, scene, node) {
  return state.children.of(node).flatMap((child) => scene.boxes.get(child) ?? []);
}

/**
 * The box where reading starts.
 * @param {SceneBox[]} boxes
 */
function leading(boxes) {
  return boxes.reduce(
    (best, box) => (!best || box.x + box.y < best.x + best.y ? box : best),
    /** @type {SceneBox | undefined} */ (undefined),
  );
}

/**
 * @param {SceneBox[]} boxes
 * @param {SceneBox} from
 */
function nearest(boxes, from) {
  const [x, y] = centre(from);
  const distance = (/** @type {SceneBox} */ box) => {
    const [a, b] = centre(box);
    return Math.hypot(a - x, b - y);
  };
  return boxes.sort((one, other) => distance(one) - distance(other))[0];
}

/** @param {SceneBox} box */
function centre({ x, y, width, height, isExpanded }) {
  // An expanded node is where its head is.
  return [x + width / 2, isExpanded ? y + 13 : y + height / 2];
}

/**
 * @param {SceneBox} outer
 * @param {SceneBox} inner
 */
function contains(outer, inner) {
  return outer.isExpanded && inner.x >= outer.x && inner.x < outer.x + outer.width
    && inner.y >= outer.y && inner.y < outer.y + outer.height;
}

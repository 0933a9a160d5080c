// The graph view: the drawn graph or the icicle above the rows of the view.

import { fill, h } from "./dom.js";
import { DrawnGraph } from "./graph.js";
import { mountIcicle } from "./icicle.js";
import { mountWorkbench } from "./workbench.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").GraphData} GraphData */
/** @typedef {import("./types.d.ts").State} State */
/** @typedef {import("./workbench.js").Bench} Bench */
/** @typedef {import("./workbench.js").Panel} Panel */

const PICTURES = [["graph", "Graph"], ["icicle", "Icicle"]];

/**
 * The view, which waits for the arrangement of the graph: a server computes it last.
 * @param {Context} context
 * @returns {import("./types.d.ts").Component}
 */
export function mountGraphView(context) {
  const { provider, store } = context;
  const element = h("div", { class: "graph-waiting" }, h("p", { class: "empty" }, "Arranging…"));
  /** @type {import("./types.d.ts").Component | null} */
  let view = null;

  void provider.graph().then((graph) => {
    const mount = graph ? (/** @type {Bench} */ bench) => mountPictures(bench, graph) : mountIcicle;
    view = mountWorkbench(context, mount, "graph");
    fill(element, view.element);
    view.update(new Set(/** @type {(keyof State)[]} */ (Object.keys(store.state))));
  });

  return { element, update: (changed) => view?.update(changed) };
}

/**
 * @param {Bench} bench
 * @param {GraphData} data
 * @returns {Panel}
 */
function mountPictures(bench, data) {
  const graph = new DrawnGraph(bench, data);
  const icicle = mountIcicle(bench);
  const bar = h("div", { class: "graph-bar" }, menu(choose), graph.controls);
  const element = h("div", { class: "graph-view" }, bar, graph.element, icicle.element);

  /** @param {string} chosen */
  function choose(chosen) {
    const isGraph = chosen === "graph";
    element.classList.toggle("graph-drawn", isGraph);
    graph.controls.hidden = graph.element.hidden = !isGraph;
    icicle.element.hidden = isGraph;
  }

  choose("graph");
  return {
    element,
    show(answer) {
      icicle.show(answer);
      graph.show(answer);
    },
    select() {
      icicle.select();
      graph.follow();
    },
    mark() {
      icicle.mark?.();
      graph.markMatches();
    },
  };
}

/** @param {(key: string) => void} choose */
function menu(choose) {
  const buttons = PICTURES.map(([key, title]) => {
    const radio = h("input", { type: "radio", name: "graph-picture", value: key });
    const input = /** @type {HTMLInputElement} */ (radio);
    input.checked = key === "graph";
    input.addEventListener("change", () => choose(key));
    return h("label", { class: "graph-choice" }, input, title);
  });
  return h("div", { class: "graph-choices", role: "radiogroup", "aria-label": "Picture" }, buttons);
}

// The graph view: the drawn graph or the icicle above the rows of the view.

import { h } from "./dom.js";
import { DrawnGraph } from "./graph.js";
import { mountIcicle } from "./icicle.js";
import { mountWorkbench } from "./workbench.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").GraphData} GraphData */
/** @typedef {import("./workbench.js").Bench} Bench */
/** @typedef {import("./workbench.js").Panel} Panel */

const PICTURES = [["graph", "Graph"], ["icicle", "Icicle"]];

/**
 * @param {Context} context
 * @returns {import("./types.d.ts").Component}
 */
export function mountGraphView(context) {
  const { graph } = context.payload;
  if (!graph) return mountWorkbench(context);
  const { element, update } = mountWorkbench(context, (bench) => mountPictures(bench, graph));
  return { element, update };
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
  bench.store.subscribe((changed) => {
    if (changed.has("search")) graph.markMatches();
  });
  return {
    element,
    show(answer) {
      icicle.show(answer);
      graph.update();
    },
    select() {
      icicle.select();
      graph.update();
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

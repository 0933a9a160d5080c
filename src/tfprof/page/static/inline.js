// Starts the page of one view in a notebook: the metric, then picture, rows and details.

import { decoded, unpack } from "./container.js";
import { h } from "./dom.js";
import { metricMenu } from "./metric.js";
import { createProvider } from "./provider.js";
import { ShownRows } from "./shown_rows.js";
import { createStore, initialState } from "./store.js";
import { mountWorkbench } from "./workbench.js";

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").State} State */

/** @param {Payload} payload */
function start(payload) {
  const view = Object.keys(payload.views)[0];
  const metric = payload.metrics[0]?.key ?? "";
  const store = createStore(initialState(view, metric), [], new ShownRows(payload));
  const workbench = mountWorkbench({ payload, store, provider: createProvider(payload) });
  const bar = h("div", { class: "header-bar inline-bar" }, metricMenu(payload, store));
  document.body.replaceChildren(h("main", { class: "inline" }, bar, workbench.element));
  store.subscribe((changed) => workbench.update(changed));
  workbench.update(new Set(/** @type {(keyof State)[]} */ (Object.keys(store.state))));
}

async function boot() {
  const data = document.getElementById("data");
  if (data) start(unpack(await decoded(data.textContent ?? "")));
}

void boot();

// Starts the page: unpacks the data, then shows the header and the chosen view.

import { decoded, unpack } from "./container.js";
import { fill, h } from "./dom.js";
import { mountHeader } from "./header.js";
import { createProvider } from "./provider.js";
import { createStore } from "./store.js";
import { applyTheme, theme } from "./theme.js";
import { VIEWS } from "./views.js";

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").Component} Component */
/** @typedef {import("./types.d.ts").Changed} Changed */

/** @param {Payload} payload */
function start(payload) {
  const store = createStore(
    {
      view: "overview",
      metric: payload.metrics[0]?.key ?? "",
      options: {},
      row: -1,
      op: -1,
      search: "",
    },
    payload.options.map(({ name }) => name),
  );
  const context = { payload, store, provider: createProvider(payload) };
  const header = mountHeader(context);
  const panel = h("div", { class: "view", id: "view", role: "tabpanel" });
  /** @type {Map<string, Component>} */
  const mounted = new Map();

  /** @param {Changed} changed */
  function update(changed) {
    header.update(changed);
    const { view } = store.state;
    if (changed.has("view")) {
      panel.setAttribute("aria-labelledby", `tab-${view}`);
      fill(panel, component(view, context, mounted).element);
    }
    component(view, context, mounted).update(changed);
  }

  document.body.replaceChildren(header.element, h("main", null, panel));
  store.subscribe(update);
  update(new Set(/** @type {(keyof import("./types.d.ts").State)[]} */ (Object.keys(store.state))));
}

/**
 * @param {string} view
 * @param {Context} context
 * @param {Map<string, Component>} mounted
 */
function component(view, context, mounted) {
  const known = mounted.get(view);
  if (known) return known;
  const reason = context.payload.missing[view];
  const found = VIEWS.find(({ key }) => key === view) ?? VIEWS[0];
  const made = reason ? emptyView(reason) : found.mount(context);
  mounted.set(view, made);
  return made;
}

/**
 * @param {string} reason
 * @returns {Component}
 */
function emptyView(reason) {
  return { element: h("p", { class: "empty" }, reason), update: () => undefined };
}

async function boot() {
  applyTheme(theme());
  const data = document.getElementById("data");
  if (data) start(unpack(await decoded(data.textContent ?? "")));
}

void boot();

// Starts the page: unpacks the data, then shows the header and the chosen view.

import { decoded, unpack } from "./container.js";
import { fill, h } from "./dom.js";
import { mountHeader } from "./header.js";
import { carriedOver, startLive } from "./live.js";
import { createProvider } from "./provider.js";
import { createStore, initialState } from "./store.js";
import { applyTheme, theme } from "./theme.js";
import { VIEWS } from "./views.js";

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").Component} Component */
/** @typedef {import("./types.d.ts").Changed} Changed */
/** @typedef {import("./types.d.ts").Provider} Provider */

/**
 * A page with a state of its own: the function it returns shows a profile, or later a newer one.
 * @param {Payload} first
 */
function createPage(first) {
  const store = createStore(
    initialState("overview", first.metrics[0]?.key ?? ""),
    first.options.map(({ name }) => name),
  );
  let current = first;
  /** @type {((changed: Changed) => void) | null} */
  let update = null;
  store.subscribe((changed) => update?.(changed));

  /**
   * @param {Payload} payload
   * @param {Provider} provider
   * @param {...HTMLElement} footer
   */
  return (payload, provider, ...footer) => {
    update = null; // the parts of the older profile must not see the state of the newer one
    if (payload !== current) store.set(carriedOver(store.state, current, payload));
    current = payload;
    update = mount({ payload, store, provider }, footer);
  };
}

/**
 * Fill the page; the function it returns is called when the state changes.
 * @param {Context} context
 * @param {HTMLElement[]} footer
 */
function mount(context, footer) {
  const { store } = context;
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

  document.body.replaceChildren(header.element, h("main", null, panel), ...footer);
  update(new Set(/** @type {(keyof import("./types.d.ts").State)[]} */ (Object.keys(store.state))));
  return update;
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
  if (data) {
    const payload = unpack(await decoded(data.textContent ?? ""));
    createPage(payload)(payload, createProvider(payload));
    return;
  }
  /** @type {ReturnType<typeof createPage> | undefined} */
  let show;
  await startLive((payload, provider, footer) => {
    show ??= createPage(payload);
    show(payload, provider, footer);
  });
}

void boot();

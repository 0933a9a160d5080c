// Starts the page: unpacks the data, then shows the header and the chosen view.

import { mountCommand } from "./command.js";
import { decoded, unpack } from "./container.js";
import { fill, h } from "./dom.js";
import { mountFilters } from "./filters.js";
import { guarded } from "./guarded.js";
import { mountHeader } from "./header.js";
import { startLive } from "./live.js";
import { createProvider } from "./provider.js";
import { carriedOver, hasSameRows } from "./renewal.js";
import { following } from "./selection.js";
import { ShownRows } from "./shown_rows.js";
import { createStore, initialState } from "./store.js";
import { VIEWS } from "./views.js";

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").Component} Component */
/** @typedef {import("./types.d.ts").Changed} Changed */
/** @typedef {import("./types.d.ts").Provider} Provider */

/**
 * Show a profile. The function that is returned shows a newer one instead: the state stays, and so
 * do views that can show other numbers for the same rows.
 * @param {Payload} payload
 * @param {Provider} source
 * @param {...HTMLElement} status shown in the header
 */
function createPage(payload, source, ...status) {
  const store = following(
    createStore(
      initialState("overview", payload.metrics[0]?.key ?? ""),
      payload.options.map(({ name }) => name),
      new ShownRows(payload),
    ),
    payload,
  );
  const provider = guarded(source);
  const context = { payload, store, provider };
  const [filters, command] = [mountFilters(context), mountCommand(context)];
  const panel = h("div", { class: "view", id: "view", role: "tabpanel" });
  /** @type {Map<string, Component>} */
  const mounted = new Map();
  let header = mountHeader(context, status);
  let isRenewing = false;

  /** @param {Changed} changed */
  function update(changed) {
    if (isRenewing) return;
    for (const part of [header, filters, command]) part.update(changed);
    const { view } = store.state;
    const shown = component(view, context, mounted);
    if (panel.firstChild !== shown.element) {
      panel.setAttribute("aria-labelledby", `tab-${view}`);
      fill(panel, shown.element);
    }
    shown.update(changed);
  }

  const everything = new Set(
    /** @type {(keyof import("./types.d.ts").State)[]} */ (Object.keys(store.state)),
  );

  /** @param {Payload} newer */
  function renew(newer) {
    const part = carriedOver(store, payload, newer);
    for (const [view, { renews }] of mounted) {
      if (!renews || !hasSameRows(view, payload, newer)) mounted.delete(view);
    }
    Object.assign(payload, newer); // components that stay have a reference to it
    provider.forget();
    store.rows.leave();
    isRenewing = true; // components are told once, after the header is there
    store.set(part);
    isRenewing = false;
    renewHeader();
    update(everything);
  }

  /** Replace the header, or do it later if the reader is typing in it. */
  function renewHeader() {
    const { element } = header;
    if (element.contains(document.activeElement)) {
      element.addEventListener("focusout", () => setTimeout(renewHeader), { once: true });
      return;
    }
    header = mountHeader(context, status);
    element.replaceWith(header.element);
    header.update(everything);
  }

  store.subscribe(update);
  const main = h("main", null, filters.element, panel);
  document.body.replaceChildren(header.element, main, command.element);
  update(everything);
  return renew;
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
  const data = document.getElementById("data");
  if (data) {
    const payload = unpack(await decoded(data.textContent ?? ""));
    createPage(payload, createProvider(payload));
  } else {
    await startLive(createPage);
  }
}

void boot();

// Starts the page: unpacks the data, then shows the header and the chosen view.

import { mountCommand } from "./command.js";
import { decoded, unpack } from "./container.js";
import { fill, h } from "./dom.js";
import { mountFilters } from "./filters.js";
import { guarded } from "./guarded.js";
import { mountHeader } from "./header.js";
import { listenToKeys, PAGE_KEYS, VIEW_KEYS } from "./keys.js";
import { Help } from "./help.js";
import { HELP, NUMBERS } from "./help_texts.js";
import { startLive } from "./live.js";
import { createProvider } from "./provider.js";
import { carriedOver, hasSameRows } from "./renewal.js";
import { Search } from "./search.js";
import { following } from "./selection.js";
import { ShownRows } from "./shown_rows.js";
import { createStore, initialState } from "./store.js";
import { VIEWS, viewsOf } from "./views.js";

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").Component} Component */
/** @typedef {import("./types.d.ts").Changed} Changed */
/** @typedef {import("./types.d.ts").Provider} Provider */

/** The page: a header, the filters, the chosen view and the command for it. */
class Page {
  /**
   * @param {Payload} payload
   * @param {Provider} source
   * @param {HTMLElement[]} status shown in the header
   */
  constructor(payload, source, status) {
    const initial = initialState("overview", payload.metrics[0]?.key ?? "");
    const options = payload.options.map(({ name }) => name);
    this.store = following(createStore(initial, options, new ShownRows(payload)), payload);
    this.provider = guarded(source);
    this.context = { payload, store: this.store, provider: this.provider };
    this.status = status;
    /** @type {Map<string, Component>} */
    this.mounted = new Map();
    this.search = new Search(this.context, () => this.mounted.get(this.store.state.view)?.finder);
    this.filters = mountFilters(this.context);
    this.command = mountCommand(this.context);
    this.panel = h("div", { class: "view", id: "view", role: "tabpanel" });
    this.help = new Help({
      get views() {
        return viewsOf(payload);
      },
      texts: HELP,
      numbers: NUMBERS,
      keys: PAGE_KEYS,
      parts: VIEW_KEYS,
    });
    this.header = this.mountHeader();
    this.isRenewing = false;
    this.store.subscribe((changed) => this.update(changed));
    const main = h("main", null, this.filters.element, this.panel);
    const { element } = this.header;
    document.body.replaceChildren(element, main, this.command.element, this.help.element);
    listenToKeys(this.actions(), PAGE_KEYS); // before views do, because they use Escape too
    this.update(this.everything());
  }

  /** @returns {import("./keys.js").Actions} */
  actions() {
    return {
      view: (place) => this.show(viewsOf(this.context.payload)[place]?.key),
      search: () => this.search.focus(),
      next: () => void this.search.go(1),
      previous: () => void this.search.go(-1),
      copy: () => press(".command-bar:not([hidden]) button") || press("#view .command button"),
      theme: () => press(".theme-button"),
      help: () => this.help.open(this.store.state.view),
      clear: () => this.search.clear(),
    };
  }

  /**
   * Show a view, if the page has it, and let the focus be there.
   * @param {string | undefined} view
   */
  show(view) {
    if (view === undefined) return false;
    this.store.set({ view });
    document.getElementById(`tab-${view}`)?.focus();
    return true;
  }

  mountHeader() {
    const help = () => this.help.open(this.store.state.view);
    return mountHeader(this.context, this.search.element, help, this.status);
  }

  /** @returns {Changed} */
  everything() {
    return new Set(
      /** @type {(keyof import("./types.d.ts").State)[]} */ (Object.keys(this.store.state)),
    );
  }

  /** @param {Changed} changed */
  update(changed) {
    if (this.isRenewing) return;
    for (const part of [this.header, this.filters, this.command]) part.update(changed);
    const { view } = this.store.state;
    const shown = component(view, this.context, this.mounted);
    if (this.panel.firstChild !== shown.element) {
      this.panel.setAttribute("aria-labelledby", `tab-${view}`);
      fill(this.panel, shown.element);
    }
    shown.update(changed);
    void this.search.update();
  }

  /**
   * Show a newer profile: the state stays, and so do views that can show other numbers for the same
   * rows.
   * @param {Payload} newer
   */
  renew(newer) {
    const { store, mounted, context: { payload } } = this;
    const part = carriedOver(store, payload, newer);
    for (const [view, { renews, dispose }] of mounted) {
      if (renews && hasSameRows(view, payload, newer)) continue;
      dispose?.();
      mounted.delete(view);
    }
    Object.assign(payload, newer); // components that stay have a reference to it
    this.provider.forget();
    store.rows.leave();
    this.isRenewing = true; // components are told once, after the header is there
    store.set(part);
    this.isRenewing = false;
    this.renewHeader();
    this.update(this.everything());
  }

  /** Replace the header, or do it later if the reader is typing in it. */
  renewHeader() {
    const { element } = this.header;
    if (element.contains(document.activeElement)) {
      element.addEventListener("focusout", () => setTimeout(() => this.renewHeader()), {
        once: true,
      });
      return;
    }
    this.header = this.mountHeader();
    element.replaceWith(this.header.element);
    this.header.update(this.everything());
  }
}

/**
 * Press a button, if there is one.
 * @param {string} selector
 */
function press(selector) {
  const button = /** @type {HTMLElement | null} */ (document.querySelector(selector));
  button?.click();
  return button !== null;
}

/**
 * Show a profile. The function that is returned shows a newer one instead.
 * @param {Payload} payload
 * @param {Provider} source
 * @param {...HTMLElement} status shown in the header
 */
function createPage(payload, source, ...status) {
  const page = new Page(payload, source, status);
  return (/** @type {Payload} */ newer) => page.renew(newer);
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

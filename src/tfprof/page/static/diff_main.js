// Starts the page of a comparison: unpacks the data, then shows the summary, rows and timelines.

import { Bench } from "./diff_bench.js";
import { mountCommand } from "./diff_command.js";
import { mountHeader, VIEWS } from "./diff_header.js";
import { HELP, KEYS, NUMBERS, PARTS } from "./diff_help.js";
import { DiffLinks, following } from "./diff_links.js";
import { summaryOf } from "./diff_summary.js";
import { DiffTimelines } from "./diff_timelines.js";
import { decoded, unpack } from "./container.js";
import { fill, h, nameOf } from "./dom.js";
import { Help } from "./help.js";
import { listenToKeys } from "./keys.js";
import { createStore, initialState } from "./store.js";

/** @typedef {import("./diff_types.d.ts").DiffPayload} DiffPayload */
/** @typedef {import("./types.d.ts").State} State */
/** @typedef {import("./types.d.ts").ViewKind} ViewKind */

/** Layers say most in the fewest rows, if the model has any. */
const FEWEST_LAYERS = 3;

class DiffPage {
  /** @param {DiffPayload} payload */
  constructor(payload) {
    const initial = initialState(firstView(payload), payload.metrics[0]?.key ?? "");
    const links = new DiffLinks(payload);
    this.payload = payload;
    this.store = following(createStore(initial, ["order_by", "unchanged"], links));
    this.context = { payload, store: this.store };
    /** @type {Map<string, Bench>} */
    this.mounted = new Map();
    this.help = new Help({ views: VIEWS, texts: HELP, numbers: NUMBERS, keys: KEYS, parts: PARTS });
    const help = () => this.help.open(this.store.state.view);
    this.header = mountHeader(this.context, help);
    this.command = mountCommand(this.context);
    this.panel = h("div", { class: "diff-view", id: "view", role: "tabpanel" });
    this.timelines = payload.timelines && new DiffTimelines(this.context, payload.timelines);
    this.store.subscribe((changed) => this.update(changed));
    const main = h("main", { class: "diff" }, summaryOf(payload), this.panel, this.below());
    const { element } = this.header;
    document.body.replaceChildren(element, main, this.command.element, this.help.element);
    listenToKeys(this.actions(help), KEYS);
    this.update(new Set(/** @type {(keyof State)[]} */ (Object.keys(this.store.state))));
  }

  /** What follows the rows: the timelines, or why there are none, and notes. */
  below() {
    const { missing, notes } = this.payload;
    return [
      this.timelines
        ? this.timelines.element
        : h("p", { class: "quiet diff-missing" }, missing["timeline"] ?? ""),
      notes.length > 0 && h(
        "section",
        { class: "notes diff-notes" },
        h("h2", null, "What these numbers do not cover"),
        h("ul", null, notes.map((note) => h("li", null, nameOf(note)))),
      ),
    ];
  }

  /**
   * @param {() => void} help
   * @returns {import("./keys.js").Actions}
   */
  actions(help) {
    const nothing = () => false;
    return {
      view: (place) => this.show(VIEWS[place]?.key),
      copy: () => press(".command-bar:not([hidden]) button"),
      theme: () => press(".theme-button"),
      help,
      search: nothing,
      next: nothing,
      previous: nothing,
      clear: nothing,
    };
  }

  /** @param {string | undefined} view */
  show(view) {
    if (view === undefined) return;
    this.store.set({ view });
    document.getElementById(`tab-${view}`)?.focus();
  }

  /** @param {Set<keyof State>} changed */
  update(changed) {
    this.header.update(changed);
    this.command.update(changed);
    const { view } = this.store.state;
    const data = this.store.rows.of(view);
    if (!data || this.payload.metrics.length === 0) {
      const reason = this.payload.missing[view] ?? "There is nothing to compare.";
      fill(this.panel, h("p", { class: "empty" }, reason));
      this.timelines?.update(null, changed);
      return;
    }
    const shown = this.mounted.get(view) ?? new Bench(this.context, data);
    const isNew = !this.mounted.has(view);
    this.mounted.set(view, shown);
    if (this.panel.firstChild !== shown.element) fill(this.panel, shown.element);
    this.panel.setAttribute("aria-labelledby", `tab-${view}`);
    shown.update(isNew ? new Set(["view"]) : changed);
    this.timelines?.update(shown.answer, changed);
  }
}

/**
 * @param {string} selector
 */
function press(selector) {
  const button = /** @type {HTMLElement | null} */ (document.querySelector(selector));
  button?.click();
}

/** @param {DiffPayload} payload */
function firstView({ views }) {
  if ((views.layers?.end.length ?? 0) >= FEWEST_LAYERS) return "layers";
  return views.scope ? "scope" : (Object.keys(views)[0] ?? "scope");
}

async function boot() {
  const data = document.getElementById("data");
  if (data) new DiffPage(unpack(await decoded(data.textContent ?? "")));
}

void boot();

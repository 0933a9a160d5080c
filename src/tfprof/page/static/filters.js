// The filter bar: a field for each option of a view, and chips for those that are set.

import { fill, h, sentence } from "./dom.js";
import { createField, shownText } from "./filter_field.js";
import { shownKernels } from "./kernel_rows.js";
import { defaultOrder, kindOf, questionOf, showsKernels } from "./question.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").Changed} Changed */
/** @typedef {import("./types.d.ts").Option} Option */
/** @typedef {import("./types.d.ts").Rows} Rows */
/** @typedef {import("./filter_field.js").Field} Field */

/** The options that are always visible, with the threshold of the chosen metric after these. */
const FIRST = ["start_name_regexes", "show_name_regexes", "hide_name_regexes"];
const LAST = ["max_depth", "order_by"];

/** The options that choose kernels. */
const OF_KERNELS = ["show_name_regexes", "hide_name_regexes"];

/**
 * @param {Context} context
 * @returns {import("./types.d.ts").Component}
 */
export function mountFilters(context) {
  return new Filters(context);
}

class Filters {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    const { payload, provider } = context;
    const options = payload.options.filter(({ name }) => provider.supports(name));
    this.options = new Map(options.map((option) => [option.name, option]));
    /** @type {Map<string, Field>} */
    this.fields = new Map(options.map((option) => [option.name, this.field(option)]));
    this.asked = 0;
    this.arrangedFor = "";
    this.row = h("div", { class: "filters-row" });
    this.others = h("div", { class: "filters-others" });
    this.more = this.moreOptions();
    this.chips = h("div", { class: "filters-chips" });
    this.notes = h("div", { class: "filters-notes", role: "status" });
    this.toggle = h(
      "button",
      { class: "quiet-button filters-toggle", type: "button", onclick: () => this.fold() },
      "Filters",
    );
    this.element = h(
      "section",
      { class: "filters", "aria-label": "Filters" },
      this.toggle,
      h("div", { class: "filters-fields", id: "filter-fields" }, this.row, this.more),
      this.chips,
      this.notes,
    );
    this.toggle.setAttribute("aria-controls", "filter-fields");
    this.fold(true);
  }

  /**
   * Show or hide the fields where the page is narrow.
   * @param {boolean} [isFolded]
   */
  fold(isFolded = !this.element.classList.contains("filters-folded")) {
    this.element.classList.toggle("filters-folded", isFolded);
    this.toggle.setAttribute("aria-expanded", String(!isFolded));
  }

  moreOptions() {
    const { payload, provider } = this.context;
    const unsupported = payload.options.filter(({ name }) => !provider.supports(name));
    const more = h(
      "details",
      { class: "filters-more" },
      h("summary", { class: "quiet-button" }, "More options"),
      h(
        "div",
        { class: "filters-panel" },
        this.others,
        unsupported.length > 0 && unsupportedNote(unsupported, payload.words),
      ),
    );
    more.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !more.hasAttribute("open")) return;
      more.removeAttribute("open");
      more.querySelector("summary")?.focus();
      event.stopPropagation();
    });
    return more;
  }

  /** @param {Option} option */
  field(option) {
    return createField(option, (value) => this.set(option.name, value));
  }

  /**
   * @param {string} name
   * @param {string | undefined} value
   */
  set(name, value) {
    const { store } = this.context;
    const others = Object.entries(store.state.options).filter(([other]) => other !== name);
    const given = value === undefined ? others : [...others, [name, value]];
    store.set({ options: Object.fromEntries(given) });
  }

  /** @param {Changed} changed */
  update(changed) {
    const { payload, store } = this.context;
    const isOfKernels = showsKernels(payload, store.state);
    this.element.hidden = !isOfKernels && kindOf(payload, store.state) === null;
    if (this.element.hidden) return;
    this.arrange(isOfKernels);
    if (changed.has("metric") || changed.has("options") || changed.has("view")) {
      this.show("", "");
      void this.answer();
    }
  }

  /**
   * Put the fields into place: the threshold of the chosen metric is visible.
   * @param {boolean} isOfKernels
   */
  arrange(isOfKernels) {
    const { metric } = this.context.store.state;
    const arranged = isOfKernels ? "kernels" : `rows ${metric}`;
    if (arranged === this.arrangedFor) return;
    this.arrangedFor = arranged;
    const first = isOfKernels ? OF_KERNELS : [...FIRST, `min_${metric}`, ...LAST];
    const visible = first.filter((name) => this.fields.has(name));
    const others = [...this.fields.keys()].filter((name) => !visible.includes(name));
    fill(this.row, visible.map((name) => this.elementOf(name)));
    fill(this.others, others.map((name) => this.elementOf(name)));
    this.more.hidden = isOfKernels;
  }

  /**
   * Whether an option applies to what is shown.
   * @param {string} name
   */
  applies(name) {
    const { payload, store } = this.context;
    return !showsKernels(payload, store.state) || OF_KERNELS.includes(name);
  }

  /** @param {string} name */
  elementOf(name) {
    return this.fields.get(name)?.element;
  }

  /**
   * Show the values of all options, and what is wrong with one of them.
   * @param {string} wrong the option, if any
   * @param {string} message
   */
  show(wrong, message) {
    const { options } = this.context.store.state;
    for (const [name, field] of this.fields) {
      const choices = this.choices(name);
      field.show(options[name], name === wrong ? message : "", choices);
    }
    const set = Object.entries(options).filter(([name]) => this.applies(name));
    fill(
      this.chips,
      set.map(([name, value]) => this.chip(name, value, name === wrong)),
      set.length > 0 && this.reset(),
    );
    fill(this.toggle, set.length > 0 ? `Filters (${set.length})` : "Filters");
  }

  /**
   * What a menu offers, undefined for other fields.
   * @param {string} name
   * @returns {[string, string][] | undefined}
   */
  choices(name) {
    const { payload, provider, store } = this.context;
    const kind = kindOf(payload, store.state);
    const option = this.options.get(name);
    if (option?.kind === "switch") return [["", `${option.value} (default)`], pair("true")];
    if (option?.kind !== "key" || kind === null) return undefined;
    const isGathered = payload.views[kind].gathered;
    const keys = provider.supports("step")
      ? payload.order_keys
      : ["name", ...payload.metrics.map(({ key }) => key), ...(isGathered ? ["occurrence"] : [])];
    const chosen = store.state.options[name];
    const others = chosen === undefined || keys.includes(chosen) ? [] : [chosen];
    const unset = defaultOrder(payload, kind, store.state) || "model order";
    return [["", `${unset} (default)`], ...[...keys, ...others].map(pair)];
  }

  /**
   * @param {string} name
   * @param {string} value
   * @param {boolean} isWrong
   */
  chip(name, value, isWrong) {
    const option = this.options.get(name);
    const text = option ? shownText(option, value) : value;
    return h(
      "button",
      {
        class: isWrong ? "chip chip-wrong" : "chip",
        type: "button",
        title: `Remove ${name}`,
        "aria-label": `Remove ${name} ${text}`,
        onclick: () => this.set(name, undefined),
      },
      h("span", { class: "chip-name" }, name),
      h("bdi", { class: "chip-value" }, text || "(none)"),
      h("span", { "aria-hidden": "true" }, "×"),
    );
  }

  reset() {
    const { store } = this.context;
    const onclick = () => {
      const others = Object.entries(store.state.options).filter(([name]) => !this.applies(name));
      store.set({ options: Object.fromEntries(others) });
    };
    return h("button", { class: "link", type: "button", onclick }, "Reset");
  }

  async answer() {
    const { store } = this.context;
    const number = (this.asked += 1);
    const { options } = store.state;
    const { problem, cuts } = await this.answered();
    if (number !== this.asked) return;
    if (problem) this.show(problem.option, problem.message);
    const isElsewhere = problem && !this.fields.has(problem.option);
    fill(
      this.notes,
      isElsewhere && h("p", { class: "filters-problem" }, problem.message),
      Object.keys(options).length > 0 && !problem
      && cuts?.map((note) => h("p", null, sentence(note))),
    );
  }

  /**
   * The rows that are shown.
   * @returns {Promise<Pick<Rows, "problem" | "cuts">>}
   */
  async answered() {
    const { payload, provider, store } = this.context;
    const kind = kindOf(payload, store.state);
    if (kind) return provider.ask(kind, questionOf(payload, kind, store.state));
    return payload.kernels ? shownKernels(payload, payload.kernels, store.state) : {};
  }
}

/**
 * @param {string} text
 * @returns {[string, string]}
 */
function pair(text) {
  return [text, text];
}

/**
 * @param {Option[]} options
 * @param {string} words
 */
function unsupportedNote(options, words) {
  return h(
    "p",
    { class: "filters-unsupported" },
    options.map(({ name, help }, place) => [
      place > 0 && ", ",
      h("span", { title: help }, name),
    ]).flat(),
    " need ",
    h("code", null, `tfprof ui ${words}`.trim()),
    ", which counts ops again.",
  );
}

// The view of memory: the curve of an allocator in a step, and what held memory at a chosen time.

import { amount, fill, h, nameOf } from "./dom.js";
import { commandLine, nameLink } from "./links.js";
import { bandsOver, groupsByLabel, groupsByScope } from "./memory_bands.js";
import { choiceOf, groupings, groupingTitle, highestStep, textOf } from "./memory_choice.js";
import { bandColour, Curve, pointAt } from "./memory_curve.js";
import { heldAt } from "./memory_held.js";
import { heldInGroups, heldTable } from "./memory_tables.js";
import { formatted, percent } from "./units.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").Numbers} Numbers */
/** @typedef {import("./types.d.ts").MemoryData} MemoryData */
/** @typedef {import("./types.d.ts").MemoryStep} MemoryStep */
/** @typedef {import("./types.d.ts").MemoryAllocator} MemoryAllocator */
/** @typedef {import("./types.d.ts").MemoryPoints} MemoryPoints */
/** @typedef {import("./memory_choice.js").Choice} Choice */

// The allocator's own count is drawn unless it is so large that the curve would look flat.
const LARGE_COUNT = 3;
const OWN_COUNT = "Allocator’s own count";

/**
 * @param {Context} context
 * @returns {import("./types.d.ts").Component}
 */
export function mountMemory(context) {
  const view = new MemoryView(context, /** @type {MemoryData} */ (context.payload.memory));
  const dispose = () => view.curve.dispose();
  return { element: view.element, update: () => view.update(), dispose };
}

class MemoryView {
  /**
   * @param {Context} context
   * @param {MemoryData} memory
   */
  constructor(context, memory) {
    this.context = context;
    this.memory = memory;
    this.choice = choiceOf(memory, context.store.state.memory);
    this.isWhole = false; // whether the tables have all rows
    /** @type {{ name: string, values: Float64Array }[]} */
    this.bands = [];
    /** The times at which the picture changes. */
    this.times = new Float64Array();
    /** @type {(number | null)[] | null} */
    this.levels = null;
    /** What the curve shows now. */
    this.drawn = "";
    this.curve = new Curve((time) => this.choose({ time }));
    this.menus = this.createMenus();
    this.facts = h("dl", { class: "memory-facts" });
    this.legend = h("ul", { class: "memory-legend", "aria-label": "Bands of the curve" });
    this.title = h("h2", { "aria-live": "polite" });
    this.back = quietButton(() => this.choose({ time: this.choice.step.peak_ns }));
    this.rows = quietButton(() => {
      this.isWhole = !this.isWhole;
      this.showHolders();
    });
    this.command = h("div", null);
    this.tables = h("div", { class: "memory-tables" });
    this.element = h(
      "div",
      { class: "memory" },
      h("div", { class: "memory-controls" }, this.menus.map(({ element }) => element)),
      [this.facts, this.curve.element, this.legend],
      h("div", { class: "memory-moment" }, this.title, this.back, this.rows, this.command),
      this.tables,
      memory.notes.map((note) => h("p", { class: "remark" }, note)),
    );
  }

  /**
   * Show something else; the rest follows from the state.
   * @param {Partial<Choice>} part
   */
  choose(part) {
    this.context.store.set({ memory: textOf(this.memory, { ...this.choice, ...part }) });
  }

  update() {
    this.choice = choiceOf(this.memory, this.context.store.state.memory);
    const { allocator, step, by } = this.choice;
    const wanted = [this.memory.allocators.indexOf(allocator), step.step, by].join();
    if (wanted !== this.drawn) {
      for (const { show } of this.menus) show();
      fill(this.facts, facts(this.context, allocator, step));
      this.draw();
      this.drawn = wanted;
    }
    this.curve.resize();
    this.showHolders();
  }

  draw() {
    const { curve, levels, peak_ns: peak, peak_bytes: most } = this.choice.step;
    const drawn = levels && highest(levels) <= LARGE_COUNT * most ? levels : null;
    this.times = joinedTimes([0], curve.time, drawn ? drawn.time : []);
    this.bands = bandsOf(this.memory, this.choice, this.times);
    this.levels = drawn && knownAt(drawn, this.times);
    this.curve.show({
      times: this.times,
      total: valuesAt(curve, this.times),
      bands: this.bands.map(({ values }) => values),
      levels: this.levels,
      peak,
    });
  }

  /** Show what held memory at the chosen time. */
  showHolders() {
    const { step, time } = this.choice;
    const bytes = levelAt(step.curve, time);
    const isPeak = time === step.peak_ns;
    this.curve.mark(time, `${formatted(bytes, "bytes")} at ${formatted(time, "nanos")}`);
    const when = `Held ${isPeak ? "at the peak, " : ""}at ${formatted(time, "nanos")}: `;
    fill(this.title, when, amount(formatted(bytes, "bytes"), bytes));
    fill(this.legend, this.legendItems());
    this.back.hidden = isPeak;
    fill(this.back, "Back to the peak");
    this.rows.hidden = step.changes === null;
    fill(this.rows, this.isWhole ? "Show the largest rows" : "Show all rows");
    const isOffered = isPeak && this.context.payload.words !== "";
    fill(this.command, isOffered && commandLine(this.commandText()));
    const most = this.isWhole ? -1 : this.memory.most_rows;
    const groups = heldInGroups(this.memory, step, time, most);
    fill(this.tables, groups.map(([by, held]) => heldTable(this.context, by, held, bytes)));
  }

  commandText() {
    const { step } = this.choice.step;
    const words = [
      `tfprof memory ${this.context.payload.words}`,
      // A negative number means the step with the highest peak.
      step >= 0 && `-step ${step}`,
      this.isWhole && "-max_rows -1",
    ];
    return words.filter(Boolean).join(" ");
  }

  legendItems() {
    const point = pointAt(this.times, this.choice.time);
    const items = this.bands.map(({ name, values }, band) => {
      const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = `var(${bandColour(band, this.bands.length)})`;
      return h("li", null, swatch, nameOf(name), bytesOf(point < 0 ? 0 : values[point]));
    });
    const dots = h("span", { class: "swatch memory-dots", "aria-hidden": "true" });
    const level = this.levels && point >= 0 ? this.levels[point] : null;
    return level === null ? items : [...items, h("li", null, dots, OWN_COUNT, bytesOf(level))];
  }

  createMenus() {
    const { allocators } = this.memory;
    const kinds = groupings(this.memory);
    return [
      menu("Allocator", () => allocators, () => this.choice.allocator, allocatorTitle,
        (allocator) => this.chooseStep(allocator, highestStep(allocator))),
      menu("Step", () => this.choice.allocator.steps, () => this.choice.step, stepTitle,
        (step) => this.chooseStep(this.choice.allocator, step)),
      menu("Bands by", () => kinds, () => this.choice.by, groupingTitle,
        (by) => this.choose({ by })),
    ];
  }

  /**
   * @param {MemoryAllocator} allocator
   * @param {MemoryStep} step
   */
  chooseStep(allocator, step) {
    this.choose({ allocator, step, time: step.peak_ns });
  }
}

/**
 * The curve divided into groups of holders; empty if the page does not have the changes.
 * @param {MemoryData} memory
 * @param {Choice} choice
 * @param {Float64Array} times
 */
function bandsOf({ holders }, { step: { changes, peak_ns: peak }, by }, times) {
  if (!changes) return [];
  const held = heldAt(changes, holders.row.length, peak);
  const labels = by === "code" && holders.line ? holders.line : holders.kind;
  const groups = by === "scope" ? groupsByScope(holders, held) : groupsByLabel(labels, held);
  const bands = bandsOver(groups, changes, times);
  return bands.map((values, place) => ({ name: groups.names[place] ?? "other", values }));
}

/**
 * What is known about the memory of an allocator in a step.
 * @param {Context} context
 * @param {MemoryAllocator} allocator
 * @param {MemoryStep} step
 */
function facts(context, allocator, step) {
  const { peak_bytes: peak, peak_ns: time, left_bytes: left, levels, curve } = step;
  const [op] = step.reached_by;
  const { length: all } = allocator.step_peaks;
  const { length: shown } = allocator.steps;
  const count = (/** @type {number} */ value) => formatted(value, "count");
  return [
    fact("Peak", bytesOf(peak), ` at ${formatted(time, "nanos")}`),
    op && fact("Reached by", nameLink(context, "scope", op.op), " with ", bytesOf(op.bytes)),
    step.purposes.length > 0 && fact("Held at the peak", ...purposes(step)),
    fact("Left at the end", bytesOf(left)),
    levels && fact(OWN_COUNT, "at most ", bytesOf(highest(levels))),
    all > shown && fact("Steps", `the ${shown} with the highest peaks, of ${count(all)}`),
    curve.points > curve.time.length
    && fact("Curve", `${count(curve.time.length)} of ${count(curve.points)} points and the peak`),
    !step.changes
    && fact("Other times", "too many allocations for this page; the tables show the peak"),
  ];
}

/** @param {MemoryStep} step */
function purposes({ purposes: found, peak_bytes: peak }) {
  return found.flatMap(({ name, bytes }, place) => [
    place > 0 && " · ",
    `${name} `,
    bytesOf(bytes),
    h("span", { class: "quiet" }, ` ${percent(bytes, peak)}`),
  ]);
}

/**
 * @param {string} term
 * @param {...import("./dom.js").Child} description
 */
function fact(term, ...description) {
  return h("div", null, h("dt", null, term), h("dd", null, description));
}

/** @param {number} bytes */
function bytesOf(bytes) {
  return amount(formatted(bytes, "bytes"), bytes);
}

/** @param {() => void} onclick */
function quietButton(onclick) {
  return h("button", { class: "quiet-button", type: "button", onclick });
}

/**
 * A labelled menu; `show` fills it again.
 * @template Item
 * @param {string} label
 * @param {() => Item[]} items
 * @param {() => Item} chosen
 * @param {(item: Item) => string} title
 * @param {(item: Item) => void} onChoose
 */
function menu(label, items, chosen, title, onChoose) {
  const select = /** @type {HTMLSelectElement} */ (h("select", null));
  select.addEventListener("change", () => onChoose(items()[select.selectedIndex]));
  function show() {
    fill(select, items().map((item) => h("option", null, title(item))));
    select.selectedIndex = items().indexOf(chosen());
  }
  return { element: h("label", { class: "field" }, label, select), show };
}

/** @param {MemoryAllocator} allocator */
function allocatorTitle({ title, recording }) {
  return recording ? `${title} (${recording})` : title;
}

/** @param {MemoryStep} step */
function stepTitle({ step, peak_bytes: peak }) {
  return `${step}, peak ${formatted(peak, "bytes")}`;
}

/** @param {MemoryPoints} points */
function highest({ bytes }) {
  return Float64Array.from(bytes).reduce((most, one) => Math.max(most, one));
}

/**
 * All times of some columns, ascending.
 * @param {...Iterable<number>} columns
 */
function joinedTimes(...columns) {
  return Float64Array.from(new Set(columns.flatMap((column) => [...column]))).sort();
}

/**
 * The values of a curve at some times; 0 before its first point.
 * @param {MemoryPoints} curve
 * @param {Numbers} times
 */
function valuesAt(curve, times) {
  return Float64Array.from(times, (time) => levelAt(curve, time));
}

/**
 * The levels that an allocator reported; unknown before the first one.
 * @param {MemoryPoints} levels
 * @param {Numbers} times
 */
function knownAt(levels, times) {
  return Array.from(times, (time) => (time < levels.time[0] ? null : levelAt(levels, time)));
}

/**
 * @param {MemoryPoints} curve
 * @param {number} time
 */
function levelAt({ time: times, bytes }, time) {
  const point = pointAt(times, time);
  return point < 0 ? 0 : bytes[point];
}

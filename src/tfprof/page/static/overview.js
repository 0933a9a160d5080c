// The first screen: the model in numbers, where a step's time goes, what costs most, findings.

import { sentenceParts } from "./advice.js";
import { amount, fill, h, nameOf } from "./dom.js";
import { largest, largestOwn } from "./largest.js";
import { PHASE_COLOURS } from "./phases.js";
import { shortNames } from "./row_names.js";
import { exact, formatted, percent } from "./units.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").Store} Store */
/** @typedef {import("./types.d.ts").ViewKind} ViewKind */

const MOST_FINDINGS = 4;

/**
 * The lists of what costs most: the view that has all rows, a heading, and whether a row counts
 * with those below it. A line counts without the lines that it calls.
 */
const LISTS = /** @type {{ kind: ViewKind, title: string, isWhole: boolean }[]} */ ([
  { kind: "layers", title: "By layer", isWhole: true },
  { kind: "op", title: "By kind of op", isWhole: false },
  { kind: "code", title: "By line of code", isWhole: false },
]);

/**
 * @param {Context} context
 * @returns {import("./types.d.ts").Component}
 */
export function mountOverview({ payload, store, provider }) {
  const lists = h("div", { class: "overview-lists" });
  const heading = h("h2", null);
  const element = h(
    "div",
    { class: "overview" },
    h("section", { class: "cards", "aria-label": "The model in numbers" }, payload.cards.map(card)),
    payload.bar && bar(payload.bar),
    h("section", { class: "overview-section" }, heading, lists),
    findings(payload, store),
    notes(payload.notes),
  );

  async function update() {
    const metric = payload.metrics.find(({ key }) => key === store.state.metric);
    if (!metric) return;
    const kinds = LISTS.filter(({ kind }) => kind in payload.views && !payload.missing[kind]);
    const answers = await Promise.all(kinds.map(({ kind }) => provider.ask(kind, {})));
    fill(heading, `Where the ${metric.label} ${metric.label.endsWith("s") ? "go" : "goes"}`);
    fill(
      lists,
      kinds.map((one, place) => list(answers[place], one, metric, store)),
    );
  }

  return {
    element,
    update(changed) {
      if (changed.has("metric") || changed.has("view")) void update();
    },
  };
}

/** @param {import("./types.d.ts").Card} one */
function card({ label, text, detail, value, command }) {
  return h(
    "div",
    { class: "card", title: command || null },
    h("div", { class: "card-label" }, label),
    amount(text, value, { class: "card-number amount", "data-command": command }),
    h("div", { class: "card-detail" }, detail),
  );
}

/** @param {import("./types.d.ts").StepBar} one */
function bar({ title, unit, whole, parts, command }) {
  const pieces = parts.map(({ key, label, value }) => {
    const piece = h("div", {
      class: `bar-part ${key.startsWith("idle") ? "bar-idle" : ""}`,
      title: `${label}: ${exact(value, unit)}, ${percent(value, whole)}`,
    });
    piece.style.flexGrow = String(value / whole);
    piece.style.backgroundColor = `var(${PHASE_COLOURS[key]})`;
    return piece;
  });
  const legend = parts.map(({ key, label, value }) => {
    const swatch = h("span", { class: "swatch" });
    swatch.style.backgroundColor = `var(${PHASE_COLOURS[key]})`;
    return h(
      "li",
      null,
      swatch,
      label,
      " ",
      amount(formatted(value, unit), value, { "data-part": key }),
      h("span", { class: "quiet" }, ` ${percent(value, whole)}`),
    );
  });
  return h(
    "section",
    { class: "overview-section", "data-command": command },
    h("h2", null, title, h("span", { class: "quiet" }, ` ${formatted(whole, unit)}`)),
    h("div", { class: "bar", role: "img", "aria-label": title }, pieces),
    h("ul", { class: "legend" }, legend),
  );
}

/**
 * @param {import("./types.d.ts").Rows} rows
 * @param {typeof LISTS[number]} list
 * @param {import("./types.d.ts").Metric} metric
 * @param {Store} store
 */
function list(rows, { kind, title, isWhole }, metric, store) {
  const values = isWhole ? rows.total(metric.column) : rows.own(metric.column);
  const found = isWhole ? largest(rows, values) : largestOwn(values);
  const most = found.length > 0 ? values[found[0]] : 0;
  const nameAt = (/** @type {number} */ row) => rows.data.name.get(row);
  // Layers are told apart from all others, because their parts have the same names in each block.
  const others = isWhole ? Array.from(rows.data.op, (_, row) => nameAt(row)) : undefined;
  const names = shortNames(found.map(nameAt), others);
  const lines = found.map((row, place) => {
    const length = h("span", { class: "list-bar" });
    length.style.width = `${(100 * values[row]) / most}%`;
    return h(
      "button",
      {
        class: "list-row",
        type: "button",
        title: `${rows.data.name.get(row)}\n${exact(values[row], metric.unit)} of `
          + exact(metric.total, metric.unit),
        onclick: () => store.set({ view: kind, row, op: rows.data.op[row] }),
      },
      length,
      nameOf(names[place]),
      amount(formatted(values[row], metric.unit), values[row], {
        "data-row": rows.data.name.get(row),
      }),
      h("span", { class: "quiet list-share" }, percent(values[row], metric.total)),
    );
  });
  const shown = found.length > 0 ? lines : h("p", { class: "quiet" }, "Nothing to show.");
  return h("div", { class: "list" }, h("h3", null, title), shown);
}

/**
 * @param {Payload} payload
 * @param {Store} store
 */
function findings({ advice }, store) {
  const first = advice.findings.slice(0, MOST_FINDINGS);
  if (first.length === 0) return null;
  const others = advice.findings.length - first.length;
  return h(
    "section",
    { class: "overview-section" },
    h("h2", null, "Findings"),
    h(
      "ul",
      { class: "findings" },
      first.map(({ sentence, gain }) => h(
        "li",
        null,
        h("bdi", null, sentenceParts(sentence)),
        gain && h("span", { class: "gain" }, gain.text),
      )),
    ),
    h(
      "button",
      { class: "quiet-button", type: "button", onclick: () => store.set({ view: "advice" }) },
      others > 0 ? `Show the evidence, and ${others} more` : "Show the evidence",
    ),
  );
}

/** @param {string[]} texts */
function notes(texts) {
  if (texts.length === 0) return null;
  return h(
    "section",
    { class: "overview-section notes" },
    h("h2", null, "What these numbers do not cover"),
    h("ul", null, texts.map((text) => h("li", null, h("bdi", null, text)))),
  );
}

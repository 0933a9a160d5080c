// The selected run or range of a timeline in numbers.

import { h } from "./dom.js";
import { shortDevice } from "./timeline_layout.js";
import { deviceName, heading, nameButton, number, pairs, time } from "./timeline_panel.js";
import { formatted, percent } from "./units.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./timeline_flows.js").Flows} Flows */
/** @typedef {import("./timeline_measure.js").Measured} Measured */
/** @typedef {import("./timeline_panel.js").Actions} Actions */
/** @typedef {import("./timeline_runs.js").Runs} Runs */

const MOST_LISTED = 10; // runs at the other ends of arrows

/** @type {Record<string, string>} */
const KINDS = {
  waits: "wait for input",
  transfers: "transfer",
  iterators: "iterator of the input pipeline; its time includes waiting",
};

/**
 * @param {Context} context
 * @param {Runs} runs
 * @param {number} run
 * @param {Actions} actions
 * @param {Flows | null} flows if they are wanted
 */
export function runDetails(context, runs, run, actions, flows) {
  const { steps } = runs.data;
  const step = runs.step[run];
  const same = runs.runsOf(runs.op[run]);
  return [
    heading("Run", runs.name(run), actions),
    h("p", { class: "timeline-facts" }, factsOf(context, runs, run).join(" · ")),
    pairs([
      ["duration", time(runs.duration(run), "duration")],
      [
        `start in step ${steps.number[step]}`,
        time(runs.start[run] - steps.start[step], "start"),
      ],
      ["share of the step", h("span", null, percent(runs.duration(run), steps.wall[step]))],
    ]),
    sameOp(runs, run, same, actions),
    runs.op[run] >= 0 && viewLinks(context),
    runs.op[run] >= 0 && arrowSwitch(flows !== null, actions),
    flows && flowList("Inputs from", runs, flows.producers, actions),
    flows && flowList("Used by", runs, flows.consumers, actions),
  ];
}

/**
 * @param {Context} context
 * @param {Runs} runs
 * @param {number} run
 */
function factsOf({ payload: { ops } }, runs, run) {
  const track = runs.trackOf(run);
  const group = runs.data.groups[track.group];
  const device = group ? shortDevice(group.name) : "";
  const recording = runs.data.recordings.length > 1 ? runs.data.recordings[track.recording] : "";
  const op = runs.op[run];
  const kind = op < 0 ? "" : ops.kind.values.get(ops.kind.codes[op]);
  const shape = op < 0 ? "" : ops.shape.values.get(ops.shape.codes[op]);
  const phase = op < 0 ? "" : ops.phase.values.get(ops.phase.codes[op]);
  const place = track.title === "ops" ? device : `${device} ${track.title}`.trim();
  return [kind, KINDS[track.kind], phase, shape, place, recording].filter(Boolean);
}

/**
 * The runs of the same op: their number and times, and buttons to the ones before and after.
 * @param {Runs} runs
 * @param {number} run
 * @param {number[]} same
 * @param {Actions} actions
 */
function sameOp(runs, run, same, actions) {
  const place = same.indexOf(run);
  const times = Float64Array.from(same, (one) => runs.duration(one)).sort();
  const total = times.reduce((sum, one) => sum + one, 0);
  /**
   * @param {string} text
   * @param {number} other
   * @param {string} key
   */
  const button = (text, other, key) => h(
    "button",
    {
      class: "quiet-button",
      type: "button",
      disabled: other < 0 || other >= same.length,
      title: `Shortcut: ${key}`,
      onclick: () => actions.select(same[other]),
    },
    text,
  );
  const scope = runs.data.left_out ? "All runs in this page" : "All runs of this op";
  return [
    h("h3", null, runs.op[run] >= 0 ? scope : "All with this name"),
    pairs([
      ["runs", number(same.length, "runs")],
      ["total", time(total, "total")],
      ["shortest", time(times[0], "min")],
      ["median", time(times[(times.length - 1) >> 1], "median")],
      ["longest", time(times[times.length - 1], "max")],
    ]),
    h(
      "div",
      { class: "timeline-buttons" },
      button("‹ Previous run", place - 1, ","),
      button("Next run ›", place + 1, "."),
      h("span", { class: "quiet" }, `${place + 1} of ${same.length.toLocaleString("en-US")}`),
    ),
  ];
}

/** @param {Context} context */
function viewLinks({ payload, store }) {
  const links = ["layers", "scope", "graph", "code"].filter((view) => !payload.missing[view]);
  return h(
    "div",
    { class: "timeline-buttons" },
    h("span", { class: "quiet" }, "Show in"),
    links.map((view) =>
      h(
        "button",
        { class: "quiet-button", type: "button", onclick: () => store.set({ view }) },
        view,
      ),
    ),
  );
}

/**
 * @param {boolean} isOn
 * @param {Actions} actions
 */
function arrowSwitch(isOn, actions) {
  const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", checked: isOn }));
  box.addEventListener("change", () => actions.setArrows(box.checked));
  return h("label", { class: "timeline-switch" }, box, "Arrows from inputs and to consumers (e)");
}

/**
 * The runs at the other ends of arrows.
 * @param {string} title
 * @param {Runs} runs
 * @param {number[]} found
 * @param {Actions} actions
 */
function flowList(title, runs, found, actions) {
  const rows = found.slice(0, MOST_LISTED).map((run) => {
    const name = runs.name(run);
    return h("tr", null, h("td", null, nameButton(name, () => actions.select(run))));
  });
  const others = found.length - rows.length;
  return h(
    "div",
    null,
    h("h3", null, title),
    found.length === 0 && h("p", { class: "quiet" }, "No recorded run in this step."),
    h("table", { class: "timeline-top" }, h("tbody", null, rows)),
    others > 0 && h("p", { class: "quiet" }, `and ${others.toLocaleString("en-US")} more`),
  );
}

/**
 * @param {Runs} runs
 * @param {Measured} found
 * @param {Actions} actions
 */
export function rangeDetails(runs, found, actions) {
  const length = found.to - found.from;
  const { groups } = runs.data;
  return [
    heading("Range", formatted(length, "nanos"), actions),
    !runs.isWholeWithin(found.from, found.to)
    && h("p", { class: "timeline-unusual" }, "Some runs of this range are not in this page."),
    pairs([
      ["duration", time(length, "range")],
      ["runs of ops", number(found.runs, "runs")],
      found.transfers > 0 ? ["transfers", number(found.transfers, "transfers")] : null,
    ]),
    h("h3", null, "Busy devices"),
    pairs(groups.map(({ name }, group) => {
      const busy = found.busy[group];
      return [deviceName(name), time(busy, `device ${group}`), percent(busy, length)];
    })),
    h("h3", null, "Ops with the most time"),
    topOps(runs, found, actions),
  ];
}

/**
 * @param {Runs} runs
 * @param {Measured} found
 * @param {Actions} actions
 */
function topOps(runs, found, actions) {
  const rows = found.ops.map(({ op, nanos, runs: count }) => {
    const name = nameButton(runs.ops.name.get(op), () => actions.select(nearest(runs, op, found)));
    return h(
      "tr",
      null,
      h("td", null, name),
      h("td", { class: "quiet" }, `${count.toLocaleString("en-US")}×`),
      h("td", null, time(nanos, `op ${op}`)),
    );
  });
  return h("table", { class: "timeline-top" }, h("tbody", null, rows));
}

/**
 * The first run of an op in a range.
 * @param {Runs} runs
 * @param {number} op
 * @param {{ from: number, to: number }} range
 */
function nearest(runs, op, { from, to }) {
  const all = runs.runsOf(op);
  return all.find((run) => runs.end[run] > from && runs.start[run] < to) ?? all[0];
}

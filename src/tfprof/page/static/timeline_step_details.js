// A step of a timeline in numbers.

import { h } from "./dom.js";
import { commandLine } from "./links.js";
import { PHASE_COLOURS } from "./phases.js";
import { deviceName, heading, number, pairs, PART_LABELS, time } from "./timeline_panel.js";
import { percent } from "./units.js";

/** @typedef {import("./types.d.ts").Context} Context */
/** @typedef {import("./timeline_panel.js").Actions} Actions */
/** @typedef {import("./timeline_runs.js").Runs} Runs */

/**
 * @param {Context} context
 * @param {Runs} runs
 * @param {number} step
 * @param {Actions} actions
 */
export function stepDetails({ payload }, runs, step, actions) {
  const { steps, groups, recordings } = runs.data;
  const which = steps.number[step];
  const wall = steps.wall[step];
  const causes = steps.unusual.find((one) => one.step === step)?.causes;
  const recording = recordings.length > 1 ? recordings[steps.recording[step]] : "";
  const option = recording ? ` -recording ${quoted(escaped(recording))}` : "";
  /** @param {"busy" | "idle" | "input_wait"} key */
  const part = (key) => [time(steps[key][step], key), percent(steps[key][step], wall)];
  return [
    heading("Step", `step ${which}${recording ? ` of ${recording}` : ""}`, actions),
    causes && h(
      "div",
      { class: "timeline-unusual" },
      h("strong", null, "Unusual: "),
      causes.length > 0 ? h("bdi", null, causes.join("; ")) : "it differs from the median.",
    ),
    pairs([
      ["wall", time(wall, "wall")],
      ["busy", ...part("busy")],
      ["idle", ...part("idle")],
      ["input wait", ...part("input_wait")],
      ["runs of ops", number(steps.ops[step], "ops")],
      ["op time", time(steps.op_time[step], "op_time")],
    ]),
    wall > 0 && h("h3", null, "Parts of the wall time"),
    partList(steps.phases, step, wall),
    h("h3", null, "Busy devices"),
    pairs(groups.flatMap((group, place) => {
      const busy = steps.devices[place][step];
      if (busy < 0) return [];
      return [[deviceName(group.name), time(busy, `device ${place}`), percent(busy, wall)]];
    })),
    payload.words && which >= 0
    && commandLine(`tfprof steps ${payload.words} -step ${which}${option}`),
  ];
}

/**
 * @param {Record<string, import("./types.d.ts").Numbers>} phases
 * @param {number} step
 * @param {number} wall
 */
function partList(phases, step, wall) {
  const parts = Object.entries(phases).filter(([, values]) => values[step] > 0);
  return pairs(parts.map(([key, values]) => {
    const swatch = h("span", { class: "swatch" });
    swatch.style.backgroundColor = `var(${PHASE_COLOURS[key]})`;
    const label = h("span", null, swatch, PART_LABELS[key]);
    return [label, time(values[step], `part ${key}`), percent(values[step], wall)];
  }));
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/[^\w\u0080-\uffff]/g, "\\$&");
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replace(/'/g, "'\"'\"'")}'`;
}

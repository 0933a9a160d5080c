// What a timeline does not show.

import { h } from "./dom.js";
import { percent } from "./units.js";

/** @typedef {import("./types.d.ts").TimelineData} TimelineData */

/** @param {TimelineData} data */
export function timelineNotes({ left_out: found, notes }) {
  return [
    found && h("p", { class: "timeline-note", "data-left-out": found.runs }, leftOut(found)),
    ...notes.map((note) => h("p", { class: "timeline-note" }, h("bdi", null, note))),
  ];
}

/** @param {NonNullable<TimelineData["left_out"]>} found */
function leftOut(found) {
  const [runs, all, steps] = [found.runs, found.all_runs, found.steps].map(
    (count) => count.toLocaleString("en-US"),
  );
  const share = percent(found.nanos, found.all_nanos);
  const where = found.steps === 1 ? "1 step" : `${steps} steps`;
  return `${runs} of ${all} runs, in ${where}, are not in this page. They account for ${share} of `
    + "the time of all runs. Their steps are grey; the numbers of steps include all runs.";
}

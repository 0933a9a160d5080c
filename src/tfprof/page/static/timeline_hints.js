// What a timeline shows, its keys, and how to open it in Perfetto.

import { h } from "./dom.js";
import { commandLine } from "./links.js";

/** @typedef {import("./types.d.ts").Context} Context */

/**
 * What the picture shows, its keys, and the command that writes the same for Perfetto.
 * @param {Context} context
 * @param {boolean} isOpen
 */
export function hints({ payload }, isOpen) {
  const keys = [
    ["w s", "zoom in and out; also ctrl + wheel"],
    ["a d", "move left and right; also drag, or shift + wheel"],
    ["click", "select a run; shift + drag measures a range"],
    ["← → ↑ ↓", "previous or next run, lane above or below"],
    [", .", "previous or next run of the same op"],
    ["[ ]", "previous or next step"],
    ["f", "fit the selection"],
    ["0", "fit everything"],
    ["m", "measure what is visible"],
    ["e", "arrows between runs"],
  ];
  return h(
    "details",
    { class: "timeline-hints", open: isOpen },
    h("summary", null, "Keys, and opening it in Perfetto"),
    h("p", { class: "quiet" }, "Each box is one run of an op. Where runs are too narrow to draw, "
    + "the height of a column is the share of its time in which the lane was busy."),
    h("dl", { class: "timeline-keys" }, keys.flatMap(([key, text]) =>
      [h("dt", null, h("kbd", null, key)), h("dd", null, text)])),
    h("h3", null, "Open in Perfetto"),
    h("p", { class: "quiet" }, "This command writes the same runs as a file for ui.perfetto.dev "
    + "and chrome://tracing:"),
    commandLine(payload.words
      ? `tfprof timeline ${payload.words} -o timeline.json`
      : "profile.write_timeline(\"timeline.json\")"),
  );
}

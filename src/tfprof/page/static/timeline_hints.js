// What a timeline shows, its keys, and how to open it in Perfetto.

import { h } from "./dom.js";
import { labelOf, TIMELINE } from "./keys.js";
import { commandLine } from "./links.js";

/** @typedef {import("./types.d.ts").Context} Context */

/**
 * What the picture shows, its keys, and the command that writes the same for Perfetto.
 * @param {Context} context
 * @param {boolean} isOpen
 */
export function hints({ payload }, isOpen) {
  return h(
    "details",
    { class: "timeline-hints", open: isOpen },
    h("summary", null, "Keys and Perfetto"),
    h("p", { class: "quiet" }, "Each box is one run of an op. Where runs are too narrow to draw, "
    + "the height of a column is the share of its time in which the lane was busy. Click a run to "
    + "select it; drag with Shift to measure a range."),
    h("dl", { class: "timeline-keys" }, TIMELINE.flatMap((key) =>
      [h("dt", null, h("kbd", null, labelOf(key))), h("dd", null, key.meaning)])),
    h("h3", null, "Open in Perfetto"),
    h("p", { class: "quiet" }, "This command writes the same runs to a file for ui.perfetto.dev "
    + "and chrome://tracing:"),
    commandLine(payload.words
      ? `tfprof timeline ${payload.words} -o timeline.json`
      : "profile.write_timeline(\"timeline.json\")"),
  );
}

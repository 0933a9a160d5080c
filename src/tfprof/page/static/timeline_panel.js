// Building blocks of the panel beside a timeline.

import { amount, h, nameOf } from "./dom.js";
import { shortDevice } from "./timeline_layout.js";
import { exact, formatted } from "./units.js";

/** @typedef {import("./dom.js").Child} Child */

/**
 * What the buttons of the panel do.
 * @typedef {{
 *   select: (run: number) => void, fit: () => void, clear: () => void,
 *   setArrows: (isOn: boolean) => void,
 * }} Actions
 */

/** @type {Record<string, string>} */
export const PART_LABELS = {
  forward: "forward",
  backward: "backward",
  optimizer: "optimizer",
  input: "input pipeline",
  other: "other ops",
  communication: "communication",
  transfers: "transfers",
  idle_input_wait: "waiting for input",
  idle_other: "idle",
};

/**
 * @param {string} kind
 * @param {string} name
 * @param {Actions} actions
 */
export function heading(kind, name, actions) {
  const button = { class: "quiet-button", type: "button" };
  const close = { ...button, title: "Shortcut: Escape", "aria-label": "Clear the selection" };
  return h(
    "div",
    { class: "timeline-heading" },
    h("span", { class: "quiet" }, kind),
    h("button", { ...button, title: "Shortcut: f", onclick: actions.fit }, "Fit"),
    h("button", { ...close, onclick: actions.clear }, "✕"),
    h("h2", null, nameOf(name)),
  );
}

/** @param {string} name */
export function deviceName(name) {
  return nameOf(shortDevice(name), { title: name });
}

/**
 * A time with its exact value.
 * @param {number} nanos
 * @param {string} field
 */
export function time(nanos, field) {
  return amount(formatted(nanos, "nanos"), nanos, {
    title: exact(nanos, "nanos"),
    "data-field": field,
  });
}

/**
 * @param {number} count
 * @param {string} field
 */
export function number(count, field) {
  return amount(formatted(count, "count"), count, { "data-field": field });
}

/**
 * Labels with values, and optionally shares.
 * @param {(Child[] | null)[]} rows
 */
export function pairs(rows) {
  return h("dl", { class: "timeline-pairs" }, rows.flatMap((row) => {
    if (!row) return [];
    const [label, value, share] = row;
    return [h("dt", null, label), h("dd", null, value), h("dd", { class: "quiet" }, share ?? "")];
  }));
}

/**
 * A name that selects something. Its end is shown if it is too long, because names differ there.
 * @param {string} name
 * @param {() => void} onclick
 */
export function nameButton(name, onclick) {
  return h("button", { class: "link", type: "button", title: name, onclick }, nameOf(name));
}

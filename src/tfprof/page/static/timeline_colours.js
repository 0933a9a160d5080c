// The colours of runs: by phase, kind of op, layer or share of the time.

import { largest } from "./largest.js";
import { PHASE_COLOURS } from "./phases.js";
import { shortNames } from "./row_names.js";
import { shareLevel } from "./shares.js";
import { colour } from "./theme.js";
import { sumsBelow } from "./tree.js";

/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./timeline_runs.js").Runs} Runs */

/**
 * The category of each run, and the label and variable of the colour of each category.
 * @typedef {{ of: Uint8Array, labels: string[], colours: string[] }} Categories
 */

/** The number of colours for the largest values; the last colour is for all others. */
const MOST = 7;
const OTHER = "other";
/** How opaque runs are that do not match a search. */
const FAINT = 0.2;

/** @type {Record<string, string>} */
const PHASE_LABELS = {
  forward: "forward",
  backward: "backward",
  optimizer: "optimizer",
  input: "input pipeline",
  other: "other ops",
  communication: "communication",
  transfers: "transfers",
  idle_input_wait: "waiting for input",
};

/** @type {{ key: string, label: string, of: (payload: Payload, runs: Runs) => Categories }[]} */
export const COLOURINGS = [
  { key: "phase", label: "phase", of: byPhase },
  { key: "kind", label: "kind of op", of: byKind },
  { key: "layer", label: "layer", of: byLayer },
  { key: "share", label: "share of time", of: byShare },
];

/**
 * @param {Payload} payload
 * @param {Runs} runs
 * @returns {Categories}
 */
function byPhase({ ops }, runs) {
  const keys = Object.keys(PHASE_LABELS);
  const { codes, values } = ops.phase;
  const ofCode = Array.from({ length: values.length }, (_, code) => keys.indexOf(values.get(code)));
  /** @type {Record<string, number>} */
  const ofKind = {
    transfers: keys.indexOf("transfers"),
    waits: keys.indexOf("idle_input_wait"),
    iterators: keys.indexOf("input"),
  };
  const of = new Uint8Array(runs.count);
  eachRun(runs, (run, kind) => void (of[run] = ofKind[kind] ?? ofCode[codes[runs.op[run]]]));
  return used(of, keys.map((key) => PHASE_LABELS[key]), keys.map((key) => PHASE_COLOURS[key]));
}

/**
 * @param {Payload} payload
 * @param {Runs} runs
 */
function byKind({ ops }, runs) {
  const { codes, values } = ops.kind;
  const name = (/** @type {number} */ code) => values.get(code) || "unknown";
  return byValue(runs, (op) => codes[op], values.length, name);
}

/**
 * The largest layers; one that contains most of the time is divided into those inside it.
 * @param {Payload} payload
 * @param {Runs} runs
 */
function byLayer({ ops, views }, runs) {
  const { end, name } = views.layers;
  const own = new Float64Array(end.length);
  eachRun(runs, (run, kind) => {
    if (kind === "ops") own[Math.max(ops.layer[runs.op[run]], 0)] += runs.duration(run);
  });
  const rows = largest({ data: views.layers }, sumsBelow(end, own));
  // Layer 0 stands for ops without one, and for layers that are not among the largest.
  const owner = new Int32Array(end.length);
  for (const row of rows) owner.fill(row, row, end[row]);
  const names = shortNames(rows.map((row) => name.get(row)));
  const label = (/** @type {number} */ row) => names[rows.indexOf(row)] ?? OTHER;
  return byValue(runs, (op) => owner[Math.max(ops.layer[op], 0)], end.length, label);
}

/**
 * @param {Payload} payload
 * @param {Runs} runs
 * @returns {Categories}
 */
function byShare({ ops }, runs) {
  const nanos = new Float64Array(ops.count);
  let whole = 0;
  eachRun(runs, (run, kind) => {
    if (kind !== "ops") return;
    nanos[runs.op[run]] += runs.duration(run);
    whole += runs.duration(run);
  });
  const of = new Uint8Array(runs.count);
  eachRun(runs, (run, kind) => {
    of[run] = kind === "ops" ? shareLevel(nanos[runs.op[run]], whole) : 0;
  });
  const labels = ["up to 5 %", "over 5 %", "over 20 %", "over 60 %"];
  return used(of, labels, labels.map((_, place) => `--share-${place}`));
}

/**
 * A colour for each of the values with the most time.
 * @param {Runs} runs
 * @param {(op: number) => number} valueOf
 * @param {number} count
 * @param {(value: number) => string} label
 * @returns {Categories}
 */
function byValue(runs, valueOf, count, label) {
  const nanos = new Float64Array(count);
  eachRun(runs, (run, kind) => {
    if (kind === "ops") nanos[valueOf(runs.op[run])] += runs.duration(run);
  });
  const most = [...nanos.keys()]
    .filter((value) => nanos[value] > 0 && label(value) !== OTHER)
    .sort((one, other) => nanos[other] - nanos[one])
    .slice(0, MOST);
  const place = new Uint8Array(count).fill(MOST);
  most.forEach((value, rank) => void (place[value] = rank));
  const of = new Uint8Array(runs.count);
  eachRun(runs, (run, kind) => {
    of[run] = kind === "ops" ? place[valueOf(runs.op[run])] : MOST;
  });
  const labels = Array.from({ length: MOST }, (_, rank) => label(most[rank] ?? 0));
  const colours = Array.from({ length: MOST + 1 }, (_, rank) => `--c${rank}`);
  return used(of, [...labels, OTHER], colours);
}

/**
 * The categories without those that no run has.
 * @param {Uint8Array} of
 * @param {string[]} labels
 * @param {string[]} colours
 * @returns {Categories}
 */
function used(of, labels, colours) {
  const counts = new Uint32Array(labels.length);
  for (let run = 0; run < of.length; run += 1) counts[of[run]] += 1;
  const kept = [...counts.keys()].filter((place) => counts[place] > 0);
  const places = Uint8Array.from(counts, (_, place) => Math.max(kept.indexOf(place), 0));
  return {
    of: of.map((place) => places[place]),
    labels: kept.map((place) => labels[place]),
    colours: kept.map((place) => colours[place]),
  };
}

/**
 * @param {Runs} runs
 * @param {(run: number, kind: import("./types.d.ts").TimelineKind) => void} visit
 */
function eachRun(runs, visit) {
  runs.laneTrack.forEach((track, lane) => {
    const { kind } = runs.tracks[track];
    for (let run = runs.laneFirst[lane]; run < runs.laneFirst[lane + 1]; run += 1) visit(run, kind);
  });
}

/**
 * A colour of the theme in the forms that a canvas needs: as text, as a pixel, and the colour of
 * text on it.
 * @typedef {{ css: string, pixel: number, text: string }} Ink
 */

/**
 * @param {string} variable
 * @returns {Ink}
 */
export function ink(variable) {
  const [red, green, blue] = (colour(variable).match(/[\d.]+/g) ?? [0, 0, 0]).map(Number);
  const text = luminance(red, green, blue) > 0.18 ? "#000000" : "#ffffff";
  return { ...translucent([red, green, blue], 1), text };
}

/**
 * The colour of runs that do not match a search.
 * @param {string} variable
 * @returns {Ink}
 */
export function faint(variable) {
  const parts = (colour(variable).match(/[\d.]+/g) ?? [0, 0, 0]).map(Number);
  return { ...translucent(parts, FAINT), text: colour("--quiet") };
}

/**
 * @param {number[]} parts
 * @param {number} alpha
 */
function translucent([red, green, blue], alpha) {
  const pixel = ((Math.round(255 * alpha) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  return { css: `rgba(${red}, ${green}, ${blue}, ${alpha})`, pixel };
}

/**
 * The relative luminance of a colour, as WCAG defines it. From 0.18 on, black has more contrast.
 * @param {number} red
 * @param {number} green
 * @param {number} blue
 */
function luminance(red, green, blue) {
  const [r, g, b] = [red, green, blue].map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Where the rows of a timeline are: recordings, their steps, and the lanes of devices.

/** @typedef {import("./timeline_runs.js").Runs} Runs */
/** @typedef {import("./types.d.ts").TimelineTrack} TimelineTrack */

/**
 * A row of the picture. `lane` counts over all tracks; only rows of lanes have one.
 * @typedef {{
 *   kind: "recording" | "steps" | "group" | "lane", top: number, height: number,
 *   recording: number, group: number, lane: number, label: string, title: string,
 * }} Row
 */

const HEIGHTS = { recording: 28, steps: 24, group: 26 };
/**
 * The heights of lanes that matter less than ops.
 * @type {Record<string, number>}
 */
const LOW = { waits: 14, iterators: 14 };
const LEAST_LANE = 18;
const MOST_LANE = 44;
/** The height that lanes share if there are few of them. */
const ROOM = 260;
const GAP = 6;

/** @type {Record<string, string>} */
const TITLES = {
  waits: "Waiting for the next element of the input pipeline",
  ops: "Runs of ops; ops that ran at the same time are in different lanes",
  iterators: "Iterators of the input pipeline; their time includes waiting",
  transfers: "Transfers between devices",
};

/**
 * The rows from top to bottom.
 * @param {Runs} runs
 * @param {Set<number>} folded groups whose lanes are hidden
 */
export function layout(runs, folded) {
  const { recordings, groups } = runs.data;
  const shown = runs.tracks.filter(({ group, kind }) => !folded.has(group) && !LOW[kind]);
  const lanes = shown.reduce((sum, track) => sum + track.lanes, 0);
  const height = Math.round(Math.min(Math.max(ROOM / Math.max(lanes, 1), LEAST_LANE), MOST_LANE));
  const stack = new Stack(height);
  recordings.forEach((label, recording) => {
    if (!runs.data.steps.recording.includes(recording)) return;
    if (recordings.length > 1) stack.add({ kind: "recording", recording, label, title: label });
    stack.add({ kind: "steps", recording, label: "steps", title: "Recorded steps" });
    addTracks(stack, runs, -1, recording);
    groups.forEach((group, place) => {
      if (group.recording !== recording) return;
      stack.space(GAP);
      const title = [group.name, ...group.models].join("\n");
      stack.add({ kind: "group", recording, group: place, label: shortDevice(group.name), title });
      if (!folded.has(place)) addTracks(stack, runs, place, recording);
    });
    stack.space(GAP);
  });
  return { rows: stack.rows, height: stack.height };
}

/** Rows below each other. */
class Stack {
  /** @param {number} laneHeight */
  constructor(laneHeight) {
    /** @type {Row[]} */
    this.rows = [];
    this.height = 0;
    this.laneHeight = laneHeight;
  }

  /** @param {Partial<Row> & Pick<Row, "kind">} row */
  add(row) {
    const height = row.height ?? (row.kind === "lane" ? this.laneHeight : HEIGHTS[row.kind]);
    const nothing = { recording: -1, group: -1, lane: -1, label: "", title: "" };
    this.rows.push({ ...nothing, ...row, height, top: this.height });
    this.height += height;
  }

  /** @param {number} height */
  space(height) {
    this.height += height;
  }
}

/**
 * @param {Stack} stack
 * @param {Runs} runs
 * @param {number} group
 * @param {number} recording
 */
function addTracks(stack, runs, group, recording) {
  runs.tracks.forEach((track, place) => {
    if (track.group !== group || track.recording !== recording) return;
    for (let lane = 0; lane < track.lanes; lane += 1) {
      stack.add({
        kind: "lane",
        recording,
        group,
        lane: runs.trackLane[place] + lane,
        label: lane === 0 ? track.title : "",
        title: TITLES[track.kind],
        height: LOW[track.kind],
      });
    }
  });
}

/**
 * The row at a height, or null.
 * @param {Row[]} rows
 * @param {number} y
 */
export function rowAt(rows, y) {
  return rows.find(({ top, height }) => y >= top && y < top + height) ?? null;
}

const DEVICE = /^\/job:([^/]*)\/replica:\d+\/task:(\d+)\/device:(.*)$/;

/**
 * The name of a device without the parts that are usually the same: `ps:1 cpu:0`.
 * @param {string} name
 */
export function shortDevice(name) {
  const parts = DEVICE.exec(name);
  if (!parts) return name.replace(/^\/device:/, "");
  const [, job, task, device] = parts;
  return job === "localhost" ? device : `${job}:${task} ${device}`;
}

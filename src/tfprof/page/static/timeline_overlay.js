// What is drawn over the lanes: the selected run, the run below the pointer, a measured range, and
// arrows between runs.

import { resized } from "./timeline_paint.js";
import { formatted } from "./units.js";

/** @typedef {import("./timeline_paint.js").Scene} Scene */
/** @typedef {import("./timeline_layout.js").Row} Row */
/** @typedef {import("./timeline_flows.js").Flows} Flows */

/**
 * The selected run and the one below the pointer, -1 if none; `pointer` is in pixels.
 * @typedef {{
 *   selected: number, hovered: number, pointer: number | null,
 *   range: { from: number, to: number } | null, flows: Flows | null,
 * }} Marks
 */

const LEAST_BOX = 3; // the width of the frame of a narrow run, in CSS pixels
const MOST_FRAMES = 2000;

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Scene} scene
 * @param {Marks} marks
 */
export function paintOverlay(canvas, scene, marks) {
  const { width, height } = resized(canvas, scene, scene.height);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.clearRect(0, 0, width, height);
  // From here on, sizes are in CSS pixels.
  context.setTransform(scene.ratio, 0, 0, scene.ratio, 0, 0);
  if (marks.pointer !== null) paintPointer(context, scene, marks.pointer);
  if (marks.range) paintRange(context, scene, marks.range);
  if (marks.selected >= 0) paintSelected(context, scene, marks.selected);
  if (marks.hovered >= 0) paintFrame(context, scene, marks.hovered, "text", 1);
  if (marks.flows) paintFlows(context, scene, marks.selected, marks.flows);
  context.setTransform(1, 0, 0, 1, 0, 0);
}

/**
 * @param {Scene} scene
 * @param {number} time
 */
function xOf({ from, to, width }, time) {
  return ((time - from) / (to - from)) * width;
}

/**
 * Where a run is, or null if its lane is hidden.
 * @param {Scene} scene
 * @param {number} run
 */
function boxOf(scene, run) {
  const { runs, rows, scroll, width } = scene;
  const lane = runs.laneOf(run);
  const row = rows.find((one) => one.lane === lane && one.kind === "lane");
  if (!row) return null;
  const [start, end] = [runs.start[run], runs.end[run]].map((time) => xOf(scene, time));
  const middle = (start + end) / 2;
  const half = Math.max(end - start, LEAST_BOX) / 2;
  const [left, right] = [Math.max(middle - half, -9), Math.min(middle + half, width + 9)];
  return { left, right, top: row.top - scroll, height: row.height };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {number} run
 * @param {string} colour
 * @param {number} line
 */
function paintFrame(context, scene, run, colour, line) {
  const box = boxOf(scene, run);
  if (!box || box.right < box.left) return;
  context.strokeStyle = scene.theme[colour].css;
  context.lineWidth = line;
  const { left, right, top, height } = box;
  context.strokeRect(left + line / 2 - 0.5, top + line / 2, right - left - line + 1, height - line);
}

/**
 * A thick frame around the selected run, and thin ones around the visible runs of the same op.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {number} selected
 */
function paintSelected(context, scene, selected) {
  const { runs, from, to } = scene;
  const others = runs.runsOf(runs.op[selected]);
  let count = 0;
  for (const run of others) {
    if (run === selected || runs.end[run] < from || runs.start[run] > to) continue;
    count += 1;
    if (count <= MOST_FRAMES) paintFrame(context, scene, run, "text", 1);
  }
  paintFrame(context, scene, selected, "text", 2.5);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {number} x
 */
function paintPointer(context, scene, x) {
  context.fillStyle = scene.theme["quiet"].css;
  context.fillRect(Math.round(x), 0, 1, scene.height);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {{ from: number, to: number }} range
 */
function paintRange(context, scene, range) {
  const { theme, font } = scene;
  const [left, right] = [range.from, range.to].map((time) => xOf(scene, time));
  context.fillStyle = theme["range"].css;
  context.globalAlpha = 0.16;
  context.fillRect(left, 0, right - left, scene.height);
  context.globalAlpha = 1;
  context.fillRect(left - 0.5, 0, 1, scene.height);
  context.fillRect(right - 0.5, 0, 1, scene.height);
  const text = formatted(Math.round(range.to - range.from), "nanos");
  context.font = `600 12px ${font}`;
  context.textBaseline = "middle";
  const wide = context.measureText(text).width + 12;
  const [first, last] = [Math.max(left, 0), Math.min(right, scene.width)];
  if (last < first) return;
  const middle = Math.min(Math.max((first + last) / 2, wide / 2), scene.width - wide / 2);
  const bottom = scene.height - 14;
  context.fillRect(middle - wide / 2, bottom - 10, wide, 20);
  context.fillStyle = theme["range"].text;
  context.fillText(text, middle - wide / 2 + 6, bottom);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {number} selected
 * @param {Flows} flows
 */
function paintFlows(context, scene, selected, { producers, consumers }) {
  context.strokeStyle = scene.theme["text"].css;
  context.fillStyle = scene.theme["text"].css;
  context.lineWidth = 1.25;
  for (const run of producers) paintArrow(context, scene, run, selected);
  for (const run of consumers) paintArrow(context, scene, selected, run);
}

/**
 * A curve from the end of one run to the start of another.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {number} producer
 * @param {number} consumer
 */
function paintArrow(context, scene, producer, consumer) {
  const [one, other] = [boxOf(scene, producer), boxOf(scene, consumer)];
  if (!one || !other) return;
  const start = { x: xOf(scene, scene.runs.end[producer]), y: one.top + one.height / 2 };
  const end = { x: xOf(scene, scene.runs.start[consumer]), y: other.top + other.height / 2 };
  const bend = Math.min(Math.max(Math.abs(end.x - start.x) / 2, 12), 80);
  // Between neighbours in a lane the arrow would lie on other runs, so it passes below them.
  const dip = Math.abs(start.y - end.y) < 1 ? one.height : 0;
  context.beginPath();
  context.moveTo(start.x, start.y);
  context.bezierCurveTo(start.x + bend, start.y + dip, end.x - bend, end.y + dip, end.x, end.y);
  context.stroke();
  context.beginPath();
  context.moveTo(end.x, end.y);
  context.lineTo(end.x - 6, end.y - 3.5);
  context.lineTo(end.x - 6, end.y + 3.5);
  context.fill();
}

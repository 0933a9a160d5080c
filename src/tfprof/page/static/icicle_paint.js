// Draws the blocks of an icicle on a canvas.

import { visible } from "./dom.js";
import { MERGED } from "./icicle_layout.js";
import { shortName } from "./row_names.js";
import { colour } from "./theme.js";

/** @typedef {import("./icicle_layout.js").Block} Block */
/** @typedef {import("./icicle_colours.js").Colours} Colours */
/** @typedef {import("./icicle_layout.js").ShownTree} ShownTree */

/** The narrowest block that has a label, and the space around it, in pixels. */
const LABELLED = 26;
const PADDING = 5;

/** How opaque blocks are that do not match a search. */
const FAINT = 0.45;

/**
 * What is drawn: the blocks, what is written after the name of a place, the height of a level, the
 * places that are selected and under the pointer, and the rows that match a search, if any.
 * @typedef {{
 *   answer: ShownTree,
 *   blocks: Block[],
 *   colours: Pick<Colours, "of">,
 *   note: (place: number) => string,
 *   noteColour: string,
 *   height: number,
 *   selected: number,
 *   hovered: Block | undefined,
 *   matches: Uint8Array | null,
 * }} Picture
 */

/**
 * Colours of the theme by name, read once.
 * @returns {(name: string) => string}
 */
export function palette() {
  /** @type {Map<string, string>} */
  const known = new Map();
  return (name) => {
    const found = known.get(name) ?? colour(name);
    known.set(name, found);
    return found;
  };
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Picture} picture
 * @param {(name: string) => string} colourOf
 */
export function paint(pen, picture, colourOf) {
  const { answer, blocks, height, selected, hovered } = picture;
  if (blocks.length === 0) {
    pen.fillStyle = colourOf("--quiet");
    pen.textBaseline = "middle";
    pen.fillText(`There is no ${answer.metric.label} here.`, PADDING, height / 2);
    return;
  }
  paintBlocks(pen, picture, colourOf);
  paintLabels(pen, picture, colourOf);
  for (const block of blocks) {
    if (picture.matches && isMatch(picture, block)) {
      outline(pen, block, height, colourOf("--text"), 1);
    }
  }
  if (hovered) outline(pen, hovered, height, colourOf("--quiet"), 1);
  const chosen = selected >= 0 && blocks.find(({ place }) => place === selected);
  if (chosen) outline(pen, chosen, height, colourOf("--focus"), 2);
}

/**
 * Whether a block is what the reader searches for; without a search, every block is.
 * @param {Picture} picture
 * @param {Block} block
 */
function isMatch({ answer, matches }, { place }) {
  return matches === null || (place !== MERGED && matches[answer.rows.row[place]] === 1);
}

/**
 * Blocks of one colour are filled at once, which is much faster.
 * @param {CanvasRenderingContext2D} pen
 * @param {Picture} picture
 * @param {(name: string) => string} colourOf
 */
function paintBlocks(pen, picture, colourOf) {
  const { blocks, colours, height } = picture;
  /** @type {Map<string, Path2D>[]} */
  const paths = [new Map(), new Map()];
  for (const block of blocks) {
    const { place, x, width, level } = block;
    const name = place === MERGED ? "merged" : colours.of(place);
    const kind = paths[isMatch(picture, block) ? 1 : 0];
    const path = kind.get(name) ?? new Path2D();
    kind.set(name, path);
    const gap = width > 3 ? 1 : 0;
    path.rect(x, level * height, width - gap, height - 1);
  }
  paths.forEach((kind, isMatching) => {
    pen.globalAlpha = isMatching ? 1 : FAINT;
    for (const [name, path] of kind) {
      pen.fillStyle = colourOf(name === "merged" ? "--icicle-merged" : `--icicle${name.slice(1)}`);
      pen.fill(path);
    }
  });
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Picture} picture
 * @param {(name: string) => string} colourOf
 */
function paintLabels(pen, picture, colourOf) {
  const { answer, blocks, height, note, noteColour } = picture;
  const { rows, parent } = answer;
  pen.textBaseline = "middle";
  for (const block of blocks) {
    const { place, x, width, level } = block;
    if (place === MERGED || width < LABELLED) continue;
    const row = rows.row[place];
    const above = parent[place] < 0 ? -1 : rows.row[parent[place]];
    const room = width - 2 * PADDING - 1;
    const middle = level * height + (height - 1) / 2 + 0.5;
    pen.fillStyle = colourOf(isMatch(picture, block) ? "--text" : "--quiet");
    const name = visible(shortName(rows.data, row, above));
    const used = label(pen, name, x + PADDING, middle, room);
    if (used > 0 && room - used > 12) {
      pen.fillStyle = colourOf(noteColour);
      label(pen, note(place), x + PADDING + used + 8, middle, room - used - 8);
    }
  }
}

/**
 * Draw a text, cut to the room that there is. Returns its width, or 0 if it was cut.
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} room
 */
function label(pen, text, x, y, room) {
  // Long names are cut before they are measured: measuring takes time for each letter.
  const start = text.length > 200 ? text.slice(0, 200) : text;
  const width = pen.measureText(start).width;
  if (width <= room && start === text) {
    pen.fillText(text, x, y);
    return width;
  }
  let count = Math.floor((start.length * room) / width);
  while (count > 0 && pen.measureText(`${start.slice(0, count)}…`).width > room) count -= 1;
  if (count > 0) pen.fillText(`${start.slice(0, count)}…`, x, y);
  return 0;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Block} block
 * @param {number} height
 * @param {string} stroke
 * @param {number} line
 */
function outline(pen, { x, width, level }, height, stroke, line) {
  pen.strokeStyle = stroke;
  pen.lineWidth = line;
  const half = line / 2;
  const size = Math.max(width - (width > 3 ? 1 : 0) - line, 1);
  pen.strokeRect(x + half, level * height + half, size, height - 1 - line);
}

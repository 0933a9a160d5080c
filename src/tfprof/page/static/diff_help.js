// What a diff page shows, and its keys.

import { PAGE_KEYS, PICTURE, TABLE, TIMELINE } from "./keys.js";

const COMMON = "The picture and the table compare the same rows: those of the base and of the new "
  + "profile that correspond, by name or else by content. ";

/** @type {Record<string, string>} */
export const HELP = {
  layers: `${COMMON}Here these are the layers of the model, each with everything inside it.`,
  scope: `${COMMON}Here these are ops by the slashes in their names.`,
  graph: `${COMMON}Here these are ops, each with the inputs below it.`,
  code: `${COMMON}Here these are the lines of code that created the ops. Lines that moved within a `
    + "function correspond in their order.",
  op: `${COMMON}Here these are the kinds of op, which do not overlap.`,
};

export const NUMBERS = "The width of a block is the larger of before and after, and at least that "
  + "of its parts. Red blocks have more than before, blue ones less: the darker, the larger the "
  + "change as a percentage of before. Grey blocks did not change, or the steps do not show that "
  + "they did. Parameters, float operations and bytes are exact. Times are those of the median "
  + "step, with an interval that contains the change with a confidence of 95 %; ~ marks changes "
  + "that could be chance. Percentages are of before, shares are of the change of all rows. In the "
  + "timelines, runs have the colour of their row.";

/** Keys that search and show kernels, which this page cannot. */
const OTHERS = new Set(["/", "n", "N", "Escape", "k"]);

export const KEYS = PAGE_KEYS.filter(({ keys }) => !OTHERS.has(keys[0]));

const ROWS = Object.keys(HELP);

/** The keys of parts of the page. */
export const PARTS = [
  { title: "in the picture", views: ROWS, keys: PICTURE },
  { title: "in the table", views: ROWS, keys: TABLE },
  {
    title: "of the timelines",
    views: ROWS,
    keys: [
      ...TIMELINE.slice(0, 2),
      { keys: ["0"], meaning: "fit the chosen steps" },
    ],
  },
];

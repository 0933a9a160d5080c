// Bars that compare numbers with a whole.

import { h } from "./dom.js";

/**
 * A bar for a share from 0 to 1, in a track of fixed width; only a picture of a number beside it.
 * @param {number} share
 */
export function shareBar(share) {
  const bar = h("span", null);
  const filled = Math.min(Math.max(share, 0), 1);
  bar.style.inlineSize = `${100 * filled}%`;
  bar.style.background = `var(${shareColour(filled)})`;
  return h("span", { class: "share-bar", "aria-hidden": "true" }, bar);
}

/**
 * The variable with the colour of a share.
 * @param {number} share
 */
export function shareColour(share) {
  if (share > 0.6) return "--share-3";
  if (share > 0.2) return "--share-2";
  return share > 0.05 ? "--share-1" : "--share-0";
}

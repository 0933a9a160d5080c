// The share of a row in the whole, in four levels: over 60 %, over 20 %, over 5 %, and the rest.

const LEVELS = [0.6, 0.2, 0.05];

/**
 * The level of a share, 3 for the largest.
 * @param {number} part
 * @param {number} whole
 */
export function shareLevel(part, whole) {
  const place = LEVELS.findIndex((least) => part > least * whole);
  return whole > 0 && place >= 0 ? LEVELS.length - place : 0;
}

// What the view of memory shows, as objects and as text for the URL.

/** @typedef {import("./types.d.ts").MemoryData} MemoryData */
/** @typedef {import("./types.d.ts").MemoryStep} MemoryStep */
/** @typedef {import("./types.d.ts").MemoryAllocator} MemoryAllocator */

/**
 * The ways to group holders; each is also the view that has a row for each group.
 * @typedef {"scope" | "op" | "code"} By
 */

/** @typedef {{ allocator: MemoryAllocator, step: MemoryStep, time: number, by: By }} Choice */

/** @type {Record<By, string>} */
const TITLES = { scope: "scope", op: "kind of op", code: "line of code" };

/** @param {By} by */
export function groupingTitle(by) {
  return TITLES[by];
}

/**
 * The ways in which the holders can be grouped.
 * @param {MemoryData} memory
 * @returns {By[]}
 */
export function groupings({ holders }) {
  return holders.line ? ["scope", "op", "code"] : ["scope", "op"];
}

/**
 * The step of an allocator with the highest peak, the first one if there are several.
 * @param {MemoryAllocator} allocator
 */
export function highestStep({ steps }) {
  return steps.reduce((best, step) => (step.peak_bytes > best.peak_bytes ? step : best));
}

/**
 * The choice that a text describes; what it does not say, or says wrongly, is the highest peak.
 * @param {MemoryData} memory
 * @param {string} text
 * @returns {Choice}
 */
export function choiceOf(memory, text) {
  const [place, number, at, by] = text.split(",");
  const allocator = memory.allocators[Number(place)] ?? memory.allocators[0];
  const named = allocator.steps.find(({ step }) => String(step) === number);
  const step = named ?? highestStep(allocator);
  const isTime = named !== undefined && at !== undefined && /^-?\d+$/.test(at);
  return {
    allocator,
    step,
    // Without the changes of a step, only its peak can be explained.
    time: isTime && step.changes ? Number(at) : step.peak_ns,
    by: groupings(memory).find((one) => one === by) ?? "scope",
  };
}

/**
 * A choice as text; empty for the highest peak of the first allocator.
 * @param {MemoryData} memory
 * @param {Choice} choice
 */
export function textOf(memory, { allocator, step, time, by }) {
  const text = [memory.allocators.indexOf(allocator), step.step, time, by].join(",");
  const { allocators: [first] } = memory;
  const highest = highestStep(first);
  return text === `0,${highest.step},${highest.peak_ns},scope` ? "" : text;
}

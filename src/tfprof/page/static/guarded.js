// A provider that keeps its latest answers and never fails: if an option is wrong, the rows stay as
// they were and have a note on what is wrong.

import { OptionError } from "./options.js";

/** @typedef {import("./types.d.ts").Provider} Provider */
/** @typedef {import("./types.d.ts").Rows} Rows */
/** @typedef {import("./types.d.ts").ViewKind} ViewKind */

const MOST_ANSWERS = 12;

/**
 * @param {Provider} provider
 * @returns {Provider & { forget: () => void }}
 */
export function guarded(provider) {
  /** @type {Map<string, Promise<Rows>>} */
  const known = new Map();
  // By view, and by view and order, which differs between parts of the page.
  /** @type {Map<string, Rows>} */
  const latest = new Map();

  /**
   * @param {ViewKind} kind
   * @param {Record<string, string>} options
   * @returns {Promise<Rows>}
   */
  async function answered(kind, options) {
    const ordered = `${kind} ${options["order_by"]}`;
    try {
      const rows = { ...await provider.ask(kind, options), asked: options };
      latest.set(kind, rows).set(ordered, rows);
      return rows;
    } catch (error) {
      const problem = problemOf(error, options);
      const before = latest.get(ordered) ?? latest.get(kind);
      return { ...before ?? await unfiltered(kind, options, problem.option), problem };
    }
  }

  /**
   * All rows, in the order that was asked for unless that is what is wrong.
   * @param {ViewKind} kind
   * @param {Record<string, string>} options
   * @param {string} wrong
   */
  async function unfiltered(kind, options, wrong) {
    const { order_by: order } = options;
    /** @type {Record<string, string>} */
    const asked = order === undefined || wrong === "order_by" ? {} : { order_by: order };
    return { ...await provider.ask(kind, asked), asked };
  }

  return {
    /** Forget all answers, because the profile is another. */
    forget() {
      known.clear();
      latest.clear();
    },
    supports: (option) => provider.supports(option),
    graph: () => provider.graph().catch(() => null), // the status line says what is wrong
    ask(kind, options) {
      const key = JSON.stringify([kind, Object.entries(options).sort()]);
      const found = known.get(key) ?? answered(kind, options);
      known.delete(key);
      known.set(key, found); // the first is the oldest
      for (const oldest of [...known.keys()].slice(0, -MOST_ANSWERS)) known.delete(oldest);
      // A question that failed may succeed later, if a server computes the answer.
      void found.then((rows) => rows.problem && known.delete(key));
      return found;
    },
  };
}

/**
 * What is wrong, and the option that it is about; empty if it is none of them.
 * @param {unknown} error
 * @param {Record<string, string>} options
 */
function problemOf(error, options) {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof OptionError) return { option: error.option, message };
  const option = Object.keys(options).find((name) => message.includes(`\`${name}\``)
    || message.includes(`\`-${name}\``));
  return { option: option ?? "", message };
}

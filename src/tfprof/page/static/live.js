// A page that `tfprof ui` serves: asks Python for data and answers, and follows changed files.

import { unpack, unzipped } from "./container.js";
import { fill, h } from "./dom.js";
import { createProvider } from "./provider.js";
import { depths, ownNumbers, totalNumbers } from "./tree.js";

/** @typedef {import("./types.d.ts").Answer} Answer */
/** @typedef {import("./types.d.ts").Numbers} Numbers */
/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").Provider} Provider */
/** @typedef {import("./types.d.ts").Rows} Rows */
/** @typedef {import("./types.d.ts").State} State */
/** @typedef {import("./types.d.ts").Texts} Texts */

/** @typedef {ReturnType<typeof createStatus>} Status */

const MOST_ANSWERS = 30;
const STOPPED = "tfprof has stopped; start it again.";

/**
 * Show the served profile, and each newer one.
 * @param {(payload: Payload, provider: Provider, footer: HTMLElement) => void} show
 */
export async function startLive(show) {
  const status = createStatus();
  let generation = 0;

  /** Ask for the current data, and show it unless it is what the page shows already. */
  async function renew() {
    const { value, number } = await fetched("data");
    if (number === generation) return;
    generation = number;
    show(value, createLiveProvider(value, number, status, () => void renewed()), status.element);
  }

  async function renewed() {
    try {
      await renew();
      status.updated();
      status.set("files", "");
    } catch (error) {
      status.set("files", error);
    }
  }

  try {
    await renew();
  } catch (error) {
    status.set("files", error);
    document.body.replaceChildren(h("main", null), status.element);
  }
  follow((number) => (number === generation ? status.set("files", "") : void renewed()), status);
}

/**
 * What changes in the state of the page with a newer profile: the numbers of rows and ops, and the
 * metric if there is none of that name any more.
 * @param {State} state
 * @param {Payload} older
 * @param {Payload} newer
 * @returns {Partial<State>}
 */
export function carriedOver(state, older, newer) {
  const kind = /** @type {import("./types.d.ts").ViewKind} */ (state.view);
  const hasMetric = newer.metrics.some(({ key }) => key === state.metric);
  return {
    metric: hasMetric ? state.metric : newer.metrics[0]?.key ?? "",
    row: sameName(older.views[kind]?.name, newer.views[kind]?.name, state.row),
    op: sameName(older.ops.name, newer.ops.name, state.op),
  };
}

/**
 * The row of `newer` with the name that a row of `older` has, -1 if there is none.
 * @param {Texts | undefined} older
 * @param {Texts | undefined} newer
 * @param {number} row
 */
function sameName(older, newer, row) {
  if (!older || !newer || row < 0 || row >= older.length) return -1;
  const name = older.get(row);
  if (row < newer.length && newer.get(row) === name) return row; // names may repeat
  for (let place = 0; place < newer.length; place += 1) {
    if (newer.get(place) === name) return place;
  }
  return -1;
}

/**
 * Answers all questions with any options: the server computes them. If an option is wrong, the rows
 * stay as they were.
 * @param {Payload} payload
 * @param {number} generation of the data
 * @param {Status} status
 * @param {() => void} outdated called if an answer is about newer data
 * @returns {Provider}
 */
function createLiveProvider(payload, generation, status, outdated) {
  const whole = createProvider(payload);
  /** @type {Map<string, Promise<Rows>>} */
  const known = new Map();
  /** @type {Map<string, Rows>} */
  const latest = new Map();
  let asked = ""; // an error in an earlier question is not shown

  /**
   * @param {string} question
   * @returns {Promise<Rows>}
   */
  async function answered(question) {
    const { value, number } = await fetched(`view?${question}`);
    if (number === generation) return rowsOf(value, payload);
    outdated();
    return new Promise(() => undefined); // the page that asks is about to be replaced
  }

  /** @param {string} question */
  function remembered(question) {
    const found = known.get(question) ?? answered(question);
    known.delete(question);
    known.set(question, found); // the first is the oldest
    for (const oldest of [...known.keys()].slice(0, -MOST_ANSWERS)) known.delete(oldest);
    return found;
  }

  return {
    supports: () => true,
    async ask(kind, options) {
      if (Object.keys(options).length === 0) {
        asked = "";
        status.set("question", "");
        return whole.ask(kind, options);
      }
      const question = new URLSearchParams({ kind, ...options }).toString();
      asked = question;
      try {
        const rows = await remembered(question);
        latest.set(kind, rows);
        if (asked === question) status.set("question", "");
        return rows;
      } catch (error) {
        known.delete(question);
        if (asked === question) status.set("question", error);
        return latest.get(kind) ?? whole.ask(kind, {});
      }
    },
  };
}

/**
 * The rows of an answer. If they are rows of the page, they keep their numbers there, so that a row
 * which is selected stays selected.
 * @param {Answer} answer
 * @param {Payload} payload
 * @returns {Rows}
 */
function rowsOf({ view, row }, payload) {
  const whole = payload.views[view.kind];
  /** @type {Map<string, Numbers>} */
  const known = new Map();

  /** @param {Numbers} column of the answer */
  const placed = (column) => (row === null ? column : inPlace(column, row, whole.end.length));

  /**
   * @param {string} key
   * @param {() => Numbers} compute
   */
  function remembered(key, compute) {
    const found = known.get(key) ?? placed(compute());
    known.set(key, found);
    return found;
  }

  return {
    data: row === null
      ? view
      : { ...whole, accounted: placed(view.accounted), ops: placed(view.ops) },
    row: Int32Array.from(row ?? view.end.keys()),
    end: Int32Array.from(view.end),
    depth: depths(view.end),
    own: (column) => remembered(`own ${column}`, () => ownNumbers(view, payload.ops, column)),
    total: (column) => remembered(`total ${column}`, () => totalNumbers(view, payload.ops, column)),
    notes: view.notes,
  };
}

/**
 * @param {Numbers} column
 * @param {Numbers} rows where each number belongs
 * @param {number} size
 */
function inPlace(column, rows, size) {
  const found = new Float64Array(size);
  for (let place = 0; place < rows.length; place += 1) found[rows[place]] = column[place];
  return found;
}

/**
 * What the server has at an address, and the number of the profile that it is about.
 * @param {string} address
 * @returns {Promise<{ value: any, number: number }>}
 */
async function fetched(address) {
  const reply = await fetch(address);
  if (!reply.ok || !reply.body) throw new Error(await errorOf(reply));
  const number = Number(reply.headers.get("Tfprof-Generation"));
  return { value: unpack(await unzipped(reply.body)), number };
}

/** @param {Response} reply */
async function errorOf(reply) {
  try {
    return (await reply.json()).error;
  } catch {
    return `The server refused the question (${reply.status}).`;
  }
}

/**
 * Listen to the server while the page is visible. Browsers allow only a few connections at a time,
 * so pages in the background must not keep one.
 * @param {(generation: number) => void} changed called with the current number, at first and later
 * @param {Status} status
 */
function follow(changed, status) {
  /** @type {EventSource | null} */
  let events = null;

  function listen() {
    events = new EventSource("events");
    events.addEventListener("changed", (event) => changed(JSON.parse(event.data).generation));
    events.addEventListener("failed", (event) => status.set("files", JSON.parse(event.data).error));
    events.addEventListener("error", () => status.set("files", STOPPED));
  }

  function adapt() {
    if (!document.hidden && events === null) listen();
    if (document.hidden && events !== null) {
      events.close();
      events = null;
    }
  }

  document.addEventListener("visibilitychange", adapt);
  adapt();
}

/** A line that says when the page was updated, or what is wrong with the files or a question. */
function createStatus() {
  const element = h("footer", { class: "live", role: "status" });
  let updated = "";
  const wrong = { files: "", question: "" };

  function show() {
    const error = wrong.files || wrong.question;
    fill(element, error || updated);
    element.classList.toggle("live-failed", error !== "");
  }

  return {
    element,
    updated() {
      updated = `updated ${new Date().toTimeString().slice(0, 8)}`;
      show();
    },
    /**
     * @param {keyof typeof wrong} subject
     * @param {unknown} error `""` if it is correct now
     */
    set(subject, error) {
      wrong[subject] = error instanceof Error ? error.message : String(error);
      show();
    },
  };
}

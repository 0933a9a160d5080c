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

/** @typedef {ReturnType<typeof createStatus>} Status */
/** @typedef {(newer: Payload) => void} Renew */

const MOST_ANSWERS = 30;
const STOPPED = "tfprof has stopped; start it again.";

/**
 * Show the served profile with `show`, which returns a function that shows each newer one.
 * @param {(payload: Payload, provider: Provider, footer: HTMLElement) => Renew} show
 */
export async function startLive(show) {
  const status = createStatus();
  /** @type {LiveProvider | undefined} */
  let provider;
  /** @type {Renew | undefined} */
  let renew;

  async function update() {
    const { value, generation } = await fetched("data");
    if (generation === provider?.source.generation) return;
    const source = createSource(value, generation);
    if (provider && renew) {
      provider.source = source;
      renew(value);
      status.updated();
    } else {
      provider = new LiveProvider(source, status, () => void reported());
      renew = show(value, provider, status.element);
    }
  }

  async function reported() {
    try {
      await update();
      status.set("files", "");
    } catch (error) {
      status.set("files", error);
      if (!renew) document.body.replaceChildren(h("main", null), status.element);
    }
  }

  await reported();
  follow(status, (generation) => {
    if (generation === provider?.source.generation) status.set("files", "");
    else void reported();
  });
}

/**
 * What answers are about: a profile and its number on the server; and the answers so far.
 * @param {Payload} payload
 * @param {number} generation
 */
function createSource(payload, generation) {
  return {
    payload,
    generation,
    page: createProvider(payload),
    /** @type {Map<string, Promise<Rows>>} */
    known: new Map(),
    /** The latest answer by view. @type {Map<string, Rows>} */
    latest: new Map(),
  };
}

/**
 * Answers questions with any options: the server computes the answers. If an option is wrong, the
 * rows stay as they were.
 * @implements {Provider}
 */
class LiveProvider {
  /**
   * @param {ReturnType<typeof createSource>} source
   * @param {Status} status
   * @param {() => void} outdated called if an answer is about a newer profile
   */
  constructor(source, status, outdated) {
    this.source = source;
    this.status = status;
    this.outdated = outdated;
    this.asked = ""; // an error in an earlier question is not shown
  }

  supports() {
    return true;
  }

  /**
   * @param {import("./types.d.ts").ViewKind} kind
   * @param {Record<string, string>} options
   * @returns {Promise<Rows>}
   */
  async ask(kind, options) {
    const { source: { page, known, latest }, status } = this;
    const question = new URLSearchParams({ kind, ...options }).toString();
    this.asked = question;
    try {
      const rows = await (this.isOfPage(options)
        ? page.ask(kind, options)
        : this.remembered(question));
      latest.set(kind, rows);
      if (this.asked === question) status.set("question", "");
      return rows;
    } catch (error) {
      known.delete(question);
      if (this.asked === question) status.set("question", error);
      return latest.get(kind) ?? page.ask(kind, {});
    }
  }

  /**
   * Whether the page can answer itself: it has all rows, in any order.
   * @param {Record<string, string>} options
   */
  isOfPage(options) {
    const known = this.source.payload.order_keys;
    return Object.entries(options).every(
      ([name, value]) => name === "order_by" && known.includes(value),
    );
  }

  /** @param {string} question */
  remembered(question) {
    const { known } = this.source;
    const found = known.get(question) ?? this.answered(question);
    known.delete(question);
    known.set(question, found); // the first is the oldest
    for (const oldest of [...known.keys()].slice(0, -MOST_ANSWERS)) known.delete(oldest);
    return found;
  }

  /**
   * @param {string} question
   * @returns {Promise<Rows>}
   */
  async answered(question) {
    const { source } = this;
    const { value, generation } = await fetched(`view?${question}`);
    if (generation === source.generation) return rowsOf(value, source.payload);
    this.outdated();
    return new Promise(() => undefined); // the part of the page that asks is about to ask again
  }
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
 * @returns {Promise<{ value: any, generation: number }>}
 */
async function fetched(address) {
  const reply = await fetch(address);
  if (!reply.ok || !reply.body) throw new Error(await errorOf(reply));
  const generation = Number(reply.headers.get("Tfprof-Generation"));
  return { value: unpack(await unzipped(reply.body)), generation };
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
 * @param {Status} status
 * @param {(generation: number) => void} changed called with the current number, at first and later
 */
function follow(status, changed) {
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

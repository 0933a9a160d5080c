// A page that `tfprof ui` serves: asks Python for data and answers, and follows changed files.

import { unpack, unzipped } from "./container.js";
import { fill, h } from "./dom.js";
import { createProvider } from "./provider.js";
import { rowsOfOps } from "./row_ops.js";
import { depths, ownNumbers, totalNumbers } from "./tree.js";

/** @typedef {import("./types.d.ts").Answer} Answer */
/** @typedef {import("./types.d.ts").Numbers} Numbers */
/** @typedef {import("./types.d.ts").Payload} Payload */
/** @typedef {import("./types.d.ts").Provider} Provider */
/** @typedef {import("./types.d.ts").Rows} Rows */

/** @typedef {ReturnType<typeof createStatus>} Status */
/** @typedef {(newer: Payload) => void} Renew */

const STOPPED = "tfprof has stopped; start it again.";

/**
 * Show the served profile with `show`, which returns a function that shows each newer one.
 * @param {(payload: Payload, provider: Provider, status: HTMLElement) => Renew} show
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
      provider = new LiveProvider(source, () => void reported());
      renew = show(value, provider, status.element);
    }
  }

  async function reported() {
    try {
      await update();
      status.set("");
    } catch (error) {
      status.set(error);
      if (!renew) document.body.replaceChildren(h("main", null), status.element);
    }
  }

  await reported();
  follow(status, (generation) => {
    if (generation === provider?.source.generation) status.set("");
    else void reported();
  });
}

/**
 * What answers are about: a profile and its number on the server.
 * @param {Payload} payload
 * @param {number} generation
 */
function createSource(payload, generation) {
  return { payload, generation, page: createProvider(payload) };
}

/**
 * Answers questions with any options: the server computes what the page cannot.
 * @implements {Provider}
 */
class LiveProvider {
  /**
   * @param {ReturnType<typeof createSource>} source
   * @param {() => void} outdated called if an answer is about a newer profile
   */
  constructor(source, outdated) {
    this.source = source;
    this.outdated = outdated;
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
    const { page, payload } = this.source;
    const hasAllRows = payload.views[kind].merged === null;
    if (hasAllRows && Object.keys(options).every((name) => page.supports(name))) {
      try {
        return await page.ask(kind, options);
      } catch {
        // The server explains what is wrong, or can match a regex that the page cannot.
      }
    }
    const question = new URLSearchParams({ kind, ...options }).toString();
    return rowsOf(await this.asked(`view?${question}`), payload);
  }

  /** @returns {Promise<import("./types.d.ts").GraphData | null>} */
  async graph() {
    return (await this.asked("graph")).graph;
  }

  /**
   * What the server has at an address about the profile of the page.
   * @param {string} address
   * @returns {Promise<any>}
   */
  async asked(address) {
    const { source } = this;
    const { value, generation } = await fetched(address);
    if (generation === source.generation) return value;
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
function rowsOf({ view, row, ops }, payload) {
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

  const data = row === null
    ? view
    : { ...whole, accounted: placed(view.accounted) };
  const rowOfOps = () => ops.row ?? rowsOfOps(payload, data);

  return {
    data,
    row: Int32Array.from(row ?? view.end.keys()),
    end: Int32Array.from(view.end),
    depth: depths(view.end),
    own: (column) => remembered(`own ${column}`, () => ownNumbers(view, payload.ops, column)),
    total: (column) => remembered(`total ${column}`, () => totalNumbers(view, payload.ops, column)),
    ofOps: (column) => ops.numbers[column] ?? payload.ops.numbers[column],
    rowOfOps,
    opCounts: () => opCounts(rowOfOps(), ops.counted, data.end.length),
    merged: view.merged,
    notes: view.notes,
  };
}

/**
 * The number of ops of each row.
 * @param {Numbers} rowOfOp
 * @param {Numbers | null} isCounted
 * @param {number} size
 */
function opCounts(rowOfOp, isCounted, size) {
  const found = new Float64Array(size);
  rowOfOp.forEach((row, op) => {
    if (row >= 0 && (isCounted === null || isCounted[op] === 1)) found[row] += 1;
  });
  return found;
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
  const reply = await fetch(address).catch(() => {
    throw new Error(STOPPED);
  });
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
    events.addEventListener("failed", (event) => status.set(JSON.parse(event.data).error));
    events.addEventListener("error", () => status.set(STOPPED));
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

/** A line that says when the page was updated, or what is wrong with the files. */
function createStatus() {
  const element = h("p", { class: "live", role: "status" });
  let updated = "";
  let wrong = "";

  function show() {
    fill(element, wrong || updated);
    element.classList.toggle("live-failed", wrong !== "");
  }

  return {
    element,
    updated() {
      updated = `Updated at ${new Date().toTimeString().slice(0, 8)}`;
      show();
    },
    /** @param {unknown} error `""` if the files can be read now */
    set(error) {
      wrong = error instanceof Error ? error.message : String(error);
      show();
    },
  };
}

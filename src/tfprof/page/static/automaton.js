// Matches texts with a regex in time proportional to their length, whatever the regex: a state of
// the automaton is the set of positions in the regex that a text may be at. States are computed
// when they are first reached.

import { PatternError } from "./regex_sets.js";

/** @typedef {import("./characters.js").Ranges} Ranges */
/** @typedef {import("./regex.js").Node} Node */
/** @typedef {import("./regex.js").Place} Place */
/** @typedef {import("./types.d.ts").Texts} Texts */
/**
 * A position in a regex: it needs a character of a set, or continues without one at the positions
 * `next`, for a place only if the text is at such a place. Nothing continues after the last one.
 * @typedef {{ ranges: Ranges | null, place: Place | null, next: number[] }} Position
 */

// A set counts as many positions as it has ranges, because RE2 needs as many.
const MOST_POSITIONS = 100_000;
/** The entries of the table of states by characters; if it is full, it is started again. */
const MOST_ENTRIES = 4_000_000;
/** How many positions may be visited for one column of names, before the regex is refused. */
const MOST_VISITS = 30_000_000;

const DEAD = 0;
const UNKNOWN = -1;

/** Kinds of characters that decide whether a text is at a place, and the ends of the text. */
const [OTHER, WORD, NEWLINE, EDGE] = [0, 1, 2, 3];
/** @type {Ranges} */
const WORDS = [[48, 57], [65, 90], [95, 95], [97, 122]];

/** @type {Record<Place, (before: number, after: number) => boolean>} */
const IS_AT = {
  textStart: (before) => before === EDGE,
  textEnd: (_, after) => after === EDGE,
  lineStart: (before) => before === EDGE || before === NEWLINE,
  lineEnd: (_, after) => after === EDGE || after === NEWLINE,
  boundary: (before, after) => (before === WORD) !== (after === WORD),
  inside: (before, after) => (before === WORD) === (after === WORD),
};

const TOO_LARGE = "it is too large to match here; repeat fewer times, or write `*` or `+`";
const TOO_SLOW = "it takes too long to match here; write it with fewer alternatives";

/** The positions of a regex. */
class Program {
  constructor() {
    /** @type {Position[]} */
    this.positions = [];
    this.size = 0;
    this.hasPlaces = false;
    this.end = this.add({ ranges: null, place: null, next: [] });
  }

  /** @param {Position} position */
  add(position) {
    this.size += Math.max(1, position.ranges?.length ?? 1);
    if (this.size > MOST_POSITIONS) throw new PatternError("", TOO_LARGE);
    return this.positions.push(position) - 1;
  }

  /**
   * The position where a part of a regex starts, if it continues at `next`.
   * @param {Node} node
   * @param {number} next
   * @returns {number}
   */
  start(node, next) {
    switch (node.type) {
      case "set":
        return this.add({ ranges: node.ranges, place: null, next: [next] });
      case "place":
        this.hasPlaces = true;
        return this.add({ ranges: null, place: node.place, next: [next] });
      case "choice":
        return this.fork(node.parts.map((part) => this.start(part, next)));
      case "sequence":
        return node.parts.reduceRight((after, part) => this.start(part, after), next);
      case "repeat":
        return this.repeated(node, next);
    }
  }

  /** @param {number[]} next */
  fork(next) {
    return this.add({ ranges: null, place: null, next });
  }

  /**
   * @param {Extract<Node, { type: "repeat" }>} node
   * @param {number} next
   */
  repeated({ part, least, most }, next) {
    let found = next;
    if (most === Infinity) {
      const again = this.fork([next]);
      this.positions[again].next.push(this.start(part, again));
      found = again;
    } else {
      for (let count = least; count < most; count += 1) {
        found = this.fork([next, this.start(part, found)]);
      }
    }
    for (let count = 0; count < least; count += 1) found = this.start(part, found);
    return found;
  }
}

/** The characters that a regex treats alike, as numbered classes. */
class Classes {
  /** @param {Program} program */
  constructor(program) {
    const sets = program.positions.map(({ ranges }) => ranges ?? []);
    if (program.hasPlaces) sets.push(WORDS, [[10, 10]]);
    const starts = new Set([0]);
    for (const [first, last] of sets.flat()) starts.add(first).add(last + 1);
    /** The first character of each class, ascending. */
    this.starts = Int32Array.from(starts).sort();
    this.count = this.starts.length;
    this.ofAscii = Uint32Array.from({ length: 128 }, (_, code) => this.of(code));
    this.kind = Uint8Array.from(this.starts, (code) => kindOf(code));
  }

  /**
   * The class of a character.
   * @param {number} code
   */
  of(code) {
    let low = 0;
    let high = this.count;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= code) low = middle;
      else high = middle;
    }
    return low;
  }
}

/** @param {number} code */
function kindOf(code) {
  if (code === 10) return NEWLINE;
  return WORDS.some(([first, last]) => first <= code && code <= last) ? WORD : OTHER;
}

/** Matches whole texts with a regex. */
export class Automaton {
  /** @param {Node} tree */
  constructor(tree) {
    this.program = new Program();
    this.first = this.program.start(tree, this.program.end);
    this.classes = new Classes(this.program);
    this.visits = 0; // since the start of a column
    this.seen = new Uint32Array(this.program.positions.length);
    this.round = 0;
    /** @type {Map<string, number>} */
    this.known = new Map();
    /** @type {{ positions: number[], before: number, accepts: boolean }[]} */
    this.states = [];
    this.next = new Int32Array();
    this.start = DEAD;
    this.forget();
  }

  /** Forget all states. */
  forget() {
    this.known.clear();
    this.states = [];
    this.next = new Int32Array(16 * this.classes.count).fill(UNKNOWN);
    this.state([], OTHER);
    this.start = this.state([this.first], EDGE);
  }

  /**
   * The number of a state, which is added if it is new.
   * @param {number[]} positions
   * @param {number} before the kind of the character before, if the regex depends on it
   */
  state(positions, before) {
    const kind = this.program.hasPlaces && positions.length > 0 ? before : OTHER;
    const key = `${kind} ${positions.join(" ")}`;
    const found = this.known.get(key);
    if (found !== undefined) return found;
    const accepts = this.reached(positions, kind, EDGE).includes(this.program.end);
    const number = this.states.push({ positions, before: kind, accepts }) - 1;
    this.known.set(key, number);
    const { count } = this.classes;
    if (this.states.length * count > this.next.length) {
      const longer = new Int32Array(2 * this.next.length).fill(UNKNOWN);
      longer.set(this.next);
      this.next = longer;
    }
    return number;
  }

  /**
   * The positions that need a character, and the end, that others reach without a character.
   * @param {number[]} positions
   * @param {number} before
   * @param {number} after
   */
  reached(positions, before, after) {
    /** @type {number[]} */
    const found = [];
    const open = [...positions];
    this.round += 1;
    while (open.length > 0) {
      const place = /** @type {number} */ (open.pop());
      if (this.seen[place] === this.round) continue;
      this.seen[place] = this.round;
      this.visits += 1;
      const position = this.program.positions[place];
      if (position.ranges || place === this.program.end) found.push(place);
      else if (!position.place || IS_AT[position.place](before, after)) {
        for (const next of position.next) open.push(next);
      }
    }
    if (this.visits > MOST_VISITS) throw new PatternError("", TOO_SLOW);
    return found;
  }

  /**
   * The state after a character of a class.
   * @param {number} number
   * @param {number} kind the class
   */
  after(number, kind) {
    const { positions, before } = this.states[number];
    const character = this.classes.starts[kind];
    const kindOfNext = this.classes.kind[kind];
    /** @type {Set<number>} */
    const next = new Set();
    for (const place of this.reached(positions, before, kindOfNext)) {
      const { ranges, next: [following] } = this.program.positions[place];
      if (ranges && contains(ranges, character)) next.add(following);
    }
    const sorted = [...next].sort((one, other) => one - other);
    const { count } = this.classes;
    if (this.states.length * count > MOST_ENTRIES) {
      this.forget();
      return this.state(sorted, kindOfNext);
    }
    const found = this.state(sorted, kindOfNext);
    this.next[number * count + kind] = found;
    return found;
  }

  /**
   * Which of the texts match, as 0 and 1.
   * @param {Pick<Texts, "data" | "starts" | "ends" | "length">} texts
   */
  matchColumn({ data, starts, ends, length }) {
    const found = new Uint8Array(length);
    this.visits = 0;
    for (let row = 0; row < length; row += 1) {
      const state = this.read(data, starts[row], ends[row]);
      found[row] = this.states[state].accepts ? 1 : 0;
    }
    return found;
  }

  /**
   * The state after a text.
   * @param {Uint8Array} data valid UTF-8
   * @param {number} start
   * @param {number} end
   */
  read(data, start, end) {
    const { ofAscii, count } = this.classes;
    let { next } = this;
    let state = this.start;
    let at = start;
    while (at < end) {
      const byte = data[at];
      const size = byte < 128 ? 1 : sizeOf(byte);
      const kind = size === 1 ? ofAscii[byte] : this.classes.of(decoded(data, at, size));
      const known = next[state * count + kind];
      at += size;
      if (known === DEAD) return DEAD;
      if (known === UNKNOWN) {
        state = this.after(state, kind);
        ({ next } = this);
      } else {
        state = known;
      }
    }
    return state;
  }
}

/**
 * The number of bytes of a character beyond ASCII, by the first of them.
 * @param {number} byte
 */
function sizeOf(byte) {
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/**
 * The character at a place of valid UTF-8 that takes several bytes.
 * @param {Uint8Array} data
 * @param {number} at
 * @param {number} size
 */
function decoded(data, at, size) {
  let code = data[at] & (0x7f >> size);
  for (let place = at + 1; place < at + size; place += 1) code = (code << 6) | (data[place] & 0x3f);
  return code;
}

/**
 * @param {Ranges} ranges ascending
 * @param {number} code
 */
function contains(ranges, code) {
  let low = 0;
  let high = ranges.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (ranges[middle][0] <= code) low = middle;
    else high = middle;
  }
  return ranges.length > 0 && ranges[low][0] <= code && code <= ranges[low][1];
}

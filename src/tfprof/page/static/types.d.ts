// The data of a report and the parts of the page, as types. `page/content.py` writes the data;
// `container.js` unpacks it.

/** A column of numbers. Python chooses the smallest type that fits. */
export type Numbers = Uint8Array | Uint16Array | Uint32Array | Int8Array | Int16Array | Int32Array | Float64Array;

/** A column of texts, decoded when they are read. */
export interface Texts {
  readonly length: number;
  /** Text `i` is the UTF-8 in `data` from `starts[i]` to `ends[i]`. */
  readonly data: Uint8Array;
  readonly starts: Numbers;
  readonly ends: Numbers;
  get(row: number): string;
  /** The UTF-8 bytes of a text, to search without decoding. */
  bytes(row: number): Uint8Array;
}

/** A column of texts that repeat: row `i` has the text `values.get(codes[i])`. */
export interface Coded {
  codes: Numbers;
  values: Texts;
}

export type Unit = "count" | "nanos" | "bytes";

/** A number that can be chosen for the whole page. */
export interface Metric {
  /** As in `-select` and `-order_by`. */
  key: string;
  /** The column of `ops.numbers`, `own` and `total`: `nanos` for `micros`. */
  column: string;
  label: string;
  meaning: string;
  unit: Unit;
  total: number;
}

/** The edges into each op, in order; `edges.js` resolves them. */
export interface OpInputs {
  /** The number of edges into each op. */
  counts: Numbers;
  /** For each edge, how many rows its source is before the op; one more than there are if unknown. */
  back: Numbers;
  /** The output of the source; -1 for a control dependency. */
  slot: Numbers;
}

/** One row per op. */
export interface Ops {
  count: number;
  name: Texts;
  kind: Coded;
  /** The devices as a text, and for each text their names. */
  device: Coded & { names: string[][] };
  phase: Coded;
  shape: Coded;
  /** The row of `views.code` and of `views.layers` that has the op, -1 if none. */
  line: Numbers;
  layer: Numbers;
  inputs: OpInputs;
  /** By `Metric.column`; only columns that are not all 0. */
  numbers: Record<string, Numbers>;
  /** How often each op ran in a step. */
  runs: Numbers;
  /** Times in whole microseconds by `Metric.key`, where `whole_micros.js` cannot derive them. */
  micros: Record<string, Numbers>;
  /** Whether microseconds are rounded so that sums stay correct, not each op for itself. */
  carries_micros: boolean;
}

/** A column of a table: a number of `Rows.total`, or a text of `ViewData.facts`. */
export interface Column {
  /** As in `-select` and `-order_by`. */
  key: string;
  /** The column of numbers; see `Metric.column`. -1 in `held_bytes` is unknown. */
  column: string;
  heading: string;
  /** The heading above it and its neighbours of the same group, or empty. */
  group: string;
  meaning: string;
  /** Null for texts. */
  unit: Unit | null;
}

/** Rows that were merged because the view is too large. */
export interface Merged {
  /** The number of rows that are not in the data. */
  rows: number;
  /** The rows of the data that stand for them. */
  at: Numbers;
  /** Their sums, by `Metric.column`. */
  numbers: Record<string, number>;
  /** The number of ops of each of the rows `at`, and these ops. */
  ops: { counts: Numbers; op: Numbers };
}

export type ViewKind = "layers" | "scope" | "graph" | "code" | "op";

/** How a view filters its rows; see `dialects.py`. */
export interface Policy {
  steps: string[];
  trimmed_rows_vanish: boolean;
  starts_by_default: boolean;
  counts_ops: boolean;
}

/** All rows of a view in preorder, the root first. */
export interface ViewData {
  kind: ViewKind;
  sentence: string;
  /** Whether rows are nested, and may contain many ops; see `views/registry.py`. */
  nested: boolean;
  gathered: boolean;
  policy: Policy;
  /** The key that siblings are sorted by; empty if they have the order of the arrangement. */
  order: string;
  /** The rows below row `i` are `i + 1` up to `end[i]`. */
  end: Numbers;
  name: Texts;
  /** The op of each row, -1 if it is not one op. */
  op: Numbers;
  /** The number of ops of each row itself. */
  ops: Numbers;
  /** Whether each row shows its own numbers (1) or `–` (0), as in tables. */
  accounted: Numbers;
  /** Own numbers by column. A column that is missing here is that of the row's op. */
  own: Record<string, Numbers>;
  /**
   * Totals by column. A column that is missing here is the sum over the row and those below it.
   * In a flat view, the total of a row is its own number: Python's totals depend on the order there.
   */
  total: Record<string, Numbers>;
  /** Texts about rows, such as `layer_class` and `output_shape`. */
  facts: Record<string, Coded>;
  /** Columns that the table shows besides the chosen metric. */
  columns: Column[];
  merged: Merged | null;
  notes: string[];
}

/** What the names and the nesting of rows need; names are searched in their `whole` form too. */
export type RowTexts = Pick<ViewData, "nested" | "sentence" | "end" | "name">
  & { kind: string, whole?: Texts };

/** One of the numbers at the top of the first screen. */
export interface Card {
  label: string;
  text: string;
  detail: string;
  value: number;
  command: string;
}

/** Where the time of one step goes; the parts add up to the whole. */
export interface StepBar {
  title: string;
  unit: Unit;
  whole: number;
  parts: { key: string; label: string; value: number }[];
  command: string;
}

export interface Finding {
  checker: string;
  sentence: string;
  gain: { text: string; share: number; value: number; unit: Unit } | null;
  /** Cells are texts, or numbers in the unit of their column; `view` has rows for the texts. */
  evidence: {
    columns: { heading: string; unit: Unit | null; view: ViewKind | null }[];
    rows: (string | number)[][];
  };
  /** The ops, kinds, lines of code or devices that the finding concerns. */
  ops: string[];
  command: string;
}

export interface Advice {
  findings: Finding[];
  /** Checkers that ran and found nothing, with what they look for. */
  quiet: { checker: string; summary: string }[];
  notes: string[];
}

/** The groups of the drawn graph in preorder, the whole graph first, and how each op is drawn. */
export interface GraphData {
  /** The groups inside of group `i` are `i + 1` up to `end[i]`. */
  end: Numbers;
  label: Texts;
  /** The row of `views.layers` that the group is, -1 if none. */
  row: Numbers;
  /** What each group is: see `GROUP` in `graph_tree.js`. */
  kind: Numbers;
  /** Whether the group is drawn beside the forward pass. */
  aside: Numbers;
  ops: {
    group: Numbers;
    /** How many rows the op that this one is drawn in is before it; one more if there is none. */
    back: Numbers;
    /** See `FLAG` in `graph_tree.js`. */
    flags: Numbers;
    /** For each gradient, the op that it is drawn in without the backward pass, -1 if none. */
    forward: Numbers;
  };
}

/** Numbers of which few need more than 32 bits: `low[i]`, plus `high[j]` high words in `rows[j]`. */
export interface WideNumbers { low: Numbers; rows: Numbers; high: Numbers }

/** When everything ran, in nanoseconds from the start of the first step; see `page/timeline.py`. */
export interface TimelineData {
  recordings: string[];
  /** The devices that were busy. */
  groups: TimelineGroup[];
  tracks: TimelineTrack[];
  /** One row per run of an op, transfer or wait: those of each track in order of their starts. */
  runs: {
    /** The distance from the start of the run before it; `TimelineTrack.first` is the first start. */
    start: WideNumbers;
    duration: WideNumbers;
    /** A row of `Ops`; other runs have `-1 - i` for the text `i` of `names`. */
    op: Numbers;
    lane: Numbers;
    /** A row of `steps`. */
    step: Numbers;
    names: Texts;
  };
  steps: TimelineSteps;
  /** What the page has no room for; null if it has everything. */
  left_out: { runs: number; nanos: number; all_runs: number; all_nanos: number; steps: number } | null;
  notes: string[];
}

export interface TimelineGroup { recording: number; name: string; models: string[] }

export type TimelineKind = "waits" | "ops" | "iterators" | "transfers";

export interface TimelineTrack {
  recording: number;
  /** A row of `groups`, -1 for waits. */
  group: number;
  kind: TimelineKind;
  title: string;
  count: number;
  first: number;
  lanes: number;
}

/** One row per step, with the times of `tfprof steps`. */
export interface TimelineSteps {
  recording: Numbers;
  number: Numbers;
  start: Numbers;
  wall: Numbers;
  busy: Numbers;
  idle: Numbers;
  input_wait: Numbers;
  op_time: Numbers;
  ops: Numbers;
  /** Parts of the wall time, which add up to it. */
  phases: Record<string, Numbers>;
  /** How long each group was busy, -1 if it did nothing. */
  devices: Numbers[];
  /** The median step of each recording. */
  medians: number[];
  unusual: { step: number; causes: string[] }[];
  /** Whether the page has all runs of a step (1) or not (0). */
  whole: Numbers;
}

export interface MemoryData { [key: string]: unknown }

/** Memory over time: one entry per allocator and device, highest peak first. Times are nanoseconds. */
export interface MemoryData {
  notes: string[];
  /** The default limits of `tfprof memory`. */
  most_rows: number;
  most_depth: number;
  holders: MemoryHolders;
  allocators: MemoryAllocator[];
}

/** The ops that allocated or released memory in any `MemoryStep.changes`. */
export interface MemoryHolders {
  kind: Coded;
  line: Coded | null;
  /** The row of `scopes` that each holder is. */
  row: Numbers;
  /** A tree in preorder. */
  scopes: { end: Numbers; name: Texts };
}

export interface MemoryAllocator {
  title: string;
  /** Empty if there is only one recording. */
  recording: string;
  /** The peaks of all steps; `steps` may have only those with the highest ones. */
  step_peaks: { step: number; bytes: number }[];
  steps: MemoryStep[];
}

export interface MemoryStep {
  step: number;
  peak_bytes: number;
  peak_ns: number;
  left_bytes: number;
  reached_by: { op: string; bytes: number }[];
  /** What the memory at the peak is for; empty if that is unknown. */
  purposes: { name: string; bytes: number }[];
  curve: MemoryPoints;
  /** The bytes in use as the allocator itself reported them. */
  levels: MemoryPoints | null;
  /** In order of time, or null if they were too many; then `held` has what held the peak. */
  changes: MemoryChanges | null;
  held: Record<string, MemoryHeld> | null;
}

/** Bytes from each time on; `points` is the number of points before the curve was thinned. */
export interface MemoryPoints { time: Numbers; bytes: Numbers; points: number }

export interface MemoryChanges { time: Numbers; holder: Numbers; bytes: Numbers }

export interface MemoryHeld {
  name: Texts;
  depth: Numbers;
  bytes: Numbers;
  ops: Numbers;
  hidden_rows: number;
  hidden_bytes: number;
}

/** The kernels of accelerators: row 0 is all together, then those that took the most time. */
export interface KernelData {
  /** Short names, which are unique, and those of the source. */
  name: Texts;
  whole: Texts;
  numbers: Record<"launches" | "total" | "mean" | "min" | "max", Numbers>;
  /** The achieved occupancy in millionths, -1 if unknown. */
  occupancy: Numbers;
  facts: Record<KernelFactName, KernelFact>;
  left_out: { kernels: number; nanos: number };
  notes: string[];
}

export type KernelFactName =
  "registers" | "shared_memory" | "grids" | "blocks" | "streams" | "ops" | "modules" | "shapes";

/** The values of each row, the one with the most time first: its `lengths[i]` next `codes`. */
export interface KernelFact extends Coded {
  lengths: Numbers;
  /** How many values are not listed. */
  left: Numbers;
}

export interface Payload {
  schema: string;
  version: string;
  title: string;
  /** The words after the command that load the same files: `tfprof scope WORDS`. */
  words: string;
  facts: string[];
  notes: string[];
  cards: Card[];
  bar: StepBar | null;
  metrics: Metric[];
  ops: Ops;
  views: Record<ViewKind, ViewData>;
  /** Only in a page without a server; see `Provider.graph`. */
  graph?: GraphData | null;
  timeline: TimelineData | null;
  memory: MemoryData | null;
  /** Null if no kernel was recorded. */
  kernels: KernelData | null;
  advice: Advice;
  /** Why a view has nothing to show, by view. */
  missing: Record<string, string>;
  /** The options that choose, count or order rows. */
  options: Option[];
  /** What `order_by` can be. */
  order_keys: string[];
  /** What to write instead of an invalid regex, by the start of RE2's error. */
  advice_on_regexes: Record<string, string>;
}

/** An option of views, as on the command line. */
export interface Option {
  name: string;
  /** The default on the command line. */
  value: string;
  help: string;
  kind: "number" | "step" | "switch" | "regexes" | "key" | "types" | "dialect" | "numbers";
  /** What help shows for the value, such as `REGEX,…`. */
  placeholder: string;
  /** The `Metric.key` of a threshold, else empty, and its unit. */
  metric: string;
  unit: Unit;
  /** Whether the metric is measured, so that rows of single ops compare their totals. */
  is_measured: boolean;
}

/** The rows of a view that are shown, in order. */
export interface Rows {
  data: ViewData;
  /** The row of `data` that each shown row is; the first is the root. */
  row: Int32Array;
  /** Subtree ends and depths among the shown rows; the root has depth 1. */
  end: Int32Array;
  depth: Int32Array;
  /** Own and total numbers by row of `data`. */
  own(column: string): Numbers;
  total(column: string): Numbers;
  /**
   * The number of each op, 0 if it does not count towards totals, and the row of `data` that it is
   * part of, -1 if none.
   */
  ofOps(column: string): Numbers;
  rowOfOps(): Numbers;
  /** The number of ops of each row of `data` that count towards totals. */
  opCounts(): Numbers;
  /** What is merged in these rows. */
  merged: Merged | null;
  notes: string[];
  /** Why options leave rows out; a server adds this to the notes. */
  cuts?: string[];
  /** The options that these rows answer, and what is wrong with newer ones; see `guarded.js`. */
  asked?: Record<string, string>;
  problem?: { option: string; message: string };
}

/** The rows of a view with some options, as a server answers; see `page/answer.py`. */
export interface Answer {
  /** Without names and facts if these are rows of the page. */
  view: ViewData;
  /** The row of the page's data that each row is; null if these are other rows. */
  row: Numbers | null;
  ops: {
    /** Whether each op counts (1) or not (0); null if all do. */
    counted: Numbers | null;
    /** By `Metric.column`; a column that is missing here is that of the page. */
    numbers: Record<string, Numbers>;
    /** The row of each op, -1 if none; null if these are rows of the page. */
    row: Numbers | null;
  };
}

/** Answers questions: from the data of the page, or by asking the server. */
export interface Provider {
  /** Whether an option can be set: a page without a server cannot count ops again. */
  supports(option: string): boolean;
  ask(kind: ViewKind, options: Record<string, string>): Promise<Rows>;
  /** How the graph is drawn, null if it has no ops. */
  graph(): Promise<GraphData | null>;
}

export interface State {
  view: string;
  /** The `key` of a metric. */
  metric: string;
  /** Options that differ from the defaults of the page, by name. */
  options: Record<string, string>;
  /** The selected row of the current view's data, -1 if none, and its op, -1 if not one op. */
  row: number;
  op: number;
  search: string;
  /** What the view of memory shows: allocator, step, time and grouping; empty for the peak. */
  memory: string;
  /** What the timeline shows: its window in nanoseconds and the selected run; empty at first. */
  timeline: string;
  /** The name of the selected kernel, and what kernels are sorted by. */
  kernel: string;
  sort_by: string;
}

export type Changed = Set<keyof State>;

/** How the URL names the selected row. */
export interface LinkedRows {
  words(state: Pick<State, "view" | "row" | "op">): [string, string][];
  find(view: string, words: URLSearchParams): Pick<State, "row" | "op">;
  /** Called when another view is shown. */
  leave(): void;
}

export interface Store<R extends LinkedRows = import("./shown_rows.js").ShownRows> {
  readonly state: Readonly<State>;
  /** The rows that `row` refers to. */
  readonly rows: R;
  /** Change the state, tell all subscribers and update the URL; another view is a new entry. */
  set(part: Partial<State>): void;
  /** The same for a link: what is left stays in the history of the browser. */
  visit(part: Partial<State>): void;
  /** Change the state after a pause in milliseconds, or before this entry of the history is left. */
  setLater(part: () => Partial<State>, pause: number): void;
  subscribe(listener: (changed: Changed) => void): void;
}

export interface Context {
  payload: Payload;
  store: Store;
  provider: Provider;
}

/** What a search found: how many things of the view, the selected one of them, and what is hidden. */
export interface Found {
  found: number;
  /** Matches that the current options do not show. */
  hidden: number;
  /** The number of all things, such as rows, and what they are. */
  all: number;
  unit: string;
  /** The place of the selected match among those that are shown, 0 if none is selected. */
  place: number;
  /** The view that was searched if it is not the visible one, or empty. */
  where: string;
  /** The number of rows that the page does not have. */
  merged: number;
}

/** Searches a view that has no rows. */
export interface Finder {
  find(): Found;
  /** Select the next (1) or the previous match (-1). */
  go(step: number): void;
}

export interface Component {
  element: HTMLElement;
  /** Called after the state changed while the component is visible, and when it becomes visible. */
  update(changed: Changed): void;
  /**
   * Whether it can show newer numbers for the same rows: `payload` then has other content, and
   * `update` is called with all keys. Otherwise it is mounted again.
   */
  renews?: boolean;
  /** Called when it is mounted again, to stop following what outlives it, such as the window. */
  dispose?(): void;
  /** For a view that has other things than rows to search. */
  finder?: Finder;
}

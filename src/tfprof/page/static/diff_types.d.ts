// The data of a diff page. `page/diff_content.py` writes it; `container.js` unpacks it.

import type {
  Numbers, Ops, RowTexts, State, Store, Texts, TimelineData, Unit, ViewKind,
} from "./types.d.ts";

/** A number that can be chosen for the whole page. */
export interface DiffMetric {
  key: string;
  /** As in `-select`. */
  select: string;
  /** The key in `DiffViewData.numbers`. */
  column: string;
  label: string;
  meaning: string;
  unit: Unit;
  /** Whether it was measured anew in each step. */
  is_time: boolean;
}

/** Whether the steps show a difference, and the 95 % interval of the change, in nanoseconds. */
export type DiffTimes =
  | { is_conclusive: false }
  | { is_conclusive: true; shown: Numbers; low: Numbers; high: Numbers };

/** A number of each row on both sides: of the median step for times, if there are enough steps. */
export interface DiffNumber {
  before: Numbers;
  after: Numbers;
  /** Whether a table of changes lists the row (1) or not (0). */
  listed: Numbers;
  /** The rows that it does not list: those without a change, and those with a small one. */
  unchanged: number;
  small: number;
  /** Null for numbers that are exact. */
  times: DiffTimes | null;
}

/** All rows of a view on both sides in preorder, the root first. */
export interface DiffViewData extends RowTexts {
  kind: ViewKind;
  /** What happened to each row; see `diff_marks.js`. */
  mark: Numbers;
  /** The rows that were renamed or moved, and their names in the base. */
  renamed: { row: Numbers; name: Texts };
  numbers: Record<string, DiffNumber>;
  /** What the page has no room for: the number of rows, and their sums by column. */
  left_out: { rows: number; before: Record<string, number>; after: Record<string, number> } | null;
}

/** A number of the whole model; `before` and `after` of a time are medians. */
export interface DiffTotal {
  label: string;
  unit: Unit;
  before: number;
  after: number;
  detail: string;
  times: { is_conclusive: boolean; shown: boolean; low: number; high: number } | null;
}

/** The runs of one side, its ops that ran, and the row of each of them in each view. */
export interface DiffTimeline {
  data: TimelineData;
  ops: Pick<Ops, "count" | "name" | "kind" | "phase">;
  row: Record<ViewKind, Numbers>;
}

export interface DiffPayload {
  schema: string;
  version: string;
  title: string;
  /** The words after `tfprof diff` that load the same files; empty if they are unknown. */
  words: string;
  /** The base and the new profile. */
  sides: { name: string; facts: string[] }[];
  notes: string[];
  sentences: string[];
  totals: DiffTotal[];
  metrics: DiffMetric[];
  views: Partial<Record<ViewKind, DiffViewData>>;
  timelines: [DiffTimeline, DiffTimeline] | null;
  /** Why a view has nothing to show, by view. */
  missing: Record<string, string>;
}

export type DiffStore = Store<import("./diff_links.js").DiffLinks>;

export interface DiffContext {
  payload: DiffPayload;
  store: DiffStore;
}

/** A part of the page; `update` is called after each change of the state. */
export interface DiffPart {
  element: HTMLElement;
  update(changed: Set<keyof State>): void;
}

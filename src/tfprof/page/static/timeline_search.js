// Searches the runs of a timeline.

/** @typedef {import("./timeline_runs.js").Runs} Runs */
/** @typedef {import("./timeline_selection.js").Selection} Selection */
/** @typedef {import("./timeline_window.js").TimeWindow} TimeWindow */
/** @typedef {import("./types.d.ts").Finder} Finder */
/** @typedef {import("./types.d.ts").Store} Store */

/** @implements {Finder} */
export class RunFinder {
  /**
   * @param {Runs} runs
   * @param {Selection} selection
   * @param {TimeWindow} shown
   * @param {Store} store
   */
  constructor(runs, selection, shown, store) {
    this.runs = runs;
    this.selection = selection;
    this.shown = shown;
    this.store = store;
  }

  find() {
    const { runs, selection: { run: selected } } = this;
    const matches = this.matches();
    let [found, place] = [0, matches(selected) ? 1 : 0];
    for (let run = 0; run < runs.count; run += 1) {
      if (!matches(run)) continue;
      found += 1;
      if (place > 0 && this.isBefore(run, selected)) place += 1;
    }
    return { found, hidden: 0, all: runs.count, place, unit: "runs", where: "", merged: 0 };
  }

  /**
   * Select the match after or before the selected run, or in the window; from the last one, the
   * first one follows.
   * @param {number} step
   */
  go(step) {
    const matches = this.matches();
    const isNext = (/** @type {number} */ one, /** @type {number} */ other) =>
      (step > 0 ? this.isBefore(one, other) : this.isBefore(other, one));
    let [next, first] = [-1, -1];
    for (let run = 0; run < this.runs.count; run += 1) {
      if (!matches(run)) continue;
      if (first < 0 || isNext(run, first)) first = run;
      if (this.isAhead(run, step) && (next < 0 || isNext(run, next))) next = run;
    }
    if (next >= 0 || first >= 0) this.selection.select(next >= 0 ? next : first);
  }

  matches() {
    const found = this.runs.matching(this.store.state.search) ?? (() => false);
    return (/** @type {number} */ run) => run >= 0 && found(run);
  }

  /**
   * Whether a run is in the direction of a step.
   * @param {number} run
   * @param {number} step
   */
  isAhead(run, step) {
    const { runs, shown, selection: { run: selected } } = this;
    if (selected >= 0) {
      return step > 0 ? this.isBefore(selected, run) : this.isBefore(run, selected);
    }
    return step > 0 ? runs.end[run] >= shown.from : runs.start[run] <= shown.to;
  }

  /**
   * @param {number} one
   * @param {number} other
   */
  isBefore(one, other) {
    const { start } = this.runs;
    return start[one] < start[other] || (start[one] === start[other] && one < other);
  }
}

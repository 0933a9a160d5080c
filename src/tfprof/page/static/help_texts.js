// What each view shows, what its numbers mean, and what they do not mean.

/** @type {Record<string, string>} */
export const HELP = {
  overview: "The model in a few numbers, where the time of a step goes, what costs most, and what "
    + "could be improved. The parts of the bar add up to the wall time of the median step. In the "
    + "lists, shares are of the whole model. ≥ means that some ops could not be counted, so the "
    + "true number is larger.",
  layers: "The layers of the model, each with everything inside it (total) and without the layers "
    + "inside it (own). Do not add up the totals of a layer and of its parts: they count the same "
    + "ops. Gradients belong to the layer whose gradients they are, so the time of a layer is "
    + "that of the forward and the backward pass.",
  scope: "All ops by the slashes in their names. The total of a scope includes everything below "
    + "it. Times of ops are added up even if they ran at the same time on several devices or "
    + "threads, so a total can be longer than the step took: the wall time is in the timeline.",
  graph: "How data flows through the model, from top to bottom. The number of a box includes "
    + "everything inside it. Constants, variables and shape arithmetic are drawn inside the op "
    + "that uses them, and control dependencies are not drawn. In the rows below, an op's total "
    + "includes the inputs below it; an op that several others use counts below one of them only.",
  code: "The lines of your code that created the ops, with the calls below them. The total of a "
    + "line includes the calls that it makes. Times are those of the ops in the model, not of "
    + "Python: a slow line of Python that creates no ops has no time here.",
  op: "The kinds of op, such as Conv2D, each with the sum over all ops of the kind. Rows do not "
    + "overlap, so their numbers and shares add up to the whole. The sum does not say whether one "
    + "op is slow or many are fast: the details list the largest ones.",
  timeline: "Every recorded run of every op, when it ran and on which device. Runs above each "
    + "other ran at the same time. Gaps are time in which nothing was recorded: the device was "
    + "idle, or it did something that the recording does not contain. In an overview, where runs "
    + "are too narrow to draw, the height of a column is the share of the time that was busy.",
  memory: "The memory that ops held during a step, from 0 at its start: what was allocated before "
    + "the step, such as variables, is not part of it. It is what the recording knows about "
    + "allocations; fragmentation and libraries that bypass the allocator are not in it, so a "
    + "device can run out of memory below its limit.",
  advice: "What the checkers of tfprof advise found, the largest possible gain first. A gain is an "
    + "estimate of what could be saved at most, from these numbers alone, and gains overlap: do "
    + "not add them up. A checker without a finding is no proof that all is well.",
  kernels: "What ran on accelerators, without copies and fills of memory: how often, for how long, "
    + "and how it was launched. Times are sums over all steps, while other views have averages of "
    + "a step. Shares are of the time of all kernels, some of which may run at once. The occupancy "
    + "is an estimate of the profiler from the configuration, weighted by time, not a measurement. "
    + "+2 means two more values: the one that took the most time is shown.",
};

/** What holds for numbers in all views. */
export const NUMBERS = "Float operations are counted from the shapes of ops, and are not measured. "
  + "Times are recorded, averaged over the chosen steps, and include waiting on the CPU. Press c "
  + "to copy the command that prints the same numbers.";

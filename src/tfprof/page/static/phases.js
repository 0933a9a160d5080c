// The colours of the parts of a step, the same in all pictures.

/** @type {Record<string, string>} */
export const PHASE_COLOURS = {
  forward: "--c0",
  backward: "--c1",
  optimizer: "--c2",
  input: "--c4",
  other: "--c7",
  communication: "--c3",
  transfers: "--c6",
  idle_input_wait: "--c5",
  idle_other: "--idle",
};

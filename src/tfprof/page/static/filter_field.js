// A field of the filter bar, which sets one option.

import { amountOf, EXAMPLES, typed } from "./amounts.js";
import { fill, h } from "./dom.js";
import { isThreshold } from "./options.js";

/** @typedef {import("./types.d.ts").Option} Option */

/**
 * A field: `show` sets its text, its error and, for a menu, its choices.
 * @typedef {{
 *   element: HTMLElement,
 *   show: (value: string | undefined, error: string, choices?: [string, string][]) => void,
 * }} Field
 */

/** How long to wait for the next letter before a text is used, in milliseconds. */
const PAUSE = 300;

/**
 * @param {Option} option
 * @param {(value: string | undefined) => void} set undefined restores the default
 * @returns {Field}
 */
export function createField(option, set) {
  const input = option.kind === "key" || option.kind === "switch" ? menu() : textInput(option);
  const id = `filter-${option.name}`;
  const error = h("span", { class: "filter-error", id: `${id}-error`, role: "alert" });
  input.id = id;
  input.title = option.help;
  input.setAttribute("aria-description", option.help);
  input.setAttribute("aria-errormessage", error.id);
  const element = h(
    "div",
    { class: "filter-field", "data-option": option.name },
    h("label", { for: id, title: option.help }, option.name),
    input,
    error,
  );
  let pause = 0;
  let isTyping = false;
  let latest = "";

  /** @param {string} message */
  function complain(message) {
    // The field has the name of the option already.
    const text = message.replace(`\`${option.name}\``, "").replace(/^(: | )/, "");
    fill(error, text);
    error.title = text;
    input.setAttribute("aria-invalid", String(message !== ""));
  }

  function commit() {
    clearTimeout(pause);
    isTyping = false;
    if (input.value === latest) return;
    latest = input.value;
    const { value, problem } = read(option, latest);
    complain(problem);
    if (!problem) set(value);
  }

  input.addEventListener("input", () => {
    clearTimeout(pause);
    isTyping = true;
    pause = setTimeout(commit, input instanceof HTMLSelectElement ? 0 : PAUSE);
  });
  input.addEventListener("change", commit);
  input.addEventListener("keydown", (event) => {
    if (/** @type {KeyboardEvent} */ (event).key === "Enter") commit();
  });

  return {
    element,
    show(value, problem, choices) {
      if (isTyping) return; // what the reader types stays as it is
      if (choices) fill(input, choices.map(([key, label]) => h("option", { value: key }, label)));
      const isSame = read(option, input.value).value === value && input.value !== "";
      if (!isSame || document.activeElement !== input) input.value = shownText(option, value);
      latest = input.value;
      complain(problem);
    },
  };
}

function menu() {
  return /** @type {HTMLSelectElement} */ (h("select", null));
}

/** @param {Option} option */
function textInput(option) {
  const unset = option.name === "max_depth" ? "all" : option.value || "none";
  const placeholder = isThreshold(option) ? `e.g. ${exampleOf(option)}` : unset;
  const attributes = { type: "text", placeholder, spellcheck: "false", autocomplete: "off" };
  return /** @type {HTMLInputElement} */ (h("input", { ...attributes, class: option.kind }));
}

/** @param {Option} option */
function exampleOf({ metric, unit }) {
  return metric === "occurrence" ? "10" : EXAMPLES[unit];
}

/**
 * The value of an option that a reader typed, undefined for its default, or what is wrong with it.
 * @param {Option} option
 * @param {string} text
 * @returns {{ value: string | undefined, problem: string }}
 */
function read(option, text) {
  if (text.trim() === "") return { value: undefined, problem: "" };
  if (!isThreshold(option)) return { value: text, problem: "" };
  const number = amountOf(text, option.unit);
  if (number !== null) return { value: String(number), problem: "" };
  const problem = `takes a number such as ${exampleOf(option)}, not \`${text}\`.`;
  return { value: undefined, problem };
}

/**
 * A value as the field shows it.
 * @param {Option} option
 * @param {string | undefined} value
 */
export function shownText(option, value) {
  if (value === undefined) return "";
  const isNumber = isThreshold(option) && /^\d+$/.test(value);
  return isNumber ? typed(Number(value), option.unit) : value;
}

// Copies text.

import { h } from "./dom.js";

/**
 * A button that copies a text. Where the browser does not allow that, it selects it instead.
 * @param {string} text
 * @param {HTMLElement} shown the element that shows the text
 * @param {string} label
 */
export function copyButton(text, shown, label) {
  const button = h("button", { class: "quiet-button", type: "button", title: label }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection()?.selectAllChildren(shown);
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return button;
}

// The button that chooses between light and dark.

import { nextTheme, theme } from "./chosen_theme.js";
import { fill, h } from "./dom.js";

/** A button that shows the theme and chooses the next one. */
export function themeButton() {
  const button = h("button", { class: "quiet-button theme-button", type: "button" });
  const show = () => fill(button, `Theme: ${theme()}`);
  button.addEventListener("click", () => {
    nextTheme();
    show();
  });
  show();
  return button;
}

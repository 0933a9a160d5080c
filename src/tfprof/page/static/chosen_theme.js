// The reader's choice between light and dark, which all reports of a browser share.

const KEY = "tfprof";
const THEMES = ["system", "light", "dark"];

// Some frames have no storage; there, a choice lasts until the page is left.
let chosen = "";

function remembered() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "null")?.theme;
  } catch {
    return "";
  }
}

/** The chosen theme. */
export function theme() {
  const found = chosen || remembered();
  return THEMES.includes(found) ? found : "system";
}

/** Choose the next theme. */
export function nextTheme() {
  chosen = THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length];
  try {
    localStorage.setItem(KEY, JSON.stringify({ theme: chosen }));
  } catch {
    // The choice is not remembered.
  }
  applyTheme();
}

/** Give the page the colours of the chosen theme. */
export function applyTheme() {
  const root = document.documentElement;
  if (theme() === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme();
  // Pictures are drawn with the colours of the theme, so they are drawn again.
  dispatchEvent(new Event("themechange"));
}

// Light and dark: the system's choice, or the reader's, which is remembered.

const KEY = "tfprof";
const THEMES = ["system", "light", "dark"];

/** @returns {Record<string, string>} */
function preferences() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {}; // storage is not available in some frames
  }
}

/** The chosen theme. */
export function theme() {
  const chosen = preferences()["theme"];
  return THEMES.includes(chosen) ? chosen : "system";
}

/** Choose the next theme. */
export function nextTheme() {
  const next = THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length];
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...preferences(), theme: next }));
  } catch {
    // The choice lasts until the page is left.
  }
  applyTheme(next);
}

/**
 * Set the colours of the page.
 * @param {string} chosen
 */
export function applyTheme(chosen) {
  const root = document.documentElement;
  if (chosen === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = chosen;
  // Pictures are drawn with the colours of the theme, so they are drawn again.
  dispatchEvent(new Event("themechange"));
}

/**
 * A colour of the theme, such as `--c0`, as a value that canvases accept.
 * @param {string} name
 */
export function colour(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

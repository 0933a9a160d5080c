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
 * Call a listener when the colours change, as long as its owner is in use.
 * @template {object} Owner
 * @param {Owner} owner
 * @param {(owner: Owner) => void} listener must not refer to the owner itself
 */
export function onThemeChange(owner, listener) {
  const reference = new WeakRef(owner);
  const system = matchMedia("(prefers-color-scheme: dark)");
  const changed = () => {
    const found = reference.deref();
    if (found) listener(found);
    else {
      removeEventListener("themechange", changed);
      system.removeEventListener("change", changed);
    }
  };
  addEventListener("themechange", changed);
  system.addEventListener("change", changed);
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

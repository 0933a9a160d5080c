// The colours of the theme, for pictures that are drawn with them.

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

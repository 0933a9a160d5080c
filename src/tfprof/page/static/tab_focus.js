// Arrow keys in a row of tabs.

/**
 * Focus and choose the next or the previous tab.
 * @param {KeyboardEvent} event
 */
export function moveFocus(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const list = /** @type {HTMLElement} */ (event.currentTarget);
  if (step === undefined) return;
  const tabs = /** @type {HTMLElement[]} */ ([...list.children]);
  const place = tabs.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const next = tabs[(place + step + tabs.length) % tabs.length];
  next.focus();
  next.click();
  event.preventDefault();
}

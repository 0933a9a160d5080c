// The part of the page's address after the `#`.

/**
 * Browsers refuse to change the address more often, as it happens while an arrow key is held down:
 * this many times in as many milliseconds.
 */
const MOST = 5;
const PERIOD = 500;

export class Address {
  /** @param {() => string} words what the address is now to have */
  constructor(words) {
    this.words = words;
    this.recent = 0;
    this.isDue = false;
    this.isLeft = false;
    addEventListener("pagehide", () => {
      this.isLeft = true;
      this.finish();
    });
    addEventListener("pageshow", () => (this.isLeft = false));
  }

  /** Write the words to the address: at once, or when the browser allows it. */
  replace() {
    this.isDue = true;
    if (this.recent >= MOST && !this.isLeft) return;
    this.finish();
    this.recent += 1;
    setTimeout(() => {
      this.recent -= 1;
      if (this.isDue) this.replace();
    }, PERIOD);
  }

  /** Write what is due. */
  finish() {
    if (this.isDue) changeHistory("replaceState", this.words());
    this.isDue = false;
  }

  /** Write the words to a new entry of the history. */
  push() {
    this.isDue = false;
    changeHistory("pushState", this.words());
  }
}

/**
 * @param {"replaceState" | "pushState"} method
 * @param {string} words
 */
function changeHistory(method, words) {
  try {
    history[method](null, "", `#${words}`);
  } catch {
    // The frame of a notebook has no address.
  }
}

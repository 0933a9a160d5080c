"""Opens pages in Chromium, and measures what it takes to open, show and move them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

BROWSERS = ("chromium", "google-chrome", "chromium-headless-shell")
EXECUTABLE = next(filter(None, map(shutil.which, BROWSERS)), None)
_SWITCHES = ["--disable-gpu", "--disable-background-networking", "--disable-component-update"]
_SIZE = {"width": 1440, "height": 900}
_SETTLED = 500  # milliseconds after which a page has done what it does without being asked
_BLOCKING = 50  # milliseconds of a task that a reader does not notice, as browsers define it

# Runs before the scripts of a page. A page is ready when an element was painted.
_WATCH = """
window.longTasks = [];
new PerformanceObserver((list) => window.longTasks.push(...list.getEntries()))
    .observe({ type: "longtask", buffered: true });
window.ready = new Promise((resolve) => {
    function look() {
        if (document.querySelector(%s)) setTimeout(() => resolve(performance.now()));
        else requestAnimationFrame(look);
    }
    requestAnimationFrame(look);
});
"""

# Pictures are drawn in the frame after the one that creates them.
_PAINTED = """
const frame = () => new Promise(requestAnimationFrame);
const painted = async () => {
    await frame();
    await frame();
    await new Promise((resolve) => setTimeout(resolve));
};
"""

_SHOW = f"""async (view) => {{
    {_PAINTED}
    const start = performance.now();
    document.getElementById(`tab-${{view}}`)?.click();
    await painted();
    return performance.now() - start;
}}"""

# Whether the shown view has text, and a picture if it has a place for one.
_IS_SHOWN = """() => {
    const view = document.getElementById("view");
    const isVisible = (element) => element.getClientRects().length > 0;
    const isDrawn = (canvas) => {
        const pen = canvas.getContext("2d");
        return new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer)
            .some((pixel) => pixel !== 0);
    };
    const canvases = [...view.querySelectorAll("canvas")].filter(isVisible);
    return view.innerText.length > 0 && (canvases.length === 0 || canvases.some(isDrawn));
}"""

# Turn the wheel once per frame; returns the time from each frame to the next.
_TURN = """async ({ selector, turns }) => {
    const element = document.querySelector(selector);
    const { left, top, width } = element.getBoundingClientRect();
    const times = [];
    let last = await new Promise(requestAnimationFrame);
    for (const turn of turns) {
        element.dispatchEvent(new WheelEvent("wheel", {
            ...turn, bubbles: true, cancelable: true,
            clientX: left + width / 3, clientY: top + 60,
        }));
        const now = await new Promise(requestAnimationFrame);
        times.push(now - last);
        last = now;
    }
    return times;
}"""


class Opening(NamedTuple):
    """What opening a page takes until it is ready, in milliseconds."""

    first_paint: float
    ready: float
    main_thread: float  # processor time, whatever else the machine does
    blocked: float  # by tasks, beyond what a reader does not notice of each
    longest_task: float


class Frames(NamedTuple):
    """Times of frames while something moves, in milliseconds."""

    times: list[float]
    main_thread: float  # processor time per frame


class Chromium:
    """A browser that opens one page."""

    def __init__(self, browser: Browser) -> None:
        self.page: Page = browser.new_page(viewport=_SIZE)
        self._session: CDPSession = self.page.context.new_cdp_session(self.page)
        self._session.send("Performance.enable")

    def open(self, address: str, ready: str) -> Opening:
        """Open a page; it is ready when an element that `ready` selects was painted."""
        self.page.add_init_script(_WATCH % json.dumps(ready))
        self.page.goto(address, wait_until="commit")  # large tables take longer than its time limit
        time = self.page.evaluate("window.ready")
        worked = self._main_thread()
        self.page.wait_for_timeout(_SETTLED)
        paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        tasks = [
            one["duration"]
            for one in json.loads(self.page.evaluate("JSON.stringify(window.longTasks)"))
            if one["startTime"] < time
        ]
        blocked = sum(duration - _BLOCKING for duration in tasks)
        longest = max(tasks, default=0)
        return Opening(self.page.evaluate(paint), time, worked, blocked, longest)

    def show(self, view: str) -> float:
        """The milliseconds until a view is painted, at least two frames."""
        time = float(self.page.evaluate(_SHOW, view))
        if not self.page.evaluate(_IS_SHOWN):
            raise RuntimeError(f"the view {view} was not painted")
        return time

    def turn_wheel(self, selector: str, turns: list[dict[str, object]]) -> Frames:
        """Turn the wheel once per frame."""
        start = self._main_thread()
        times = self.page.evaluate(_TURN, {"selector": selector, "turns": turns})
        return Frames(times, (self._main_thread() - start) / len(turns))

    def heap(self) -> float:
        """Megabytes of objects and arrays that are in use."""
        self._session.send("HeapProfiler.collectGarbage")
        usage = self._session.send("Runtime.getHeapUsage")
        return (usage["usedSize"] + usage["backingStorageSize"]) / 1e6

    def _main_thread(self) -> float:
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "ThreadTime") * 1000


@contextmanager
def chromium() -> Iterator[Chromium]:
    """A browser of its own, so that nothing is known from earlier."""
    # Chromium's sandbox does not work for root.
    switches = [*_SWITCHES, "--no-sandbox"] if os.geteuid() == 0 else _SWITCHES
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=switches)
        yield Chromium(browser)
        browser.close()


def version() -> str:
    """The version of the browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=["--no-sandbox"])
        found = browser.version
        browser.close()
    return found

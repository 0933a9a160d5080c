"""A report that shows the timeline, and reports of profiles that tests build."""

from __future__ import annotations

from pathlib import Path

from build import profile
from report_pages import settled
from tfprof.api import Profile


class Timeline:
    """The timeline of a page."""

    def __init__(self, page):
        self.page = page
        self.canvas = page.locator("canvas.timeline-overlay")
        self.details = page.locator(".timeline-details")

    @property
    def window(self):
        """The visible time, in nanoseconds from the start of the first step."""
        settled(self.page)
        found = self.page.locator(".timeline")
        return int(found.get_attribute("data-from")), int(found.get_attribute("data-to"))

    @property
    def length(self):
        start, end = self.window
        return end - start

    def x(self, time):
        start, end = self.window
        box = self.canvas.bounding_box()
        return box["x"] + (time - start) / (end - start) * box["width"]

    def y(self, label, lane=0):
        """The middle of a lane of the first track with that label."""
        box = self.page.locator(".timeline-label", has_text=label).first.bounding_box()
        return box["y"] + (lane + 0.5) * box["height"]

    def click(self, time, label, lane=0):
        self.page.mouse.click(self.x(time), self.y(label, lane))

    def shown(self, field):
        return float(self.details.locator(f"[data-field='{field}']").get_attribute("data-value"))

    def drag(self, start, end, y):
        self.page.mouse.move(start, y)
        self.page.mouse.down()
        self.page.mouse.move((start + end) / 2, y)
        self.page.mouse.move(end, y)
        self.page.mouse.up()

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def name(self):
        """What the details are about."""
        return self.details.locator("h2").inner_text()


def timeline_of(open_report, folder: Path, *facts, **settings) -> Timeline:
    """The timeline of a profile of these facts."""
    path = folder / "report.html"
    Profile(profile(*facts)).report().save(path)
    page = open_report(path, state="view=timeline", **settings)
    return Timeline(settled(page))

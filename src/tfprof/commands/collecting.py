"""The command `collect`: collect the recordings of many hosts or steps into a store."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from tfprof.commands.progress import Bar
from tfprof.fleet.collect import Collected
from tfprof.fleet.collect import collect as collected
from tfprof.units import counted, format_bytes, format_percent

if TYPE_CHECKING:
    from tfprof.commands.command import Call

_MOST_NAMED = 20  # damaged files; JSON names all


def collect(call: Call) -> int:
    """Collect files into a store; returns 1 if none could be read."""
    with Bar(sys.stderr) as bar:
        report = _Report(call, bar)
        try:
            done = collected(
                call.words,
                call.value("outfile"),
                scheduler=call.value("scheduler"),
                jobs=call.value("jobs"),
                runs=call.value("runs"),
                overwrite=call.value("overwrite"),
                progress=report.progress,
            )
        except (KeyboardInterrupt, SystemExit):
            report.stopped()
            raise
    call.say(*done.notes)
    if call.value("json"):
        call.show([json.dumps(done.to_dict(), indent=2) + "\n"])
    else:
        call.say(_summary(done))
    return 0 if done.collected or done.finished else 1


class _Report:
    """Shows what was collected so far."""

    def __init__(self, call: Call, bar: Bar) -> None:
        self._call, self._bar = call, bar
        self._last: Collected | None = None

    def progress(self, done: Collected) -> None:
        """Show the progress, and the file that was read last if it is damaged."""
        known = len(self._last.damaged) if self._last else 0
        for file, trouble in done.damaged[known:_MOST_NAMED]:
            with self._bar.erased():
                self._call.say(f"skipped {file}: {trouble}")
        self._bar.reached(done.done, done.files, done.read_bytes, done.total_bytes)
        self._last = done

    def stopped(self) -> None:
        """Say how to continue."""
        if self._last is not None:
            again = " without --overwrite" if self._call.value("overwrite") else ""
            with self._bar.erased():
                self._call.say(
                    f"{self._last.done:,} of {counted(self._last.files, 'file')} done; the same "
                    f"command{again} continues."
                )


def _summary(done: Collected) -> str:
    parts = [f"collected {counted(done.collected, 'file')} in {done.seconds:.1f} s"]
    if done.written_bytes and done.collected:
        read, written = format_bytes(done.read_bytes), format_bytes(done.written_bytes)
        share = format_percent(done.written_bytes, done.read_bytes)
        parts.append(f"read {read}, wrote {written} ({share})")
    if done.finished:
        parts.append(f"{counted(done.finished, 'file')} unchanged since the last time")
    if done.damaged:
        parts.append(f"{counted(len(done.damaged), 'file')} skipped")
    return f"{done.store}: {'; '.join(parts)}."

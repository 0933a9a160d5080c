"""Pages that look like a terminal in which commands were typed, for screenshots."""

from __future__ import annotations

import html
import os
import re
import shlex
import sys
from pathlib import Path

from command_runs import SECONDS

COLUMNS = 100
ELEMENTS = {"1": "<strong>", "0": "</strong>"}  # by the number in an escape code
PAGE = """<!DOCTYPE html>
<meta charset="utf-8">
<title>Terminal</title>
<style>
  body {{ margin: 0; background: #14171c; color: #d5dae2; }}
  header {{ height: 40px; background: #262c35; font: 13px/40px sans-serif; text-align: center; }}
  header i {{ float: left; width: 12px; height: 12px; margin: 14px 0 0 12px; border-radius: 6px; }}
  pre {{ width: {columns}ch; margin: 16px auto; font: 14px/16px monospace; white-space: pre-wrap;
         overflow-wrap: anywhere; }}
  b {{ color: #5cb98a; }}
  strong {{ color: #ffffff; }}
</style>
<header>
  <i style="background: #e0665b"></i><i style="background: #d39a35"></i>
  <i style="background: #5cb98a"></i>{title}
</header>
<pre>{text}</pre>
"""


def write(commands: tuple[str, ...], folder: Path, path: Path) -> Path:
    """Write the page of a terminal in which `commands` were typed, in `folder`."""
    text = "\n".join(
        f"<b>$</b> <strong>{html.escape(line)}</strong>\n{marked(typed(line, folder))}"
        for line in commands
    )
    path.write_text(PAGE.format(columns=COLUMNS, title=folder.name, text=text), encoding="utf-8")
    return path


def typed(line: str, folder: Path) -> str:
    """What a command line prints on a terminal of 100 columns."""
    import pexpect  # noqa: PLC0415 -- does not exist for Windows

    environment = {k: v for k, v in os.environ.items() if k not in {"COLUMNS", "NO_COLOR"}}
    printed, status = pexpect.run(
        shlex.join(["bash", "-c", line.replace("tfprof", f"{sys.executable} -m tfprof", 1)]),
        cwd=str(folder),
        dimensions=(100, COLUMNS),
        encoding="utf-8",
        env=environment | {"TERM": "xterm", "PAGER": "cat"},
        withexitstatus=True,
        timeout=SECONDS,
    )
    assert status == 0, printed
    return shown(printed)


def shown(printed: str) -> str:
    """What remains on the screen: the progress line, shown when the machine is slow, is erased."""
    return re.sub(r"\r+\n", "\n", re.sub(r"[^\n]*\r\x1b\[K", "", printed))


def marked(printed: str) -> str:
    """Text with escape codes as HTML."""
    return re.sub(
        r"\x1b\[(\d+)m", lambda code: ELEMENTS[code[1]], html.escape(printed, quote=False)
    )

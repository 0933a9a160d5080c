"""Prints the versions of all installed packages, as constraints for pip: `make constraints`."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from importlib.metadata import distributions

# What installs packages, and this package itself.
LEFT_OUT = {"pip", "tfprof", "wheel"}
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def pinned() -> list[str]:
    """A line for each installed package; builds of a version, such as `+cpu`, count as the same."""
    versions = {
        re.sub(r"[-_.]+", "-", one.name).lower(): one.version.partition("+")[0]
        for one in distributions()
    }
    return [f"{name}=={versions[name]}" for name in sorted(versions.keys() - LEFT_OUT)]


def browser() -> str:
    """The version of the browser for the tests of the report page."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        return "no browser"
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"\d+(\.\d+)+", answer.stdout)
    return f"Chromium {version[0]}" if version else "Chromium"


if __name__ == "__main__":
    print("# The test environment; `make constraints` updates it.")
    print(f"# Resolved with Python {platform.python_version()}, and tested with {browser()}.")
    print(*pinned(), sep="\n")

"""Calls a function in a process of its own, to which no other test has done anything.

    result_in_own_process(function, "a word", 3)

The function is found by the file it is defined in and its name; words and result are JSON. This
file is also the program of that process.
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).parent

# Any call takes seconds; only one that never ends takes so long, also on a busy machine.
_MAX_SECONDS = 180


def result_in_own_process(function: Callable[..., Any], *words: Any) -> Any:
    """What a function returns there; fails with what the process printed if it raises or hangs."""
    name = name_of(function)
    try:
        ran = subprocess.run(
            [sys.executable, __file__, name, json.dumps(words)],
            capture_output=True,
            text=True,
            check=False,
            timeout=_MAX_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        printed = ((error.stdout or b"") + (error.stderr or b"")).decode(errors="replace")
        raise AssertionError(
            f"{name} did not end within {_MAX_SECONDS} seconds: {printed}"
        ) from None
    assert ran.returncode == 0, f"{name} failed: {ran.stderr}"
    return json.loads(ran.stdout)


def name_of(function: Callable[..., Any]) -> str:
    """The name under which another process finds a function: `folder.module:function`."""
    # pytest imports a test module by the name of its file, without its folder.
    path = Path(inspect.getfile(function)).relative_to(_TESTS).with_suffix("")
    return f"{'.'.join(path.parts)}:{function.__name__}"


def function_of(name: str) -> Callable[..., Any]:
    """The function that has this name."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


if __name__ == "__main__":
    print(json.dumps(function_of(sys.argv[1])(*json.loads(sys.argv[2]))))

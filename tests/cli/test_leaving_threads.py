"""The end of a command line while threads are still at work."""

import subprocess
import sys

import pytest

CODE = """
import atexit, threading
from tfprof.cli.process import leave_threads
left = threading.Event()
atexit.register(print, "removed", flush=True)
threading.Thread(target=left.wait, daemon={daemon}).start()
leave_threads(3)
print("left to Python", flush=True)
left.set()
"""


@pytest.mark.parametrize(
    ("daemon", "said", "status"),
    [(True, "removed\n", 3), (False, "left to Python\nremoved\n", 0)],
)
def test_only_daemon_threads_are_left_and_exit_functions_run_once(daemon, said, status):
    code = CODE.format(daemon=daemon)

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (ran.stdout, ran.stderr, ran.returncode) == (said, "", status)

"""The frames of what runs a program are not those of the program."""

import pytest

import tfprof
from tfprof.capture.runners import is_runner


@pytest.mark.parametrize(
    ("file", "function", "expected"),
    [
        ("/env/bin/tfprof", "<module>", True),
        (tfprof.__file__, "main", True),
        ("<frozen runpy>", "run_path", True),
        ("/home/me/tfprof", "train", False),
        ("/home/me/tfprof/train.py", "<module>", False),
    ],
)
def test_only_tfprof_its_command_and_runpy_run_programs(file, function, expected):
    assert is_runner(file, function) is expected

import subprocess
import sys
from pathlib import Path

import pytest
from regexes import _PATTERNS, WAYS

pytestmark = pytest.mark.dist

REGEXES = Path(__file__).parents[2] / "benchmarks" / "regexes.py"


def test_every_pattern_is_measured_in_every_way():
    command = [sys.executable, REGEXES, "--ops", "300"]

    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    headings, _, *rows = printed.splitlines()
    assert [heading.strip() for heading in headings.split("|")[4:-2]] == list(WAYS)
    assert [row.split("`")[1].replace(r"\|", "|") for row in rows] == list(_PATTERNS)

"""Lets tests import scripts and benchmarks, which are not packages."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "scripts"), str(ROOT / "benchmarks")]

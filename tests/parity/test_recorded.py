"""tfprof reproduces recorded answers of TensorFlow 2.21's profiler.

`record_selection.py` selected them. TensorFlow is not needed.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import pytest

import tfprof
from tfprof.answers import Answer
from tfprof.api import Profile
from tfprof.options import Options

RECORDED = Path(__file__).parent / "recorded"

MODELS = sorted(path.name for path in RECORDED.iterdir())

each_model = pytest.mark.parametrize("model", MODELS)


@each_model
def test_recorded_tables_and_messages_are_reproduced(model):
    for case in cases(model, "table", "message"):
        given = answer(model, case)
        message = given.to_message()

        assert given.table == case.get("table", given.table), case["id"]
        if "message" in case:
            assert message == type(message).FromString(bytes.fromhex(case["message"])), case["id"]


@each_model
def test_recorded_timelines_are_reproduced(model, tmp_path):
    for case in all_cases(model, "timelines"):
        written = answer(model, case).write(f"timeline:outfile={tmp_path / 'out'}")

        found = {Path(file.path).name: Path(file.path).read_text("utf-8") for file in written}
        assert found == {
            f"out_{step}": as_text(wanted) for step, wanted in case["timeline"].items()
        }


def as_text(value: dict[str, Any]) -> str:
    """A value as the original writes it in JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n"


@each_model
def test_questions_that_the_original_could_not_answer_are_refused(model):
    for case in cases(model, "refusal"):
        with pytest.raises(tfprof.TfprofError):
            pytest.fail(f"{case['id']} was answered: {answer(model, case).table[:500]}")


@each_model
def test_questions_that_crashed_the_original_are_answered_or_refused(model):
    for case in cases(model, "survive"):
        with suppress(tfprof.TfprofError):
            assert answer(model, case).table, case["id"]


def cases(model: str, *wants: str) -> Iterator[dict[str, Any]]:
    """The recorded cases of a model with one of these kinds of results."""
    return (case for case in all_cases(model) if case["want"] in wants)


@cache
def all_cases(model: str, name: str = "cases") -> list[dict[str, Any]]:
    with lzma.open(RECORDED / model / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def answer(model: str, case: dict[str, Any]) -> Answer:
    profile = load(model, json.dumps(case["inputs"], sort_keys=True))
    return profile.view(case["view"], Options.of(**case["options"]))


@lru_cache(maxsize=4)
def load(model: str, inputs: str) -> Profile:
    """The profile of the files in `inputs`, the JSON of a case."""
    given = json.loads(inputs)
    found = {
        f"{kind}_path": path(model, given[kind])
        for kind in ("graph", "op_log", "profile")
        if given.get(kind)
    }
    steps = {step: path(model, name) for step, name in given.get("run_meta", ())}
    return tfprof.load(**found, run_meta_path=steps, count_float_ops=False)


def path(model: str, name: str) -> Path:
    return RECORDED / model / "inputs" / f"{name}.gz"

"""The numbers of the scopes of a model add up to those of the model."""

from __future__ import annotations

from pathlib import Path

import pytest

import tfprof
from tfprof.budgets import file
from tfprof.budgets.check import check

ROOT = Path(__file__).parent.parent.parent
FILES = {
    "transformer": [ROOT / "examples" / "transformer" / "transformer.tfprof"],
    "gpu": sorted((ROOT / "tests" / "samples" / "tensorflow" / "gpu_synth").glob("*.gz")),
    "saved_model": [ROOT / "examples" / "keras_cnn"],
}


@pytest.mark.parametrize(
    ("files", "metric"),
    [
        *(("transformer", metric) for metric in ("params", "slots", "float_ops", "ops", "op_runs")),
        *(("gpu", metric) for metric in ("params", "kernels", "op_runs", "bytes", "macs")),
        *(("saved_model", metric) for metric in ("params", "float_ops", "ops", "uncounted_ops")),
    ],
)
def test_the_scopes_of_a_model_add_up_to_the_model(files, metric):
    profile = tfprof.load(*FILES[files])
    scopes = list(profile.scope(max_depth=2).view.name)[1:]
    tables = ["[model]", *(f"[scope.{file.quoted(name)}]" for name in scopes)]
    text = "".join(f"{table}\n{metric} = 0\n" for table in tables)

    whole, *parts = check(profile, file.budgets_in("tfprof.toml", text)).verdicts

    assert whole.measured is not None
    assert sum(part.measured for part in parts) == whole.measured

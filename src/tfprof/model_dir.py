"""Report on a model directory: four text files about the training run that wrote it.

A training run with a metadata hook writes `graph.pbtxt`, `metadata/run_meta` and
`metadata/tfprof_log` beside its checkpoints. The reports use the dialect of the first generation,
as they always have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfprof import api
from tfprof.errors import InputError, OutputError
from tfprof.options import Inputs, Options
from tfprof.sources.model_folder import first_file, latest_checkpoint


@dataclass(frozen=True, slots=True)
class Place:
    """Where an input is expected, and what it provides."""

    path: str
    provides: str


PLACES: dict[str, Place] = {
    "graph_path": Place("graph.pbtxt", "the model"),
    "run_meta_path": Place("metadata/run_meta", "times, memory and devices"),
    "op_log_path": Place("metadata/tfprof_log", "types, float ops and code lines of the log"),
    "checkpoint_path": Place("model.ckpt*", "which variables were saved"),
}


@dataclass(frozen=True, slots=True)
class Report:
    """One report: its view, its options, and the input without which it would be empty."""

    view: str
    options: dict[str, Any]
    needs: str = "graph_path"


_COMMON: dict[str, Any] = {
    "dialect": "contrib",
    "max_depth": 10_000,
    "account_type_regexes": [".*"],
    "hide_name_regexes": [],
    "account_displayed_op_only": True,
}

REPORTS: dict[str, Report] = {
    "params.txt": Report(
        "scope",
        {
            # Reference variables of all versions, and resource variables.
            "account_type_regexes": ["Variable.*|VarHandleOp"],
            "select": ["params", "bytes"],
            "order_by": "params",
        },
    ),
    "micro.txt": Report(
        "graph",
        {"select": ["micros", "device"], "min_micros": 1000, "order_by": "micros"},
        needs="run_meta_path",
    ),
    "flops.txt": Report(
        "scope",
        {"select": ["float_ops", "micros", "device"], "min_float_ops": 1, "order_by": "float_ops"},
    ),
    "device.txt": Report(
        "scope",
        {"select": ["device", "float_ops", "micros"], "order_by": "name"},
        needs="run_meta_path",
    ),
}


@dataclass(slots=True)
class Reported:
    """The inputs found and missing in a model directory, and the reports written from them."""

    found: dict[str, str] = field(default_factory=dict)  # the path of each input
    missing: dict[str, str] = field(default_factory=dict)  # the path where each was expected
    written: list[str] = field(default_factory=list)
    not_written: list[str] = field(default_factory=list)  # reports that would have been empty
    notes: tuple[str, ...] = ()  # what is missing from the numbers, in sentences


def report(
    model_dir: str,
    output_dir: str = "",
    *,
    progress: Callable[[str], None] = lambda _: None,
) -> Reported:
    """Write `params.txt`, `micro.txt`, `flops.txt` and `device.txt` about a model directory.

    They go to `output_dir`, or to the model directory itself. A report is skipped if a missing
    input would leave it empty.
    """
    folder = Path(model_dir)
    target = Path(output_dir or model_dir)
    if not folder.is_dir():
        raise InputError(folder, "is not a folder; pass the one that the training run wrote to.")
    if not target.is_dir():
        raise OutputError(f"{target}: is not a folder; create it first.")
    result = _find_inputs(folder)
    if "graph_path" not in result.found:
        raise InputError(
            folder, "has no graph.pbtxt; tf.io.write_graph writes one, and so do training hooks."
        )
    profile = api.load_inputs([], _inputs(result.found), progress)
    notes = list(profile.notes)
    for name, text in REPORTS.items():
        if text.needs in result.missing:
            result.not_written.append(name)
            continue
        path = str(target / name)
        answer = profile.view(text.view, Options.of(**_COMMON | text.options, dump_to_file=path))
        answer.write()
        result.written.append(path)
        notes += answer.notes
    result.notes = tuple(dict.fromkeys(notes))
    return result


def _inputs(found: dict[str, str]) -> Inputs:
    given: dict[str, Any] = dict(found)
    if "run_meta_path" in given:
        given["run_meta_path"] = ((None, given["run_meta_path"]),)
    return Inputs(**given)


def _find_inputs(folder: Path) -> Reported:
    """The inputs that are present and missing in `folder`; nothing is written yet."""
    result = Reported()
    for name, place in PLACES.items():
        if name == "checkpoint_path":
            path = latest_checkpoint(folder)
        else:
            path = first_file(folder / place.path, folder / Path(place.path).name)
        if path is None:
            result.missing[name] = str(folder / place.path)
        else:
            result.found[name] = str(path)
    return result

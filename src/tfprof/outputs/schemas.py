"""The JSON Schemas of tfprof's JSON answers.

Each answer names its schema and version under the key `schema`, as in `tfprof/view/1`. Keys may be
added within a version; removing a key or changing its meaning takes a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tfprof.metrics import METRICS, Metric
from tfprof.options import (
    KERNEL_OPTIONS,
    MEMORY_OPTIONS,
    RANK_OPTIONS,
    STEP_OPTIONS,
    VIEW_OPTIONS,
    Option,
)
from tfprof.outputs import (
    check_schema,
    diff_schema,
    kernel_schema,
    query_schema,
    shared_schema,
    step_schema,
)
from tfprof.outputs.schema_types import INTEGER as _INTEGER
from tfprof.outputs.schema_types import NUMBER as _NUMBER
from tfprof.outputs.schema_types import TEXT as _TEXT
from tfprof.outputs.schema_types import Schema
from tfprof.outputs.schema_types import described as _described
from tfprof.outputs.schema_types import list_of as _list
from tfprof.outputs.schema_types import map_of as _map
from tfprof.outputs.schema_types import object_of as _object
from tfprof.outputs.schema_types import or_null as _or_null
from tfprof.units import Unit
from tfprof.views.registry import VIEWS


class Answer(NamedTuple):
    """A kind of answer: the version of its schema, its title, and its keys besides `schema`."""

    version: int
    title: str
    command: str
    properties: Callable[[], dict[str, Schema]]
    optional: frozenset[str] = frozenset()  # keys that are left out if there is nothing to list


def name_of(answer: str) -> str:
    """The value of the key `schema` in an answer of this kind."""
    return f"tfprof/{answer}/{SCHEMAS[answer].version}"


def schema_of(answer: str) -> Schema:
    """The JSON Schema of an answer of this kind."""
    found = SCHEMAS[answer]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": name_of(answer),
        "title": f"{found.title}: tfprof {found.command} --json",
        **_object(
            {"schema": {"const": name_of(answer)}, **found.properties()}, optional=found.optional
        ),
    }


_SHAPE = _or_null(_list(_INTEGER))
_NOTES = _list(_TEXT, "What is missing from the answer, in sentences.")
_STEPS = _list(_INTEGER, "The numbers of the recorded steps.")

_UNITS = {Unit.COUNT: "", Unit.MICROS: " In microseconds.", Unit.BYTES: " In bytes."}

# The columns of facts, by their key in a row.
_FACTS: dict[str, Schema] = {
    "shape": _described(_SHAPE, "The shape of the op; -1 is an unknown dim, null an unknown rank."),
    "layer_class": _list(_TEXT, "The classes of the layers that the ops belong to."),
    "output_shape": _described(
        _SHAPE, "The shape of the output of the layer, or of the first output of the op."
    ),
    "held_bytes": _described(
        _or_null(_INTEGER),
        "The most memory that the ops of the row and of those below it held at one time in a "
        "step, in bytes; null if unknown.",
    ),
    "devices": _list(_TEXT, "The devices the op ran on."),
    "op_types": _list(_TEXT, "The types of the op."),
    "input_shapes": _list(
        {"anyOf": [_SHAPE, _list(_SHAPE)]},
        "The shape of each input; in views that group ops, a list for each op.",
    ),
    "num_hidden_ops": _described(_INTEGER, "Hidden ops between the row and its parent."),
}


def _number_schema(metric: Metric) -> Schema:
    return _NUMBER if metric.exact else _INTEGER


def _own_and_total(key: str, number: Schema, meaning: str) -> dict[str, Schema]:
    own = f"{meaning} The row's own; null if the row is not accounted for."
    total = f"{meaning} Of the row and those below it; in flat views of it and all later rows."
    return {
        key: _described(_or_null(number), own),
        f"total_{key}": _described(number, total),
    }


def _row() -> Schema:
    always: dict[str, Schema] = {
        "name": _TEXT,
        "depth": _described(_INTEGER, "1 for the root."),
        "parent": _described(_or_null(_TEXT), "The name of the row above; null for the root."),
    }
    selected: dict[str, Schema] = {
        "tensor_value": {"description": "The value in the checkpoint, as nested lists."},
        **_own_and_total("runs", _NUMBER, "How often the ops ran in an average step."),
        **_own_and_total("definitions", _INTEGER, "The number of ops."),
    }
    for metric in METRICS:
        if metric.fact:
            selected.setdefault(metric.fact, _FACTS.get(metric.fact, {}))
        if metric.unit is not None:
            meaning = _sentence(metric.meaning) + _UNITS[metric.unit]
            selected |= _own_and_total(metric.key, _number_schema(metric), meaning)
    return _object(always | selected, optional=frozenset(selected))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _options(options: Mapping[str, Option]) -> Schema:
    found = {name: _option(option) for name, option in options.items()}
    return _described(_object(found), "The options of the question.")


def _option(option: Option) -> Schema:
    match option.default:
        case bool():
            schema: Schema = {"type": "boolean"}
        case int():
            schema = _INTEGER
        case tuple():
            schema = _list({"type": ["string", "integer"]})
        case _:
            schema = _TEXT
    return _described(schema, option.help)


def _view() -> dict[str, Schema]:
    wholes = [metric for metric in METRICS if metric.is_number and not metric.part_of]
    numbers = {metric.key: _number_schema(metric) for metric in wholes}
    counts = {"runs": _NUMBER, "definitions": _INTEGER}
    hidden = _object({"ops": _INTEGER} | numbers | counts)
    return {
        "view": {"enum": list(VIEWS)},
        "options": _options(VIEW_OPTIONS),
        "steps": _STEPS,
        "recordings": _list(_TEXT, "The labels of the recordings."),
        "notes": _NOTES,
        "hidden": _described(
            hidden, "The number of ops that are accounted for but not shown, and their sums."
        ),
        "shared_modules": shared_schema.shared_modules(),
        "rows": _list(_row(), "The rows, the root first; each has what `select` asks for."),
    }


_PHASES = {
    "forward": "the forward pass",
    "backward": "gradients",
    "optimizer": "variable updates",
    "other": "the input pipeline, of communication, and of ops without a phase",
}


def _float_ops_and_macs() -> dict[str, Schema]:
    found = {
        "float_ops": _described(
            _INTEGER, "Float operations per step; a multiply and an add are two."
        ),
        "macs": _described(_INTEGER, "Multiply-accumulates per step."),
        "ops_without_macs": _described(
            _INTEGER, "Ops whose float operations are known, but not their MACs."
        ),
    }
    for phase, part in _PHASES.items():
        found[phase] = _described(_INTEGER, f"Float operations of {part}.")
        found[f"{phase}_macs"] = _described(_INTEGER, f"Multiply-accumulates of {part}.")
    return found


def _ledger() -> dict[str, Schema]:
    kind = {
        "kind": _TEXT,
        "ops": _INTEGER,
        "logged_ops": _described(_INTEGER, "Ops whose number comes from an op log."),
        "rule": _described(_TEXT, "How the float operations were counted."),
        **_float_ops_and_macs(),
    }
    micros = _described(_INTEGER, "Microseconds per step.")
    uncounted = {"kind": _TEXT, "ops": _INTEGER, "micros": micros, "reason": _TEXT}
    return {
        **_float_ops_and_macs(),
        "kinds": _list(_object(kind), "The kinds of ops that compute, most float ops first."),
        "no_arithmetic": _object(
            {"kinds": _map(_INTEGER, "The number of ops by kind."), "micros": micros}
        ),
        "not_counted": _object(
            {"ops": _INTEGER, "micros": micros, "kinds": _list(_object(uncounted))}
        ),
        "ops": _INTEGER,
        "micros": micros,
        "notes": _NOTES,
    }


def _memory() -> dict[str, Schema]:
    size = _described(_INTEGER, "Bytes.")
    time = _described(_NUMBER, "Microseconds since the start of the step.")
    points = _object({"micros": _list(time), "bytes": _list(size)})
    held = _object({"name": _TEXT, "depth": _INTEGER, "bytes": size, "ops": _INTEGER})
    breakdown = _object({"rows": _list(held), "hidden_rows": _INTEGER, "hidden_bytes": size})
    allocator = {
        "allocator": _TEXT,
        "device": _TEXT,
        "step": _INTEGER,
        "recording": _TEXT,
        "start_micros": _described(_NUMBER, "The start of the step, in microseconds."),
        "peak_bytes": size,
        "peak_micros": time,
        "reached_by": _list(
            _object({"op": _TEXT, "bytes": size}), "The ops that allocated memory at the peak."
        ),
        "left_bytes": _described(_INTEGER, "Bytes not yet freed at the end."),
        "step_peaks": _list(_object({"step": _INTEGER, "bytes": size})),
        "held_at_peak": _map(
            breakdown, "What held the memory, by `purpose`, `scope`, `op` and `code`."
        ),
        "curve": _described(points, "Memory that ops allocated and have not freed, over time."),
        "allocator_level": _described(points, "The allocator's own count, over time."),
    }
    return {
        "options": _options(MEMORY_OPTIONS),
        "notes": _NOTES,
        "allocators": _list(_object(allocator), "Highest peak first."),
    }


def _steps() -> dict[str, Schema]:
    return {"options": _options(STEP_OPTIONS), **step_schema.properties(), "notes": _NOTES}


def _kernels() -> dict[str, Schema]:
    return {"options": _options(KERNEL_OPTIONS), **kernel_schema.properties(), "notes": _NOTES}


def _ranks() -> dict[str, Schema]:
    times = {
        "median_ns": "The median step, on accelerators if their times were recorded.",
        "p10_ns": "A tenth of the steps take at most this time.",
        "p90_ns": "Nine tenths of the steps take at most this time.",
        "mean_ns": "The average step; the sum of the following five.",
        "compute_ns": "In which ops ran, except those that fetch input.",
        "communication_ns": "In which only collectives ran.",
        "input_wait_ns": "Waiting for input, and fetching it.",
        "transfers_ns": "Copies between devices, while nothing else ran.",
        "idle_ns": "In which nothing ran.",
        "all_communication_ns": "In which collectives ran, also while other ops did.",
        "overlapped_ns": "The part of `all_communication_ns` while other ops ran.",
        "own_ns": "The median step without `communication_ns`.",
    }
    waiting = "The part of `communication_ns` that is waiting for other hosts; null if unknown."
    rank = {
        "recording": _TEXT,
        "host": _described(_TEXT, "Empty if unknown."),
        "rank": _or_null(_INTEGER),
        "steps": _described(_INTEGER, "The number of steps."),
        **{key: _described(_INTEGER, f"{text} Nanoseconds.") for key, text in times.items()},
        "waiting_ns": _described(_or_null(_INTEGER), waiting),
        "deviation": _described(
            _or_null(_NUMBER), "Of `own_ns` from the median host, as a fraction; null for one host."
        ),
        "peak_bytes": _described(
            _or_null(_INTEGER), "The highest level of one allocator; null if unknown."
        ),
    }
    loss = {
        "part": {"enum": ["compute", "input_wait", "transfers", "idle"]},
        "scope": _described(_TEXT, "Where ops take longer; empty for other parts, or all scopes."),
        "nanos": _described(_INTEGER, "Per step."),
    }
    slow = {
        "recording": _TEXT,
        "when": _described(_TEXT, "In which steps it is slow, as text."),
        "steps": _list(_INTEGER, "The numbers of these steps."),
        "excess": _described(_NUMBER, "How much longer its own time is in them, as a fraction."),
        "excess_ns": _described(_INTEGER, "The same, in nanoseconds per step."),
        "cause": _described(
            {"enum": ["device", "work", "host", "input", "copies", "link"]},
            "It computes the same more slowly or has more to compute, is idle for longer because "
            "of the host, waits for input, copies for longer, or collectives take longer in its "
            "groups than in others.",
        ),
        "losses": _list(_object(loss), "Where it loses the time, the largest first."),
        "awaited": _described(
            _or_null(_NUMBER),
            "The share of all waiting in collectives that is for this host; null if unknown.",
        ),
    }
    uneven = {
        "recording": _TEXT,
        "than": _described(_TEXT, "The other host, or `the others`."),
        "when": _described(_TEXT, "In which steps it has more work, as text."),
        "steps": _list(_INTEGER, "The numbers of these steps."),
        "excess": _map(_NUMBER, "How much more it has of each kind of work, as a fraction."),
    }
    collective = {
        "op": _TEXT,
        "hosts": _described(_INTEGER, "The number of hosts that took part."),
        "runs": _described(_INTEGER, "In all steps; a run of all hosts together counts once."),
        "transfer_ns": _described(_INTEGER, "The median."),
        "waiting_ns": _described(_INTEGER, "Until the last host arrived; the mean of all hosts."),
        "longest_ns": _described(_INTEGER, "The longest wait of a host."),
        "last": _described(_TEXT, "The recording that most often arrived last."),
        "last_share": _described(_NUMBER, "How often it did, as a fraction."),
    }
    server = {
        "task": _TEXT,
        "variables": _INTEGER,
        "params": _described(_INTEGER, "The elements of its variables."),
        "bytes": _described(_INTEGER, "The memory that its ops request in a step."),
        "nanos": _described(_INTEGER, "The time of its ops in a step."),
    }
    return {
        "options": _options(RANK_OPTIONS),
        "ranks": _list(_object(rank), "All hosts, the longest own time first."),
        "slow": _list(_object(slow), "Hosts that are clearly slower than the others."),
        "uneven": _list(_object(uneven), "Hosts that have clearly more work than the others."),
        "collectives": _list(_object(collective), "The longest waits first."),
        "servers": _list(_object(server), "The parameter servers."),
        "inconclusive": _list(_TEXT, "What the recordings do not show, and why."),
        "notes": _NOTES,
    }


def _advice() -> dict[str, Schema]:
    gain = {
        "at_most": _described(_INTEGER, "An upper bound of what a fix saves, in `unit`."),
        "of": _described(_INTEGER, "The whole, in `unit`."),
        "unit": {"enum": [unit.name.lower() for unit in Unit]},
        "what": _described(_TEXT, "What the whole is, as in `of the step`."),
        "share": _described(_NUMBER, "The gain as a fraction of the whole."),
    }
    evidence = _map(
        {"type": ["string", "integer"]},
        "The evidence; names of numbers end in their unit, `_micros` or `_bytes`.",
    )
    finding = {
        "sentence": _TEXT,
        "evidence": _list(evidence),
        "ops": _list(_TEXT, "The ops, kinds or lines of code that the finding concerns."),
        "gain": _or_null(_object(gain)),
        "command": _list(_TEXT, "A view and its options, which shows more."),
    }
    return {
        "checkers": _map(_list(_object(finding)), "The findings of each checker."),
        "notes": _NOTES,
    }


def _info() -> dict[str, Schema]:
    file = _object({"path": _TEXT, "kind": _TEXT, "devices": _list(_TEXT)})
    recording = {
        "label": _TEXT,
        "host": _or_null(_TEXT),
        "rank": _or_null(_INTEGER),
        "framework": _TEXT,
        "file": _TEXT,
        "steps": _STEPS,
        "devices": _list(_TEXT),
    }
    return {
        "files": _list(
            file | {"additionalProperties": _INTEGER}, "Each file, with counts of what it has."
        ),
        "ops": _INTEGER,
        "ops_seen_running": _described(_INTEGER, "Ops of the graph that ran."),
        "steps": _STEPS,
        "recordings": _list(_object(recording)),
        "devices": _list(_TEXT),
        "can_answer": _map({"type": "boolean"}, "Which metrics and views the files provide."),
        "notes": _NOTES,
    }


def _reports() -> dict[str, Schema]:
    return {
        "found": _map(_TEXT, "The path of each input file that was found."),
        "missing": _map(_TEXT, "Where each missing input file was expected."),
        "written": _list(_TEXT, "The reports that were written."),
        "not_written": _list(_TEXT, "The reports that lack an input file."),
        "notes": _NOTES,
    }


def _collected() -> dict[str, Schema]:
    damaged = {"file": _TEXT, "trouble": _described(_TEXT, "What is wrong with it.")}
    return {
        "store": _described(_TEXT, "The path or URL of the store."),
        "files": _described(_INTEGER, "The files that were given."),
        "finished": _described(_INTEGER, "The files that were in the store before."),
        "collected": _described(_INTEGER, "The files that were added."),
        "read_bytes": _described(_INTEGER, "The size of the files that were read."),
        "written_bytes": _described(_INTEGER, "The size of what was added, without the index."),
        "seconds": _NUMBER,
        "damaged": _list(_object(damaged), "The files that could not be read."),
        "notes": _NOTES,
    }


SCHEMAS: dict[str, Answer] = {
    "view": Answer(1, "A view", "|".join(VIEWS), _view, frozenset({"shared_modules"})),
    "ledger": Answer(1, "Float operations by kind of op", "flops", _ledger),
    "memory": Answer(1, "Memory over time", "memory", _memory),
    "steps": Answer(2, "The times of steps", "steps", _steps),
    "kernels": Answer(1, "The kernels of accelerators", "kernels", _kernels),
    "ranks": Answer(2, "A comparison of hosts", "ranks", _ranks),
    "sql": Answer(1, "The answer to a query", "sql", query_schema.properties),
    "diff": Answer(1, "A comparison of two profiles", "diff", diff_schema.properties),
    "check": Answer(1, "Whether budgets are met", "check", check_schema.properties),
    "advice": Answer(1, "Suggestions", "advise", _advice),
    "info": Answer(1, "A description of files", "info", _info),
    "collected": Answer(1, "What was collected", "collect", _collected),
    "reports": Answer(1, "The reports on a model directory", "profile", _reports),
}

"""Registry of options: command-line flags, shell options and, for questions, Python keywords."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from tfprof.dialects import DIALECTS, Dialect
from tfprof.errors import OptionError, nearest
from tfprof.metrics import AUTO
from tfprof.options.groups import (
    COUNTED,
    FILES,
    GROUPS,
    OUTPUT,
    READING,
    SHOWN,
    THRESHOLDS,
)
from tfprof.options.of_commands import (
    CHECK_OPTIONS,
    CHECKERS_OPTION,
    COLLECT_OPTIONS,
    DIFF_OPTIONS,
    GENERAL_OPTIONS,
    OUTPUT_OPTIONS,
    PAGE_OPTIONS,
    QUERY_OPTIONS,
    REPORT_OPTIONS,
    RUN_OPTIONS,
    TIMELINE_OPTIONS,
    UI_OPTIONS,
)
from tfprof.options.values import EVERY_STEP, Kind, Option, OutputSpec
from tfprof.patterns import Patterns

__all__ = [
    "CHECKERS_OPTION",
    "CHECK_OPTIONS",
    "COLLECT_OPTIONS",
    "DIFF_OPTIONS",
    "EVERY_STEP",
    "GENERAL_OPTIONS",
    "GROUPS",
    "INPUT_OPTIONS",
    "KERNEL_OPTIONS",
    "MEMORY_OPTIONS",
    "OUTPUT_OPTIONS",
    "PAGE_OPTIONS",
    "QUERY_OPTIONS",
    "RANK_OPTIONS",
    "REPORT_OPTIONS",
    "RUN_OPTIONS",
    "STEP_OPTIONS",
    "TIMELINE_OPTIONS",
    "UI_OPTIONS",
    "VIEW_OPTIONS",
    "Inputs",
    "KernelOptions",
    "Kind",
    "MemoryOptions",
    "Option",
    "Options",
    "OutputSpec",
    "RankOptions",
    "StepOptions",
    "default_of",
    "find",
]

_BYTES, _MICROS, _ROWS = "BYTES", "MICROS", "ROWS"


def _option(kind: Kind, default: Any, text: str, group: str, placeholder: str | None = None) -> Any:
    more = {"kind": kind, "help": text, "group": group, "placeholder": placeholder}
    return field(default=default, metadata=more)


def _hides(text: str, placeholder: str | None = None) -> Any:
    return _option(Kind.NUMBER, 0, text, THRESHOLDS, placeholder)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a view, with their defaults."""

    max_depth: int = _option(
        Kind.NUMBER,
        10,
        "Show rows down to this depth; the root is depth 1 (op view: to this row, counted from 0).",
        SHOWN,
    )
    min_bytes: int = _hides("Hide rows that requested less memory.", _BYTES)
    min_peak_bytes: int = _hides("Hide rows with a lower memory peak.", _BYTES)
    min_residual_bytes: int = _hides("Hide rows that left less memory allocated.", _BYTES)
    min_output_bytes: int = _hides("Hide rows with smaller outputs.", _BYTES)
    min_micros: int = _hides("Hide rows that took less time in total.", _MICROS)
    min_accelerator_micros: int = _hides("Hide rows that took less accelerator time.", _MICROS)
    min_cpu_micros: int = _hides("Hide rows that took less CPU time.", _MICROS)
    min_transfer_micros: int = _hides("Hide rows with less transfer time.", _MICROS)
    min_params: int = _hides(
        "Hide rows with fewer parameters of their own (code and op views: in total)."
    )
    min_slots: int = _hides(
        "Hide rows with fewer optimizer values of their own (code and op views: in total)."
    )
    min_float_ops: int = _hides(
        "Hide rows with fewer float operations of their own (code and op views: in total)."
    )
    min_macs: int = _hides(
        "Hide rows with fewer multiply-accumulates of their own (code and op views: in total)."
    )
    min_occurrence: int = _hides("Hide ops that ran fewer times (op view: kinds with fewer ops).")
    step: int = _option(
        Kind.STEP,
        -1,
        "Use this recorded step; all averages over all steps, -1 over all but those that warm up.",
        COUNTED,
    )
    order_by: str = _option(
        Kind.KEY,
        AUTO,
        "Sort siblings by name or by their total of a metric, largest first; auto: by the first "
        "number shown.",
        SHOWN,
    )
    account_type_regexes: tuple[str, ...] = _option(
        Kind.REGEXES,
        (".*",),
        "Count only ops with a matching type (-select op_types shows the types).",
        COUNTED,
    )
    start_name_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (".*",), "Start at the first rows with a matching name.", SHOWN
    )
    trim_name_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (), "Drop everything below rows with a matching name.", SHOWN
    )
    show_name_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (".*",), "Show only rows with a matching name; totals stay the same.", SHOWN
    )
    hide_name_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (), "Hide rows with a matching name; totals stay the same.", SHOWN
    )
    account_displayed_op_only: bool = _option(
        Kind.SWITCH, False, "Count only shown rows in totals (ignored in the code view).", COUNTED
    )
    select: tuple[str, ...] = _option(
        Kind.METRICS,
        (AUTO,),
        "Show these metrics for each row; auto: time, or without a recorded run parameters and "
        "float operations.",
        SHOWN,
    )
    output: str = _option(
        Kind.OUTPUT,
        "",
        "Write the answer to stdout (default), nowhere (none) or to a file (json:outfile=F).",
        OUTPUT,
    )
    define_type: tuple[str, ...] = _option(
        Kind.TYPES,
        (),
        "Add a type to ops with a matching name, for use with -account_type_regexes.",
        COUNTED,
    )
    device_regexes: tuple[str, ...] = _option(
        Kind.REGEXES,
        (".*",),
        "Show only rows with an op on a matching device; case is ignored.",
        SHOWN,
    )
    dialect: str = _option(
        Kind.DIALECT,
        "core",
        "Filter and print like an older tfprof: core, early or contrib.",
        OUTPUT,
    )
    recording: tuple[str, ...] = _option(
        Kind.REGEXES,
        (".*",),
        "Use only recordings whose label matches (`tfprof info` lists them).",
        COUNTED,
    )
    rank: tuple[int, ...] = _option(
        Kind.NUMBERS, (), "Use only recordings of these ranks.", COUNTED, "RANK,…"
    )
    dump_to_file: str = _option(
        Kind.PATH,
        "",
        "Write the report to a file; older spelling of -output file:outfile=F.",
        OUTPUT,
    )
    my_code: bool = _option(
        Kind.SWITCH,
        False,
        "Leave out lines of installed packages (code view; always in recordings).",
        SHOWN,
    )
    viz: bool = _option(
        Kind.SWITCH, False, "List the outputs that draw pictures (for older scripts).", OUTPUT
    )

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Options with `given` checked, the rest at their defaults."""
        return cls().but(**given)

    def but(self, **given: Any) -> Self:
        """A copy of these options with `given` checked and replaced."""
        return self.taking({name: find(name).check(value) for name, value in given.items()})

    def taking(self, values: Mapping[str, Any]) -> Self:
        """A copy of these options with `values`, which are already checked, replaced.

        A change of dialect also moves every option that is at its default to the new default.
        """
        old, new = self.dialect, values.get("dialect", self.dialect)
        defaults = {
            name: default_of(name, new)
            for name in {**DIALECTS[old].defaults, **DIALECTS[new].defaults}
            if getattr(self, name) == default_of(name, old)
        }
        return replace(self, **(defaults | dict(values)))

    def sorted_by(self, key: str) -> Self:
        """A copy of these options that sorts by `key` unless another key is set."""
        return replace(self, order_by=key) if self.order_by == AUTO else self

    @property
    def generation(self) -> Dialect:
        """The `Dialect` that the option `dialect` names."""
        return DIALECTS[self.dialect]

    @property
    def destination(self) -> OutputSpec:
        """Where the answer is written: `dump_to_file` if set, else `output`."""
        if self.dump_to_file:
            return OutputSpec("file", (("outfile", self.dump_to_file),))
        return OutputSpec.parse(self.output)

    def threshold(self, key: str) -> int:
        """The smallest value of `key` that is still shown."""
        return int(getattr(self, f"min_{key}"))

    def patterns(self, name: str) -> Patterns:
        """The regexes of the option `name`, compiled."""
        return Patterns(getattr(self, name))


class _Question:
    """The options of a question other than a view."""

    __slots__ = ()

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Options with `given` checked, the rest at their defaults."""
        known = _table(cls, "-")
        return cls(**{name: find(name, known).check(value) for name, value in given.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOptions(_Question):
    """The options of a question about memory over time."""

    step: int = _option(
        Kind.STEP,
        -1,
        "Use this recorded step; -1 uses each allocator's step with the highest peak.",
        SHOWN,
    )
    max_depth: int = _option(
        Kind.NUMBER, 10, "Break down by scope to this depth; the root is depth 1.", SHOWN
    )
    recording: tuple[str, ...] = _option(
        Kind.REGEXES,
        (".*",),
        "Use only recordings whose label matches (`tfprof info` lists them).",
        SHOWN,
    )
    rank: tuple[int, ...] = _option(
        Kind.NUMBERS, (), "Use only recordings of these ranks.", SHOWN, "RANK,…"
    )
    max_rows: int = _option(
        Kind.NUMBER,
        10,
        "Show at most this many rows per breakdown, largest first; -1 shows all.",
        SHOWN,
        _ROWS,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOptions(_Question):
    """The options of a question about the times of steps."""

    step: int = _option(Kind.STEP, -1, "Show only this recorded step; -1 shows all.", SHOWN)
    recording: tuple[str, ...] = _option(
        Kind.REGEXES,
        (".*",),
        "Show only recordings whose label matches (`tfprof info` lists them).",
        SHOWN,
    )
    rank: tuple[int, ...] = _option(
        Kind.NUMBERS, (), "Show only recordings of these ranks.", SHOWN, "RANK,…"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RankOptions(StepOptions):
    """The options of a question that compares hosts."""

    max_rows: int = _option(
        Kind.NUMBER, 20, "Show this many hosts, the slowest first; -1 shows all.", SHOWN, _ROWS
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelOptions(StepOptions):
    """The options of a question about kernels."""

    show_name_regexes: tuple[str, ...] = _option(
        Kind.REGEXES,
        (".*",),
        "Show only kernels whose name or short name matches; shares stay the same.",
        SHOWN,
    )
    hide_name_regexes: tuple[str, ...] = _option(
        Kind.REGEXES,
        (),
        "Hide kernels whose name or short name matches; shares stay the same.",
        SHOWN,
    )
    group_by: str = _option(
        Kind.FORMAT,
        "kernel",
        "Show a row per kernel, or per kernel and what launched it, or how it was launched.",
        SHOWN,
        "kernel|op|module|configuration",
    )
    sort_by: str = _option(
        Kind.FORMAT,
        "total",
        "Sort by this column, largest first; names in alphabetical order.",
        SHOWN,
        "total|launches|mean|min|max|occupancy|name",
    )
    max_rows: int = _option(
        Kind.NUMBER, 20, "Show this many rows of the table; -1 shows all.", SHOWN, _ROWS
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The files of a profile and how to read them."""

    graph_path: str = _option(Kind.PATH, "", "Graph (GraphDef), text or binary.", FILES)
    run_meta_path: tuple[tuple[int | None, str], ...] = _option(
        Kind.PATHS,
        (),
        "RunMetadata, one file per step, with an optional step number: 5:run_meta_5.",
        FILES,
    )
    op_log_path: str = _option(
        Kind.PATH, "", "Op log (OpLogProto): types, float operations and code lines.", FILES
    )
    checkpoint_path: str = _option(
        Kind.PATH, "", "Checkpoint: saved variables and their values.", FILES
    )
    profile_path: str = _option(
        Kind.PATH, "", "Saved profile, in place of the files it was made from.", FILES
    )
    count_float_ops: bool = _option(
        Kind.SWITCH,
        True,
        "Compute float operations from shapes if the op log has none.",
        READING,
    )
    functions: bool = _option(
        Kind.SWITCH,
        False,
        "Include ops inside the graph's functions; always on for SavedModels.",
        READING,
    )
    signature: str = _option(
        Kind.SIGNATURE,
        "",
        "SavedModel signature to profile (default: serving_default, or the only one).",
        READING,
    )
    batch_size: int = _option(
        Kind.NUMBER,
        0,
        "Batch size to assume where a model leaves it open; 0: that of the example for exported "
        "programs of PyTorch, 1 for SavedModels and frozen graphs, unknown for other graphs.",
        READING,
        "EXAMPLES",
    )
    partial: bool = _option(
        Kind.SWITCH,
        False,
        "Read what is intact of files that are cut short or damaged, and note how much that is.",
        READING,
    )


def _table(holder: type, dashes: str) -> dict[str, Option]:
    """The fields of `holder` as options, by name."""
    return {
        column.name: Option(
            name=column.name, default=column.default, dashes=dashes, **column.metadata
        )
        for column in fields(holder)
    }


# Options of questions and inputs, which are also Python keywords.
VIEW_OPTIONS: dict[str, Option] = _table(Options, "-")
MEMORY_OPTIONS: dict[str, Option] = _table(MemoryOptions, "-")
STEP_OPTIONS: dict[str, Option] = _table(StepOptions, "-")
RANK_OPTIONS: dict[str, Option] = _table(RankOptions, "-")
KERNEL_OPTIONS: dict[str, Option] = _table(KernelOptions, "-")
INPUT_OPTIONS: dict[str, Option] = _table(Inputs, "--")


def default_of(name: str, dialect: str) -> Any:
    """The default of the view option `name` in `dialect`."""
    return DIALECTS[dialect].defaults.get(name, VIEW_OPTIONS[name].default)


def find(name: str, known: Mapping[str, Option] = VIEW_OPTIONS) -> Option:
    """The option called `name`; an unknown name raises an error that suggests the nearest one."""
    if name not in known:
        raise OptionError(f"Unknown option `{name}`. {nearest(name, known)}")
    return known[name]

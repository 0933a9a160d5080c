"""The table of options: a row is a flag, a word in the shell and a keyword in Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from tfprof.dialects import DIALECTS, Dialect
from tfprof.errors import OptionError, nearest
from tfprof.options.values import Kind, Option, OutputSpec
from tfprof.patterns import Patterns

__all__ = [
    "CHECKERS_OPTION",
    "INPUT_OPTIONS",
    "MEMORY_OPTIONS",
    "VIEW_OPTIONS",
    "Inputs",
    "Kind",
    "MemoryOptions",
    "Option",
    "Options",
    "OutputSpec",
    "default_of",
    "find",
]


def _option(kind: Kind, default: Any, text: str) -> Any:
    return field(default=default, metadata={"kind": kind, "help": text})


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Everything a question about a profile can say; each view starts from these defaults."""

    max_depth: int = _option(
        Kind.NUMBER,
        10,
        "Show rows at most this deep; the root is at depth 1, op rows count from 0.",
    )
    min_bytes: int = _option(Kind.NUMBER, 0, "Hide what requested fewer bytes.")
    min_peak_bytes: int = _option(Kind.NUMBER, 0, "Hide what peaked at fewer bytes.")
    min_residual_bytes: int = _option(Kind.NUMBER, 0, "Hide what left fewer bytes allocated.")
    min_output_bytes: int = _option(Kind.NUMBER, 0, "Hide what put out fewer bytes.")
    min_micros: int = _option(Kind.NUMBER, 0, "Hide what took fewer microseconds in all.")
    min_accelerator_micros: int = _option(
        Kind.NUMBER, 0, "Hide what took fewer microseconds on an accelerator."
    )
    min_cpu_micros: int = _option(Kind.NUMBER, 0, "Hide what took fewer microseconds on the cpu.")
    min_params: int = _option(
        Kind.NUMBER, 0, "Hide what has fewer parameters of its own (code, op: in all)."
    )
    min_float_ops: int = _option(
        Kind.NUMBER, 0, "Hide what has fewer float ops of its own (code, op: in all)."
    )
    min_occurrence: int = _option(
        Kind.NUMBER, 0, "Hide ops that ran less often (op view: kinds with fewer ops)."
    )
    step: int = _option(Kind.NUMBER, -1, "Use one recorded step; -1 averages over the steps.")
    order_by: str = _option(Kind.KEY, "name", "Order siblings by name, or by a metric's total.")
    account_type_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (".*",), "Account for ops one of whose types matches (see -select op_types)."
    )
    start_name_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (".*",), "Show from the first rows whose name matches."
    )
    trim_name_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (), "Leave out everything below rows whose name matches."
    )
    show_name_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (".*",), "Show only rows whose name matches; they stay accounted."
    )
    hide_name_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (), "Hide rows whose name matches; they stay accounted."
    )
    account_displayed_op_only: bool = _option(
        Kind.SWITCH, False, "Let totals cover only the rows that are shown (not in the code view)."
    )
    select: tuple[str, ...] = _option(Kind.METRICS, ("micros",), "What to show of each row.")
    output: str = _option(
        Kind.OUTPUT, "", "Where the answer goes: stdout, none, file:outfile=F, json:…, csv:…"
    )
    define_type: tuple[str, ...] = _option(
        Kind.TYPES, (), "Give a type to every op whose name matches, for -account_type_regexes."
    )
    device_regexes: tuple[str, ...] = _option(
        Kind.REGEXES, (".*",), "Show only rows with an op on a device that matches, in any case."
    )
    dialect: str = _option(
        Kind.DIALECT,
        "core",
        "Filter and print as an older tfprof did: core, early or contrib.",
    )
    recording: tuple[str, ...] = _option(
        Kind.REGEXES, (".*",), "Use only recordings whose label matches (see tfprof info)."
    )
    rank: tuple[int, ...] = _option(
        Kind.NUMBERS, (), "Use only the recordings of these ranks, where ranks are known."
    )
    dump_to_file: str = _option(
        Kind.PATH, "", "Write the report to a file: the older word for -output file:outfile=F."
    )
    viz: bool = _option(Kind.SWITCH, False, "Ask for a picture; says which output draws one.")

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Options with `given` checked, the rest at their defaults."""
        return cls().but(**given)

    def but(self, **given: Any) -> Self:
        """These options with `given` checked and put in their place."""
        return self.taking({name: find(name).check(value) for name, value in given.items()})

    def taking(self, values: Mapping[str, Any]) -> Self:
        """These options with `values` in their place, each as its option holds it.

        With another dialect come its defaults, for all that is still at the old one's.
        """
        old, new = self.dialect, values.get("dialect", self.dialect)
        defaults = {
            name: default_of(name, new)
            for name in {**DIALECTS[old].defaults, **DIALECTS[new].defaults}
            if getattr(self, name) == default_of(name, old)
        }
        return replace(self, **(defaults | dict(values)))

    @property
    def generation(self) -> Dialect:
        """The differences that `dialect` names."""
        return DIALECTS[self.dialect]

    @property
    def destination(self) -> OutputSpec:
        """Where the answer goes, in whichever word that was said."""
        if self.dump_to_file:
            return OutputSpec("file", (("outfile", self.dump_to_file),))
        return OutputSpec.parse(self.output)

    def threshold(self, key: str) -> int:
        """The least value of `key` that is still shown."""
        return int(getattr(self, f"min_{key}"))

    def patterns(self, name: str) -> Patterns:
        """One of the lists of regexes, ready to match."""
        return Patterns(getattr(self, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOptions:
    """What a question about memory over time can say."""

    step: int = _option(
        Kind.NUMBER,
        -1,
        "Use one recorded step; -1 takes, of each allocator, that with the highest peak.",
    )
    max_depth: int = _option(
        Kind.NUMBER, 10, "Break down by scopes at most this deep; the root is at depth 1."
    )
    recording: tuple[str, ...] = _option(
        Kind.REGEXES, (".*",), "Use only recordings whose label matches (see tfprof info)."
    )
    rank: tuple[int, ...] = _option(
        Kind.NUMBERS, (), "Use only the recordings of these ranks, where ranks are known."
    )
    max_rows: int = _option(
        Kind.NUMBER, 10, "Show this many rows of each breakdown, the largest; -1 shows all."
    )

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Options with `given` checked, the rest at their defaults."""
        return cls(**{name: find(name, MEMORY_OPTIONS).check(given[name]) for name in given})


def _table(*holders: type) -> dict[str, Option]:
    return {
        column.name: Option(
            column.name, column.metadata["kind"], column.default, column.metadata["help"]
        )
        for holder in holders
        for column in fields(holder)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The files of a profile and how to read them."""

    graph_path: str = _option(Kind.PATH, "", "The model: a GraphDef, text or binary.")
    run_meta_path: tuple[tuple[int | None, str], ...] = _option(
        Kind.PATHS,
        (),
        "What ran: one RunMetadata a step; a step may have its number, 5:run_meta_5.",
    )
    op_log_path: str = _option(
        Kind.PATH, "", "An OpLogProto: types, float ops and code lines of ops."
    )
    checkpoint_path: str = _option(
        Kind.PATH, "", "A checkpoint: which variables it has, and their values."
    )
    profile_path: str = _option(Kind.PATH, "", "A saved profile, in place of the files above.")
    count_float_ops: bool = _option(
        Kind.SWITCH, True, "Count float ops from shapes where the op log gives none."
    )
    functions: bool = _option(
        Kind.SWITCH,
        False,
        "Count what is inside functions of a graph; in a SavedModel it always is.",
    )
    signature: str = _option(
        Kind.SIGNATURE, "", "What of a SavedModel is called; serving_default, or the only one."
    )
    batch_size: int = _option(
        Kind.NUMBER,
        0,
        "How many examples there are, where a SavedModel or --functions leaves it open.",
    )


VIEW_OPTIONS: dict[str, Option] = _table(Options)
MEMORY_OPTIONS: dict[str, Option] = _table(MemoryOptions)
INPUT_OPTIONS: dict[str, Option] = _table(Inputs)
CHECKERS_OPTION = Option(
    "checkers", Kind.NAMES, (), "Ask only these checkers (advise only); all without it."
)


def default_of(name: str, dialect: str) -> Any:
    """What an option of a view is in that dialect unless somebody says otherwise."""
    return DIALECTS[dialect].defaults.get(name, VIEW_OPTIONS[name].default)


def find(name: str, known: Mapping[str, Option] = VIEW_OPTIONS) -> Option:
    """The option of that name; an unknown name is answered with the nearest one."""
    if name not in known:
        raise OptionError(f"No option `{name}`. {nearest(name, known)}")
    return known[name]

"""The one table of generations: in what the listings of older versions of tfprof differ.

`core` is how tfprof answers today. `early` printed the documents on time, memory and architecture,
`contrib` the large first README. Each row states only differences; the views and the table ask it,
and nothing else knows that there are generations.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

# The filters of a view, in the order in which they come; `views/select.py` has their functions.
#   account       totals of the ops that are accounted for, rows that hold none of them go
#   start         rows from those that `start_name_regexes` matches
#   show          rows down to `max_depth`, not trimmed, and with the names asked for
#   reach         rows that reach every `min_…` option
#   recount       with `account_displayed_op_only`, totals of the rows that are left
#   order         siblings by `order_by`
#   run_on        rows in one line: each has all rows after it below it and in its total
#   side_by_side  rows right below the root, whatever their totals cover
Step: TypeAlias = Literal[
    "account", "start", "show", "reach", "recount", "order", "run_on", "side_by_side"
]


class Policy(NamedTuple):
    """How a view filters and names its rows; everything else is the same for all of them."""

    steps: tuple[Step, ...] = ("account", "start", "show", "reach", "recount", "order")
    unaccounted_vanish: bool = False  # a row that is not accounted for is no row at all
    unaccounted_hide: bool = False  # it stays in its place, holding others, but is never shown
    trimmed_rows_vanish: bool = False  # a trimmed row goes with what is below it
    starts_by_default: bool = False  # without `start_name_regexes` all rows are there, not none
    counts_ops: bool = False  # `min_occurrence` is a number of ops, not of runs
    accounts_for_root: bool = False  # where everything is accounted for, the root is
    compares_own: bool = False  # thresholds look at a row's own numbers, never at totals
    inputs_by_name: bool = False  # graph: inputs in name order, each once, not by position
    adds_to_first_done: bool = False  # graph: an op adds to the first of its consumers that is done
    places_gradients: bool = True  # code: a gradient stands beside the op it is the gradient of
    quotes_source: bool = False  # code: a row is named by the text of its line too

    @property
    def starts_first(self) -> bool:
        """Whether only what `start_name_regexes` finds is accounted for."""
        return self.steps.index("start") < self.steps.index("account")


# The usual policies of rows within each other, and of rows side by side. The latter are ordered
# first: which of them are shown, and their totals, depend on the order.
NESTED = Policy()
FLAT = Policy(
    ("account", "order", "run_on", "start", "show", "reach", "recount", "side_by_side"),
    unaccounted_vanish=True,
    trimmed_rows_vanish=True,
    starts_by_default=True,
    counts_ops=True,
)


class Style(NamedTuple):
    """What the table shows besides the rows themselves."""

    explains: bool = True  # sentences say what the columns mean
    has_legend: bool = True
    splits_micros: bool = True  # execution time has columns for the accelerator and the cpu
    counts_runs: bool = True  # an occurrence is runs and definitions, not definitions alone
    closes_empty: bool = True  # a row without a single column ends in ` ()`
    labels: Mapping[str, str] = MappingProxyType({})  # where a column had another name


class Dialect(NamedTuple):
    """One generation of the tool."""

    help: str
    options: tuple[str, ...]  # the options it had, in the order it listed them
    views: Mapping[str, Policy]
    style: Style = Style()
    defaults: Mapping[str, Any] = MappingProxyType({})  # where an option had another
    remarks: Mapping[str, str] = MappingProxyType({})  # lines above an option in its list
    scalars_have_shape: bool = True  # a scalar is one parameter; else it is none

    def policy(self, view: str, default: Policy = NESTED) -> Policy:
        """The policy of a view, or `default` if this generation has no policy of its own for it."""
        return self.views.get(view, default)


_OLD_THRESHOLDS = ("min_bytes", "min_micros", "min_params", "min_float_ops")
_NAME_FILTERS = tuple(f"{verb}_name_regexes" for verb in ("start", "trim", "show", "hide"))
_ACCOUNTING = ("order_by", "account_type_regexes", *_NAME_FILTERS, "account_displayed_op_only")

_GRAPH = Policy(unaccounted_vanish=True)
_CODE = Policy(("account", "start", "show", "reach", "order"), trimmed_rows_vanish=True)

_CORE = Dialect(
    help="as tfprof answers today",
    options=(
        "max_depth",
        *("min_bytes", "min_peak_bytes", "min_residual_bytes", "min_output_bytes"),
        *("min_micros", "min_accelerator_micros", "min_cpu_micros"),
        *("min_params", "min_float_ops", "min_occurrence", "step"),
        *(*_ACCOUNTING, "select", "output"),
    ),
    views={"scope": NESTED, "graph": _GRAPH, "code": _CODE, "op": FLAT},
)

_EARLY = Dialect(
    help="one time column, thresholds on own numbers, source text in code lines",
    options=(
        *("max_depth", *_OLD_THRESHOLDS, "min_occurrence", "step"),
        *(*_ACCOUNTING, "select", "output"),
    ),
    defaults={"select": ("params",)},
    views={
        "scope": NESTED._replace(compares_own=True),
        "graph": _GRAPH._replace(compares_own=True),
        "code": _CODE._replace(steps=NESTED.steps, places_gradients=False, quotes_source=True),
        "op": FLAT,
    },
    style=Style(
        explains=False,
        splits_micros=False,
        counts_runs=False,
        labels={"micros": "execution time", "occurrence": "op occurrence"},
    ),
)

_FIRST = Policy(
    ("start", "account", "show", "reach", "recount", "order"),
    unaccounted_hide=True,
    accounts_for_root=True,
    compares_own=True,
)

_CONTRIB = Dialect(
    help="no legend, only accounted rows, start before accounting, variables by default",
    options=(
        *("max_depth", *_OLD_THRESHOLDS, "device_regexes"),
        *(*_ACCOUNTING, "select", "viz", "dump_to_file"),
    ),
    defaults={
        "max_depth": 4,
        "account_type_regexes": ("Variable",),
        "hide_name_regexes": ("IsVariableInitialized_[0-9]+", r"save\/.*", "^zeros[0-9_]*"),
        "select": ("params",),
    },
    remarks={
        "select": (  # its own spelling
            "# supported select fileds."
            " Availability depends on --[run_meta|checkpoint|op_log]_path.\n"
            "# [bytes|micros|params|float_ops|num_hidden_ops|tensor_value|device|op_types]\n"
        )
    },
    views={
        "scope": _FIRST,
        "graph": _FIRST._replace(inputs_by_name=True, adds_to_first_done=True),
        # It had no such views: they answer as they were first there.
        "code": _EARLY.views["code"],
        "op": FLAT,
    },
    style=_EARLY.style._replace(has_legend=False, closes_empty=False),
    scalars_have_shape=False,
)

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {"core": _CORE, "early": _EARLY, "contrib": _CONTRIB}
)

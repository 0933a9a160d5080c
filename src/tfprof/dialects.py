"""Registry of dialects: how the output of older generations of tfprof differs.

`core` is today's output. `early` produced the examples in the documents on time, memory and
architecture, `contrib` those in the long first README. Each entry lists only differences. Only the
views and the table output depend on the dialect.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

# The steps that filter a view's rows, implemented in `views/select.py`:
#   account       compute totals of the accounted ops; drop rows without any
#   start         keep the rows matched by `start_name_regexes` and the rows below them
#   show          keep rows within `max_depth` that are not trimmed and whose names are selected
#   reach         keep rows that reach every `min_…` option
#   recount       with `account_displayed_op_only`, compute totals of the remaining rows
#   order         sort siblings by `order_by`
#   run_on        chain the rows: each contains, and includes in its total, all rows after it
#   side_by_side  put all rows directly below the root, keeping their totals
Step: TypeAlias = Literal[
    "account", "start", "show", "reach", "recount", "order", "run_on", "side_by_side"
]


class Policy(NamedTuple):
    """How a view filters and names its rows; everything else is common to all views."""

    steps: tuple[Step, ...] = ("account", "start", "show", "reach", "recount", "order")
    unaccounted_vanish: bool = False  # rows that are not accounted are removed
    unaccounted_hide: bool = False  # they keep their place in the tree but are never shown
    trimmed_rows_vanish: bool = False  # a trimmed row is removed with all rows below it
    starts_by_default: bool = False  # without `start_name_regexes`, keep all rows, not none
    counts_ops: bool = False  # `min_occurrence` is a number of ops, not of runs
    accounts_for_root: bool = False  # if everything is accounted, so is the root
    compares_own: bool = False  # thresholds compare a row's own numbers, never totals
    inputs_by_name: bool = False  # graph: inputs sorted by name, each once, not by position
    adds_to_first_done: bool = False  # graph: an op counts towards its first finished consumer
    places_gradients: bool = True  # code: a gradient is placed beside its forward op
    quotes_source: bool = False  # code: the name of a row includes the text of its line

    @property
    def starts_first(self) -> bool:
        """Whether only the rows found by `start_name_regexes` are accounted."""
        return self.steps.index("start") < self.steps.index("account")


# The default policies for nested rows and for flat rows. Flat rows are ordered first, because the
# order determines which of them are shown and what their totals are.
NESTED = Policy()
FLAT = Policy(
    ("account", "order", "run_on", "start", "show", "reach", "recount", "side_by_side"),
    unaccounted_vanish=True,
    trimmed_rows_vanish=True,
    starts_by_default=True,
    counts_ops=True,
)


class Style(NamedTuple):
    """What a table shows besides its rows."""

    explains: bool = True  # sentences explain the columns
    has_legend: bool = True
    splits_micros: bool = True  # execution time has extra columns for accelerator and cpu
    counts_runs: bool = True  # an occurrence is runs and definitions, not only definitions
    closes_empty: bool = True  # a row without any columns ends in ` ()`
    labels: Mapping[str, str] = MappingProxyType({})  # columns that had another heading


class Dialect(NamedTuple):
    """One generation of the tool."""

    help: str
    options: tuple[str, ...]  # its options, in the order it listed them
    views: Mapping[str, Policy]
    style: Style = Style()
    defaults: Mapping[str, Any] = MappingProxyType({})  # options that had another default
    remarks: Mapping[str, str] = MappingProxyType({})  # lines above an option in the listing
    scalars_have_shape: bool = True  # a scalar counts as one parameter, not as none
    adds_to_log: bool = True  # float ops that an op log lacks are counted from shapes

    def policy(self, view: str, default: Policy = NESTED) -> Policy:
        """The policy of a view, or `default` if this generation does not define one."""
        return self.views.get(view, default)


_OLD_THRESHOLDS = ("min_bytes", "min_micros", "min_params", "min_float_ops")
_NAME_FILTERS = tuple(f"{verb}_name_regexes" for verb in ("start", "trim", "show", "hide"))
_ACCOUNTING = ("order_by", "account_type_regexes", *_NAME_FILTERS, "account_displayed_op_only")

_GRAPH = Policy(unaccounted_vanish=True)
_CODE = Policy(("account", "start", "show", "reach", "order"), trimmed_rows_vanish=True)

_CORE = Dialect(
    help="the current output",
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
    help="one time column, thresholds on each row's own numbers, source text in code lines",
    options=(
        *("max_depth", *_OLD_THRESHOLDS, "min_occurrence", "step"),
        *(*_ACCOUNTING, "select", "output"),
    ),
    defaults={"select": ("params",), "order_by": "name"},
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
    adds_to_log=False,
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
        "order_by": "name",
    },
    remarks={
        "select": (  # misspelled as in the original
            "# supported select fileds."
            " Availability depends on --[run_meta|checkpoint|op_log]_path.\n"
            "# [bytes|micros|params|float_ops|num_hidden_ops|tensor_value|device|op_types]\n"
        )
    },
    views={
        "scope": _FIRST,
        "graph": _FIRST._replace(inputs_by_name=True, adds_to_first_done=True),
        # This generation lacked these views; they work like the first versions of them.
        "code": _EARLY.views["code"],
        "op": FLAT,
    },
    style=_EARLY.style._replace(has_legend=False, closes_empty=False),
    scalars_have_shape=False,
    adds_to_log=False,
)

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {"core": _CORE, "early": _EARLY, "contrib": _CONTRIB}
)

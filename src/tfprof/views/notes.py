"""Notes on a view: files that were not given, ops that are not counted, options without effect."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.columns import Bools
from tfprof.measures.numbers import float_ops_per_run, macs_per_run
from tfprof.memo import remembered
from tfprof.metrics import BY_KEY, THRESHOLD_KEYS, Metric, Need
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.patterns import Patterns
from tfprof.views import accounting
from tfprof.views.registry import VIEWS, Trait
from tfprof.views.view import TABLE_VALUE_TYPES

_MOST_KINDS = 5
_COUNTED = {"float_ops": "float ops", "macs": "MACs"}


def notes(kind: str, profile: ProfileColumns, options: Options) -> tuple[str, ...]:
    """The caveats that a reader of this view should know before quoting its numbers."""
    return (
        *_missing_inputs(profile, options),
        *_float_ops(profile, options),
        *_matching(kind, profile, options),
        *_values(profile, options),
        *_definitions(profile, options),
        *_old_options(options),
        *(_code(profile, options) if Trait.CODE in VIEWS[kind].traits else ()),
    )


def _requested_metrics(options: Options) -> list[Metric]:
    """The metrics that a question shows, orders by or filters by."""
    keys = [*options.select, options.order_by]
    keys += [key for key in THRESHOLD_KEYS if options.threshold(key)]
    return [BY_KEY[key] for key in dict.fromkeys(keys) if key in BY_KEY]


def _missing_inputs(profile: ProfileColumns, options: Options) -> Iterator[str]:
    missing: dict[Need, list[str]] = {}
    for metric in _requested_metrics(options):
        if not profile.has(metric.needs):
            missing.setdefault(metric.needs, []).append(f"`{metric.key}`")
    for need, keys in missing.items():
        verb = "requires" if len(keys) == 1 else "require"
        files = profile.remedies[need]
        yield (
            f"{' and '.join(keys)} {verb} {files}, which was not given; "
            "all values are zero or missing."
        )


def _float_ops(profile: ProfileColumns, options: Options) -> Iterator[str]:
    """Which ops have no float ops or MACs because they could not be counted."""
    requested = {metric.key for metric in _requested_metrics(options)}
    what = " and ".join(name for key, name in _COUNTED.items() if key in requested)
    if not what:
        return
    found = float_ops_per_run(profile)
    is_defined = profile.ops.is_defined
    rows = _accounted(profile, options) & is_defined
    if kinds := found.uncounted_kinds(rows):
        yield f"{what} of {_tally(kinds)} are not counted: there is no rule for them."
    if undefined := int((found.without_rule & ~is_defined).sum()):
        are, their = ("is", "its") if undefined == 1 else ("are", "their")
        yield (
            f"{_ops(undefined)} that ran {are} not in the graph; {their} {what} are not counted."
        )
    if kinds := found.shapeless_kinds(rows):
        hint = _shapes_hint(profile)
        yield f"{what} of {_tally(kinds)} are not counted: their shapes are unknown{hint}."
    if "macs" in requested and (missing := int((macs_per_run(profile).is_missing & rows).sum())):
        yield (
            f"the MACs of {_ops(missing)} are unknown: only their float ops are recorded, or a "
            "rule of yours does not state MACs."
        )


def _shapes_hint(profile: ProfileColumns) -> str:
    """The files that would provide the shapes, if they were not given yet."""
    return "" if profile.has(Need.RUNS) else f"; give {profile.remedies[Need.RUNS]}"


def _accounted(profile: ProfileColumns, options: Options) -> Bools:
    return accounting.matching_regexes(profile, options.account_type_regexes) > 0


def _tally(kinds: list[tuple[str, int]]) -> str:
    """`40 ops of 3 kinds (Relu 31, …)`."""
    total = sum(count for _, count in kinds)
    shown = ", ".join(f"{kind} {count:,}" for kind, count in kinds[:_MOST_KINDS])
    more = f" and {len(kinds) - _MOST_KINDS:,} more" if len(kinds) > _MOST_KINDS else ""
    of_kinds = "kind" if len(kinds) == 1 else "kinds"
    return f"{_ops(total)} of {len(kinds):,} {of_kinds} ({shown}{more})"


def _ops(count: int) -> str:
    return "1 op" if count == 1 else f"{count:,} ops"


def _matching(kind: str, profile: ProfileColumns, options: Options) -> Iterator[str]:
    """Likely mistakes in `account_type_regexes`."""
    once, twice = _matched(profile, options.account_type_regexes)
    if twice and Trait.GATHERED in VIEWS[kind].traits:
        match, count = ("matches", "counts") if twice == 1 else ("match", "count")
        yield (
            f"{_ops(twice)} {match} more than one of account_type_regexes and {count} once per "
            "match; combine the regexes into one, a|b, to count each op once."
        )
    regexes = ",".join(options.account_type_regexes)
    if once or not len(profile.ops):
        return
    prefixes = tuple(filter(None, options.account_type_regexes))
    longer = [name for name in profile.ops.types.names if name.startswith(prefixes)]
    if longer:
        found = ", ".join(f"`{name}`" for name in longer[:_MOST_KINDS])
        yield f"no op type matches `{regexes}`: a regex must match the whole type, such as {found}."
    elif regexes != regexes.lower():
        yield f"no op type matches `{regexes}`; devices are also types, in lower case."


@remembered
def _matched(profile: ProfileColumns, regexes: tuple[str, ...]) -> tuple[int, int]:
    """The number of ops that match any of `regexes`, and that match more than one."""
    counts = accounting.matching_regexes(profile, regexes)
    return int((counts > 0).sum()), int((counts > 1).sum())


def _values(profile: ProfileColumns, options: Options) -> Iterator[str]:
    """Which types of tensor values a table does not show."""
    if "tensor_value" not in options.select:
        return
    left_out = sorted(set(profile.tensors.dtype) - TABLE_VALUE_TYPES)
    if left_out:
        yield f"tables do not show values of type {', '.join(left_out)}; use --json to see them."


def _definitions(profile: ProfileColumns, options: Options) -> Iterator[str]:
    """Which defined types match no op."""
    for definition in options.define_type:
        name, _, regex = definition.partition("=")
        if len(profile.ops) and not Patterns((regex,)).match_column(profile.ops.name).any():
            yield f"no op name matches `{regex}`, so no op has the type `{name}`."


def _old_options(options: Options) -> Iterator[str]:
    """What to use instead of options of older generations."""
    if options.viz:
        yield (
            "-viz has no effect; to draw the view, use -output timeline:outfile=F or "
            "speedscope:outfile=F."
        )
    if options.dump_to_file and options.output:
        yield f"-dump_to_file takes precedence; -output {options.output} was ignored."


def _code(profile: ProfileColumns, options: Options) -> Iterator[str]:
    from tfprof.views import code  # noqa: PLC0415 -- only the code view needs it

    recounts = "recount" in options.generation.policy("code").steps
    if options.account_displayed_op_only and not recounts:
        yield "the code view ignores account_displayed_op_only; totals include hidden lines."
    if left_out := code.arrange_for(profile, options).gradients_left_out:
        yield (
            "1 gradient op is left out: its forward op has no code line."
            if left_out == 1
            else f"{left_out:,} gradient ops are left out: their forward ops have no code line."
        )
    if "tensor_value" in options.select:
        yield "the code view has no tensor values; the scope and graph views do."
    if "occurrence" in options.select or "input_shapes" in options.select:
        yield "the code view has no occurrence or input shapes; the op view does."

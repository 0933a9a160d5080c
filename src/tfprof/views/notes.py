"""What an answer lacks, in sentences: files that were not given, ops that could not be counted."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.columns import Bools
from tfprof.measures.numbers import float_ops_per_run
from tfprof.memo import remembered
from tfprof.metrics import BY_KEY, THRESHOLD_KEYS, Metric, Need
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.patterns import Patterns
from tfprof.views import accounting
from tfprof.views.registry import VIEWS, Trait
from tfprof.views.view import TABLE_VALUE_TYPES

_MOST_KINDS = 5


def notes(kind: str, profile: ProfileColumns, options: Options) -> tuple[str, ...]:
    """Everything a reader of this view should know before quoting its numbers."""
    return (
        *_missing_inputs(profile, options),
        *_float_ops(profile, options),
        *_matching(kind, profile, options),
        *_values(profile, options),
        *_definitions(profile, options),
        *_older_words(options),
        *(_code(profile, options) if Trait.CODE in VIEWS[kind].traits else ()),
    )


def _asked(options: Options) -> list[Metric]:
    """The metrics that a question shows, orders by or filters by."""
    keys = [*options.select, options.order_by]
    keys += [key for key in THRESHOLD_KEYS if options.threshold(key)]
    return [BY_KEY[key] for key in dict.fromkeys(keys) if key in BY_KEY]


def _missing_inputs(profile: ProfileColumns, options: Options) -> Iterator[str]:
    missing: dict[Need, list[str]] = {}
    for metric in _asked(options):
        if not profile.has(metric.needs):
            missing.setdefault(metric.needs, []).append(f"`{metric.key}`")
    for need, keys in missing.items():
        verb = "requires" if len(keys) == 1 else "require"
        given = profile.remedies[need]
        yield f"{' and '.join(keys)} {verb} {given}, not given; all values are zero or missing."


def _float_ops(profile: ProfileColumns, options: Options) -> Iterator[str]:
    """Which ops have no float ops because nobody could count them."""
    if BY_KEY["float_ops"] not in _asked(options):
        return
    found = float_ops_per_run(profile)
    is_defined = profile.ops.is_defined
    rows = _accounted(profile, options) & is_defined
    if kinds := found.uncounted_kinds(rows):
        yield f"float ops of {_tally(kinds)} are not counted: there is no rule for them."
    if strangers := int((found.without_rule & ~is_defined).sum()):
        yield f"float ops of {_ops(strangers)} missing from the graph are not counted."
    if kinds := found.shapeless_kinds(rows):
        more = _more(profile)
        yield f"float ops of {_tally(kinds)} are not counted: their shapes are unknown{more}."


def _more(profile: ProfileColumns) -> str:
    """What would provide the shapes, if there is anything."""
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
    """Surprises of `account_type_regexes`."""
    once, twice = _matched(profile, options.account_type_regexes)
    if twice and Trait.GATHERED in VIEWS[kind].traits:
        yield (
            f"more than one of account_type_regexes matches {_ops(twice)}, and each match counts; "
            "write one regex, a|b, to count an op once."
        )
    regexes = ",".join(options.account_type_regexes)
    if once or not len(profile.ops):
        return
    longer = [name for name in profile.ops.types.names if name.startswith(_words(options))]
    if longer:
        found = ", ".join(f"`{name}`" for name in longer[:_MOST_KINDS])
        yield f"no op's types match `{regexes}`, which stands for whole types; there is {found}."
    elif regexes != regexes.lower():
        yield f"no op's types match `{regexes}`; devices are types too, in lower case."


def _words(options: Options) -> tuple[str, ...]:
    """The regexes that say something, to be looked for as they are."""
    return tuple(filter(None, options.account_type_regexes))


@remembered
def _matched(profile: ProfileColumns, regexes: tuple[str, ...]) -> tuple[int, int]:
    """How many ops one of `regexes` matches, and how many more than one."""
    counts = accounting.matching_regexes(profile, regexes)
    return int((counts > 0).sum()), int((counts > 1).sum())


def _values(profile: ProfileColumns, options: Options) -> Iterator[str]:
    """Which types of tensors a table has no values of."""
    if "tensor_value" not in options.select:
        return
    left_out = sorted(set(profile.tensors.dtype) - TABLE_VALUE_TYPES)
    if left_out:
        yield f"the table has no values of type {', '.join(left_out)}; --json has them."


def _definitions(profile: ProfileColumns, options: Options) -> Iterator[str]:
    """Types that were defined for ops there are not."""
    for definition in options.define_type:
        name, _, regex = definition.partition("=")
        if len(profile.ops) and not Patterns((regex,)).match_column(profile.ops.name).any():
            yield f"no op's name matches `{regex}`, so none has the type `{name}`."


def _older_words(options: Options) -> Iterator[str]:
    """What to use today in place of what an older generation had."""
    if options.viz:
        yield "-viz opens nothing yet: -output timeline:outfile=F and speedscope:outfile=F draw it."
    if options.dump_to_file and options.output:
        yield f"-dump_to_file goes before -output {options.output}, which was left aside."


def _code(profile: ProfileColumns, options: Options) -> Iterator[str]:
    from tfprof.views import code  # noqa: PLC0415 -- the other views do without

    recounts = "recount" in options.generation.policy("code").steps
    if options.account_displayed_op_only and not recounts:
        yield "the code view does not know account_displayed_op_only; totals cover everything."
    if left_out := code.arrange_for(profile, options).gradients_left_out:
        are = "is" if left_out == 1 else "are"
        yield f"{_ops(left_out)} of gradients {are} left out: their forward ops have no code line."
    if "tensor_value" in options.select:
        yield "the code view has no tensor values; the scope and graph views do."
    if "occurrence" in options.select or "input_shapes" in options.select:
        yield "the code view has no occurrence and no input shapes; the op view does."

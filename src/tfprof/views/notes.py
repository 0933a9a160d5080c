"""Notes on a view: missing files, ops that are not counted, rows that are not shown, and more."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tfprof.columns import Bools
from tfprof.measures import warm_up
from tfprof.measures.numbers import float_ops_per_run, is_unsigned, macs_per_run
from tfprof.memo import remembered
from tfprof.metrics import BY_KEY, THRESHOLD_KEYS, Metric, Need
from tfprof.model.notes import Subject, subject_of
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import USUAL_STEPS
from tfprof.options import Options
from tfprof.patterns import Patterns
from tfprof.units import counted
from tfprof.views import accounting, cuts, unmatched
from tfprof.views.registry import Trait
from tfprof.views.view import TABLE_VALUE_TYPES, View, chosen_by

_MOST_KINDS = 5
_COUNTED = {"float_ops": "float ops", "macs": "MACs"}
# What a view is about, whatever it shows.
_SUBJECTS = {Trait.CODE: Subject.CODE, Trait.EDGES: Subject.EDGES}


def notes(view: View) -> tuple[str, ...]:
    """What a reader of this view should know before quoting its numbers; each sentence once."""
    profile, options = view.profile, view.options
    uncounted = tuple(_float_ops(profile, options))
    explained = _COUNTED.keys() if uncounted else ()
    without_match = tuple(unmatched.notes(view))
    found = (
        *_missing_inputs(profile, options),
        *_warm_up(profile, options),
        *_zeros(view, explained),
        *_unsigned(view),
        *uncounted,
        *without_match,
        *cuts.notes(view, is_explained=bool(without_match)),
        *_double_counts(view),
        *_values(view),
        *_definitions(profile, options),
        *_without_effect(view),
        *_old_options(options),
        *(_code(profile, options) if Trait.CODE in view.traits else ()),
    )
    return tuple(dict.fromkeys(found))


def subjects(view: View) -> Subject:
    """What a question is about: the metrics that it shows, orders by or filters by."""
    about = Subject(0)
    for trait, subject in _SUBJECTS.items():
        about |= subject if trait in view.traits else Subject(0)
    metrics = _requested_metrics(view.options)
    for metric in metrics:
        about |= subject_of(metric)
    return about if metrics else about | Subject.OPS


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


def _warm_up(profile: ProfileColumns, options: Options) -> Iterator[str]:
    """The steps that averages leave out."""
    if chosen_by(options).step == USUAL_STEPS and profile.has(Need.RUNS):
        yield from warm_up.notes(profile)


def _float_ops(profile: ProfileColumns, options: Options) -> Iterator[str]:
    """Which ops have no float ops or MACs because they could not be counted."""
    requested = {metric.key for metric in _requested_metrics(options)}
    what = " and ".join(name for key, name in _COUNTED.items() if key in requested)
    if not what:
        return
    found = float_ops_per_run(profile)
    is_defined = profile.ops.is_defined
    accounted = _accounted(profile, options)
    rows = accounted & is_defined
    if kinds := found.uncounted_kinds(rows):
        yield f"{what} of {_tally(kinds)} are not counted: there is no rule for them."
    if undefined := int((found.without_rule & accounted & ~is_defined).sum()):
        ops_are = counted(undefined, "op that ran is", "ops that ran are")
        their = "its" if undefined == 1 else "their"
        yield f"{ops_are} not in the graph; {their} {what} are not counted."
    if kinds := found.shapeless_kinds(rows):
        hint = _shapes_hint(profile)
        yield f"{what} of {_tally(kinds)} are not counted: their shapes are unknown{hint}."
    if "macs" in requested and (missing := int((macs_per_run(profile).is_missing & rows).sum())):
        ops = counted(missing, "op")
        yield (
            f"the MACs of {ops} are unknown: only their float ops are recorded, or a rule of yours "
            "does not state MACs."
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
    return f"{counted(total, 'op')} of {len(kinds):,} {of_kinds} ({shown}{more})"


def _zeros(view: View, explained: Collection[str]) -> Iterator[str]:
    """Which selected numbers are 0 although the files could contain them."""
    for key in view.options.select if len(view) > 1 else ():
        metric = BY_KEY[key]
        if not metric.is_number or not view.profile.has(metric.needs) or key in explained:
            continue
        if not view.own[key].any() and not view.total[key].any():
            yield f"`{key}` is 0 in every row: the ops that count have none in these files."


def _unsigned(view: View) -> Iterator[str]:
    """Which selected numbers are averages of negative ones, as the original computes them."""
    for key in view.options.select:
        if BY_KEY[key].is_number and is_unsigned(view.profile, chosen_by(view.options), key):
            yield (
                f"`{key}` of some ops is negative and averaged as an unsigned 64-bit number, as in "
                "the original; its totals may wrap around. -step shows the exact numbers."
            )


def _double_counts(view: View) -> Iterator[str]:
    if not view.is_gathered:
        return
    if twice := _matched_twice(view.profile, view.options.account_type_regexes):
        ops_match = counted(twice, "op matches", "ops match")
        count = "counts" if twice == 1 else "count"
        yield (
            f"{ops_match} more than one of account_type_regexes and {count} once per "
            "match; combine the regexes into one, a|b, to count each op once."
        )


@remembered
def _matched_twice(profile: ProfileColumns, regexes: tuple[str, ...]) -> int:
    """The number of ops that match more than one of `regexes`."""
    return int((accounting.matching_regexes(profile, regexes) > 1).sum())


def _values(view: View) -> Iterator[str]:
    """Which tensor values a table does not show."""
    if "tensor_value" not in view.options.select or Trait.CODE in view.traits:
        return
    if view.is_gathered:
        yield "the op view has no tensor values; the scope and graph views do."
        return
    tensors = view.profile.tensors
    left_out = sorted(set(tensors.dtype) - TABLE_VALUE_TYPES)
    if left_out:
        yield f"tables do not show values of type {', '.join(left_out)}; use --json to see them."
    if len(tensors) and all(tensors.find(name) < 0 for name in view.name):
        yield (
            "no row shown is a variable of the checkpoint; "
            "-account_type_regexes _checkpoint_variables selects them."
        )


def _definitions(profile: ProfileColumns, options: Options) -> Iterator[str]:
    """Which defined types match no op."""
    for definition in options.define_type:
        name, _, regex = definition.partition("=")
        if len(profile.ops) and not Patterns((regex,)).match_column(profile.ops.name).any():
            yield f"no op name matches `{regex}`, so no op has the type `{name}`."


def _without_effect(view: View) -> Iterator[str]:
    """Options that this view or this question does not use."""
    options, the_view = view.options, f"the {view.kind} view"
    if options.min_occurrence > 0 and Trait.CODE in view.traits:
        yield "the code view ignores min_occurrence; the other views do not."
    if options.order_by == "occurrence" and not view.is_gathered:
        yield f"{the_view} sorts by name instead of occurrence; the op view sorts by it."
    if "num_hidden_ops" in options.select and Trait.MARKS_HIDDEN not in view.traits:
        yield f"{the_view} does not show num_hidden_ops; the graph view does."
    if "held_bytes" in options.select and view.held is None:
        yield f"{the_view} does not show held_bytes; the layers view does."
    if "op_types" in options.select:
        return
    for name in dict.fromkeys(text.partition("=")[0] for text in options.define_type):
        if not options.patterns("account_type_regexes").is_everything:
            continue
        yield f"-define_type {name} has no effect without -account_type_regexes {name}."


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
    found = code.arrange_for(profile, options)
    if found.folded_lines:
        yield code.folded_note(found.folded_lines, found.folded_ops)
    elif options.my_code and not code.installed_calls(profile.code).any():
        yield "-my_code has no effect: no line is in an installed package."
    if left_out := found.gradients_left_out:
        yield (
            "1 gradient op is left out: its forward op has no code line."
            if left_out == 1
            else f"{left_out:,} gradient ops are left out: their forward ops have no code line."
        )
    if "tensor_value" in options.select:
        yield "the code view has no tensor values; the scope and graph views do."
    if "occurrence" in options.select or "input_shapes" in options.select:
        yield "the code view has no occurrence or input shapes; the op view does."

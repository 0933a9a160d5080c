"""Everything that can be asked about a profile, and every form of the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

from build import op, run
from build import profile as built
from fuzz.contract import file, folder
from fuzz.hostile import Hostile
from tfprof.api import Profile
from tfprof.budgets import outputs, starter
from tfprof.budgets.budget import Place
from tfprof.budgets.check import check
from tfprof.budgets.forms import budget_of
from tfprof.budgets.measuring import Measured
from tfprof.budgets.metrics import BUDGET_METRICS
from tfprof.commands import info_text
from tfprof.comparison_outputs import DIFF_OUTPUTS
from tfprof.comparisons import Diff
from tfprof.errors import TfprofError
from tfprof.formats.content import Content
from tfprof.metrics import METRICS
from tfprof.model.builder import ProfileBuilder
from tfprof.options import Options
from tfprof.outputs.registry import FILE_OUTPUTS, SAVED_FORMATS
from tfprof.sources.registry import BY_NAME
from tfprof.sources.source import InputFile, Reading
from tfprof.views.registry import VIEWS

EVERYTHING = Options.of(select=[metric.key for metric in METRICS], max_depth=1000)

ONE_METRIC = Options.of(select="micros", max_depth=1000)

# Options that change what is counted and shown, one set for each view.
FILTERED = {
    "scope": Options.of(select="micros,params", show_name_regexes=".*a.*", min_params=1),
    "graph": Options.of(start_name_regexes="n.*", trim_name_regexes=".*b", order_by="name"),
    "code": Options.of(select="micros", my_code=True, hide_name_regexes=".*f.*", step=0),
    "op": Options.of(select="occurrence,bytes", account_displayed_op_only=True, order_by="bytes"),
    "layers": Options.of(device_regexes=".*GPU.*", define_type="x=.*a.*", account_type_regexes="x"),
}

PLAIN = Reading()

Question = Callable[[Profile], object]


def profile_of(model: Hostile, reading: Reading = PLAIN) -> Profile:
    """The profile of all files of a model."""
    files = [
        InputFile(
            Content.of_bytes(f"{place}_{one.source}", one.content),
            BY_NAME[one.source],
            step=one.step,
            reading=reading,
        )
        for place, one in enumerate(model.files())
    ]
    if (saved := model.checkpoint()) is not None:
        index, values = saved
        path = file("model.ckpt.index", index).removesuffix(".index")
        file("model.ckpt.data-00000-of-00001", values)
        files.append(InputFile(Content(path), BY_NAME["checkpoint"]))
    return profile_from(file for file in files if file.source.looks_like(file.content))


def profile_from(files: Iterable[InputFile]) -> Profile:
    """The profile of files, which are given in the order in which they are added."""
    builder = ProfileBuilder()
    # Not `merge`, whose threads take most of the time for files that are this small.
    summaries = [one.source.add(one.source.read(one), builder, one) for one in files]
    columns = builder.build()
    columns.check()
    return Profile(columns, builder.notes, summaries)


def ask_all(profile: Profile) -> None:
    """Ask all questions in all forms; each is answered or refused with an error of tfprof."""
    _ask(profile, [question for group in QUESTIONS.values() for question in group])


def ask_each(profile: Profile, number: int) -> None:
    """Ask every kind of question in one form, which `number` chooses."""
    _ask(profile, [group[number % len(group)] for group in QUESTIONS.values()])


def ask_some(profile: Profile, number: int) -> None:
    """Ask four kinds of questions in one form each; `number` chooses both."""
    groups = list(QUESTIONS.values())
    chosen = (groups[(number + 3 * step) % len(groups)] for step in range(4))
    _ask(profile, [group[number // len(groups) % len(group)] for group in chosen])


def _ask(profile: Profile, questions: Iterable[Question]) -> None:
    for question in questions:
        with suppress(TfprofError):
            question(profile)


def _written(kind: str, output: str, profile: Profile) -> object:
    view = profile.view(kind, ONE_METRIC if output == "pprof" else EVERYTHING).view
    return [b"".join(part.pieces) for part in FILE_OUTPUTS[output].parts(view)]


def _frame(kind: str, profile: Profile) -> object:
    answer = profile.view(kind, EVERYTHING)
    return answer.to_dataframe(), answer.uncounted


def _html(kind: str, profile: Profile) -> object:
    return profile.view(kind, EVERYTHING)._repr_html_()


def _fitted(kind: str, profile: Profile) -> object:
    answer = profile.view(kind, EVERYTHING).fitted(60)
    return answer.table, answer.notes


def _filtered(kind: str, profile: Profile) -> object:
    return profile.view(kind, FILTERED[kind]).without_zero_columns().report


def _memory(profile: Profile) -> object:
    answer = profile.memory()
    return answer.report, answer.to_json(), answer.to_dataframe(), answer._repr_html_()


def _flops(profile: Profile) -> object:
    answer = profile.flops()
    return answer.report, answer.to_json(), answer.to_dataframe(), answer._repr_html_()


def _steps(profile: Profile) -> object:
    answer = profile.step_times()
    return answer.report, answer.to_json(), answer.to_dataframe(), answer._repr_html_()


def _ranks(profile: Profile) -> object:
    answer = profile.ranks()
    return answer.report, answer.to_json(), answer.to_dataframe(), answer._repr_html_()


def _advice(profile: Profile) -> object:
    answer = profile.advise()
    forms = answer.text(colour=True), answer.to_json(), answer.to_dataframe()
    return *forms, answer._repr_html_(), answer.to_message()


def _info(profile: Profile) -> object:
    return info_text.as_text(profile.info()), info_text.as_json(profile.info())


def _saved(format_: str, profile: Profile) -> object:
    """Save the profile; what was saved can be loaded again."""
    data = b"".join(SAVED_FORMATS[format_].encode(profile.columns, ()))
    content = Content.of_bytes("saved", data)
    return profile_from([InputFile(content, BY_NAME[format_])])


def _compared(kind: str, profile: Profile) -> object:
    """Compare the profile with an ordinary one, in both directions, and with itself."""
    pairs = ((_ORDINARY, profile), (profile, _ORDINARY), (profile, profile))
    answers = [Diff(*pair).view(kind, _NUMBERS, unchanged=True) for pair in pairs]
    outputs = [one for one in DIFF_OUTPUTS.values() if one.needs in VIEWS[kind].traits]
    return [b"".join(output.encode(one.compared)) for one in answers for output in outputs]


_NUMBERS = Options.of(
    select=[*(metric.key for metric in METRICS if metric.is_number), "occurrence"], max_depth=1000
)
_ORDINARY = Profile(
    built(
        op("n0/a", "VariableV2", shape=(3, 3), code=["main.py:1:f"]),
        op("n0/b_1", "MatMul", inputs=["n0/a"], code=["main.py:1:f", "net.py:7:g"]),
        *(run("n0/b_1", 10 + step, step, start=1 + 100 * step) for step in range(3)),
    )
)


def _budgets(part: str, profile: Profile) -> object:
    """Check budgets of the model, or of its scopes or layers, in all metrics."""
    names = [""] if part == "model" else list(profile.view(part, ONE_METRIC).view.name)[1:4]
    kind = {"layers": "layer"}.get(part, part)
    budgets = [
        budget_of("b", "b", Place(kind, name), metric, value)
        for name in names
        for metric in BUDGET_METRICS.values()
        for value in (("+1 %",) if metric.is_time else ("1,000", "-5 %", {"exact": 0}))
        if metric.is_of_parts or not name
    ]
    found = check(profile, budgets, profile)
    starter.text(Measured(profile))
    return (
        outputs.text(found),
        outputs.markdown(found),
        outputs.as_json(found),
        outputs.junit(found),
    )


# Every kind of question in all of its forms.
QUESTIONS: dict[str, list[Question]] = {
    **{
        kind: [
            *(partial(form, kind) for form in (_frame, _html, _fitted, _filtered)),
            *(
                partial(_written, kind, name)
                for name, output in FILE_OUTPUTS.items()
                if output.supports(kind)
            ),
        ]
        for kind in VIEWS
    },
    "memory": [_memory],
    "flops": [_flops],
    "steps": [_steps],
    "ranks": [_ranks],
    "advice": [_advice],
    "info": [_info],
    "diff": [partial(_compared, kind) for kind in VIEWS],
    "budgets": [partial(_budgets, part) for part in ("model", "scope", "layers")],
    "whole": [
        *(partial(_saved, format_) for format_ in SAVED_FORMATS),
        lambda profile: profile.report().to_html(),
        lambda profile: profile.report().data(),
        lambda profile: profile.write_timeline(folder() / "timeline.json"),
    ],
}

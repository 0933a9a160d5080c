"""Answers to the questions of a page that is served: the same rows and numbers as elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import tfprof
from report_pages import MODELS, ROOT
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.metrics import THRESHOLD_KEYS
from tfprof.page.answer import answer
from tfprof.page.views import WHOLE, build_views, metrics


@pytest.fixture(scope="module", params=MODELS)
def profile(request):
    return tfprof.load(*(ROOT / path for path in MODELS[request.param]))


# Rows with negative numbers are hidden by default.
NEGATIVE = {f"min_{key}": -(2**63) for key in THRESHOLD_KEYS}
QUESTIONS = {
    "all rows": {},
    "depth": {"max_depth": 3},
    "order": {"order_by": "params"},
    "names": {"show_name_regexes": [".*conv.*|.*dense.*"], "hide_name_regexes": [".*save.*"]},
    "start": {"start_name_regexes": ["unit_1.*", "model.*"], "trim_name_regexes": [".*sub1"]},
    "types": {"account_type_regexes": ["_trainable_variables"]},
    "threshold": {"min_params": 100},
    "shown only": {"show_name_regexes": [".*conv.*"], "account_displayed_op_only": True},
    "defined type": {"define_type": "c=.*conv.*", "account_type_regexes": "c"},
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("kind", ["scope", "graph", "op", "layers"])
def test_an_answer_has_the_rows_and_numbers_of_the_view(kind, question, profile):
    options = WHOLE.but(**QUESTIONS[question])
    view = profile.view(kind, options).view
    whole = build_views(profile.columns)[kind]

    found = answer(view, profile.columns)

    assert [whole.name[row] for row in found["row"]] == list(view.name)
    assert found["view"]["end"].tolist() == view.tree.end.tolist()
    assert found["view"]["accounted"].tolist() == view.is_accounted.tolist()
    assert found["view"]["ops"].tolist() == view.members.lengths.tolist()
    assert found["view"]["notes"] == list(view.notes)
    assert "name" not in found["view"]
    for metric in metrics(profile.columns):
        key = metric["column"]
        assert own(found["view"], profile.columns, key).tolist() == view.own[key].tolist()
        if kind != "op":
            assert total(found["view"], profile.columns, key).tolist() == view.total[key].tolist()


def own(section, columns, key):
    """Own numbers as the page derives them."""
    numbers = np.append(per_op(columns, EVERYTHING)[key], 0)
    return section["own"].get(key, numbers[section["op"]])


def total(section, columns, key):
    """Totals as the page derives them."""
    before = np.append(0, np.cumsum(own(section, columns, key)))
    return section["total"].get(key, before[section["end"]] - before[:-1])


def test_numbers_of_ops_that_a_dialect_counts_differently_are_sent():
    profile = tfprof.load(*(ROOT / path for path in MODELS["resnet32"]))
    view = profile.view("scope", WHOLE.but(dialect="early")).view

    found = answer(view, profile.columns)

    sent = own(found["view"], profile.columns, "float_ops")
    assert sent.tolist() == view.own["float_ops"].tolist()


@pytest.mark.parametrize("changed", [{"my_code": True}, {"dialect": "early"}])
def test_an_option_that_changes_the_rows_is_answered_with_other_rows(changed):
    profile = tfprof.load(*(ROOT / path for path in MODELS["resnet32"]))
    view = profile.view("code", WHOLE.but(**changed)).view

    found = answer(view, profile.columns)

    assert list(found["view"]["name"]) == list(view.name)
    assert found["row"] is None


def listed_ops(profile, kind, options):
    """The numbers of all ops that an answer has, as the page reads them."""
    found = answer(profile.view(kind, options).view, profile.columns)["ops"]
    of_page = per_op(profile.columns, EVERYTHING)
    return found, lambda key: found["numbers"].get(key, of_page[key]).tolist()


@pytest.mark.parametrize("kind", ["scope", "graph", "op", "layers", "code"])
def test_ops_have_the_numbers_of_the_chosen_step(kind):
    profile = tfprof.load(*(ROOT / path for path in MODELS["transformer"]))
    found, numbers = listed_ops(profile, kind, WHOLE.but(step=3))

    scope = profile.view("scope", WHOLE.but(step=3)).view
    counted = np.ones(len(profile.columns.ops)) if found["counted"] is None else found["counted"]
    expected = scope.op_numbers("nanos") * counted
    assert numbers("nanos") == expected.tolist()
    assert "float_ops" not in found["numbers"] or found["counted"] is not None
    assert found["row"] is None


@pytest.mark.parametrize("kind", ["op", "layers"])
def test_ops_that_do_not_count_have_no_numbers(kind, profile):
    found, numbers = listed_ops(profile, kind, WHOLE.but(account_type_regexes=["MatMul", "Conv2D"]))

    kinds = profile.columns.ops.kind
    is_counted = [name in ("MatMul", "Conv2D") for name in kinds]
    assert found["counted"].tolist() == is_counted
    assert [number > 0 for number in numbers("float_ops")] == is_counted


@pytest.mark.parametrize("depth", [2, WHOLE.max_depth])
def test_ops_of_hidden_rows_are_part_of_the_row_shown_above_them(depth):
    profile = tfprof.load(*(ROOT / path for path in MODELS["resnet32"]))
    view = profile.view("code", WHOLE.but(my_code=True, max_depth=depth)).view

    row = answer(view, profile.columns)["ops"]["row"]

    every = profile.view("code", WHOLE.but(my_code=True, **NEGATIVE)).view
    place = {row: place for place, row in enumerate(every.arranged.tolist())}
    for shown in range(1, len(view)):
        start = place[int(view.arranged[shown])]
        below = every.members.take(np.arange(start, every.tree.end[start])).values
        inside = (row >= shown) & (row < view.tree.end[shown])
        assert np.flatnonzero(inside).tolist() == sorted(below.tolist())

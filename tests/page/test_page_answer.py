"""Answers to the questions of a page that is served: the same rows and numbers as elsewhere."""

from __future__ import annotations

import pytest

import tfprof
from report_pages import MODELS, ROOT
from tfprof.page.answer import answer
from tfprof.page.views import WHOLE, build_views


@pytest.fixture(scope="module", params=MODELS)
def profile(request):
    return tfprof.load(*(ROOT / path for path in MODELS[request.param]))


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

    assert found["data"] is None
    assert [whole.name[row] for row in found["row"]] == list(view.name)
    assert found["end"].tolist() == view.tree.end.tolist()
    assert found["total"].get("params", [0])[0] == view.total["params"][0]
    for which, numbers in (("own", view.own), ("total", view.total)):
        for column, values in found[which].items():
            assert values.tolist() == numbers[column].tolist()
    assert found["notes"] == list(view.notes)


@pytest.mark.parametrize("changed", [{"my_code": True}, {"dialect": "early"}])
def test_an_option_that_changes_the_rows_is_answered_with_other_rows(changed):
    profile = tfprof.load(*(ROOT / path for path in MODELS["resnet32"]))
    view = profile.view("code", WHOLE.but(**changed)).view

    found = answer(view, profile.columns)

    assert list(found["data"]["name"]) == list(view.name)
    assert found["row"].tolist() == list(range(len(view)))

"""Types that a question defines for ops by their names."""

import pytest

from asking import ask, outline, texts
from build import op, profile
from tfprof.errors import OptionError
from tfprof.options import Options
from tfprof.views.definitions import applied
from tfprof.views.notes import notes

ATTENTION = {"attention": ".*attn.*"}


def layers():
    return profile(op("enc/attn_1/w", "VariableV2"), op("enc/mlp/w", "VariableV2"))


def test_a_defined_type_can_be_accounted_by():
    view = ask("op", layers(), define_type=ATTENTION, account_type_regexes=["attention"])

    assert [list(view.members[row]) for row in range(len(view))] == [[], [0]]


def test_a_defined_type_is_one_more_beside_the_others():
    view = ask("scope", layers(), define_type=ATTENTION)

    assert texts("op_types", view, view.name.index("enc/attn_1/w")) == ["VariableV2", "attention"]
    assert texts("op_types", view, view.name.index("enc/mlp/w")) == ["VariableV2"]


def test_an_op_may_get_several_types():
    view = ask("scope", layers(), define_type=["all=.*", "some=.*mlp.*", "all=enc.*"])

    assert texts("op_types", view, view.name.index("enc/mlp/w")) == ["VariableV2", "all", "some"]


def test_a_regex_has_to_match_the_whole_name():
    view = ask("scope", layers(), define_type="x=attn", account_type_regexes=["x"])

    assert outline(view) == []


def test_a_profile_without_definitions_stays_as_it_is():
    p = layers()

    assert applied(p, Options()) is p


def test_the_last_definitions_are_remembered_and_no_others():
    p = layers()
    first = applied(p, Options.of(define_type=ATTENTION))

    assert applied(p, Options.of(define_type=ATTENTION)) is first
    applied(p, Options.of(define_type={"other": "x"}))
    assert applied(p, Options.of(define_type=ATTENTION)) is not first


def test_a_profile_with_definitions_keeps_all_invariants():
    applied(layers(), Options.of(define_type=ATTENTION, dialect="contrib")).check()


def test_a_type_of_no_op_is_noted():
    told = notes("scope", layers(), Options.of(define_type="x=attn"))

    assert "no op's name matches `attn`, so none has the type `x`." in told


@pytest.mark.parametrize("text", ["attention", "=.*", "attention="])
def test_what_is_no_definition_is_refused(text):
    with pytest.raises(OptionError, match=r"takes TYPE=REGEX, as in attn=.*, not `"):
        Options.of(define_type=text)


def test_a_definition_with_a_broken_regex_is_refused():
    with pytest.raises(OptionError, match="`define_type`: "):
        Options.of(define_type="x=a(")

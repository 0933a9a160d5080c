"""Types that `define_type` defines for ops by their names."""

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


def test_ops_can_be_accounted_for_by_a_defined_type():
    view = ask("op", layers(), define_type=ATTENTION, account_type_regexes=["attention"])

    assert [list(view.members[row]) for row in range(len(view))] == [[], [0]]


def test_a_defined_type_is_added_to_the_other_types():
    view = ask("scope", layers(), define_type=ATTENTION)

    assert texts("op_types", view, view.name.index("enc/attn_1/w")) == ["VariableV2", "attention"]
    assert texts("op_types", view, view.name.index("enc/mlp/w")) == ["VariableV2"]


def test_an_op_may_get_several_types():
    view = ask("scope", layers(), define_type=["all=.*", "some=.*mlp.*", "all=enc.*"])

    assert texts("op_types", view, view.name.index("enc/mlp/w")) == ["VariableV2", "all", "some"]


def test_a_regex_must_match_the_whole_name():
    view = ask("scope", layers(), define_type="x=attn", account_type_regexes=["x"])

    assert outline(view) == []


def test_a_profile_without_definitions_is_unchanged():
    p = layers()

    assert applied(p, Options()) is p


def test_only_the_last_definitions_are_cached():
    p = layers()
    first = applied(p, Options.of(define_type=ATTENTION))

    assert applied(p, Options.of(define_type=ATTENTION)) is first
    applied(p, Options.of(define_type={"other": "x"}))
    assert applied(p, Options.of(define_type=ATTENTION)) is not first


def test_a_profile_with_definitions_satisfies_all_invariants():
    applied(layers(), Options.of(define_type=ATTENTION, dialect="contrib")).check()


def test_a_type_without_ops_is_noted():
    found = notes(ask("scope", layers(), define_type="x=attn", select=[]))

    assert "no op name matches `attn`, so no op has the type `x`." in found


@pytest.mark.parametrize("text", ["attention", "=.*", "attention="])
def test_an_invalid_definition_is_rejected(text):
    with pytest.raises(OptionError, match=r"takes TYPE=REGEX, as in attn=.*, not `"):
        Options.of(define_type=text)


def test_a_definition_with_an_invalid_regex_is_rejected():
    with pytest.raises(OptionError, match="`define_type`: "):
        Options.of(define_type="x=a(")

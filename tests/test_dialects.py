"""The registry of dialects, and how options depend on it."""

from typing import get_args

import pytest

from tfprof.dialects import DIALECTS, Step
from tfprof.errors import OptionError
from tfprof.options import VIEW_OPTIONS, Options, default_of
from tfprof.options.words import take_options


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_refers_only_to_existing_options_and_views(name):
    dialect = DIALECTS[name]

    assert dialect.help
    assert set(dialect.options) <= VIEW_OPTIONS.keys()
    assert {*dialect.defaults, *dialect.remarks} <= set(dialect.options)
    assert list(dialect.views) == ["scope", "graph", "code", "op"]


@pytest.mark.parametrize("name", DIALECTS)
def test_every_view_has_the_required_steps_and_no_step_twice(name):
    for policy in DIALECTS[name].views.values():
        assert {"account", "start", "show", "reach", "order"} <= set(policy.steps)
        assert len(set(policy.steps)) == len(policy.steps)


def test_every_step_is_used_by_some_view():
    policies = [policy for dialect in DIALECTS.values() for policy in dialect.views.values()]

    assert {step for policy in policies for step in policy.steps} == set(get_args(Step))


@pytest.mark.parametrize("name", DIALECTS)
def test_a_default_of_a_dialect_is_a_valid_value_of_its_option(name):
    for option, value in DIALECTS[name].defaults.items():
        assert VIEW_OPTIONS[option].check(value) == value


def test_core_is_the_default_dialect():
    assert Options().generation is DIALECTS["core"]
    assert DIALECTS["core"].defaults == {}


def test_a_dialect_sets_its_defaults():
    options = Options.of(dialect="contrib")

    assert (options.max_depth, options.account_type_regexes) == (4, ("Variable",))
    assert options.select == ("params",)


def test_explicit_options_override_the_defaults_of_a_dialect():
    assert Options.of(dialect="contrib", max_depth=7).max_depth == 7
    assert Options.of(max_depth=7).but(dialect="contrib").max_depth == 7


def test_changing_the_dialect_removes_the_defaults_of_the_previous_one():
    options = Options.of(dialect="contrib", min_params=1).but(dialect="early")

    assert (options.max_depth, options.account_type_regexes) == (10, (".*",))
    assert (options.select, options.min_params) == (("params",), 1)
    assert options.but(dialect="core") == Options.of(min_params=1)


def test_the_default_of_an_option_depends_on_the_dialect():
    assert default_of("max_depth", "contrib") == 4
    assert default_of("max_depth", "early") == VIEW_OPTIONS["max_depth"].default


def test_an_unknown_dialect_is_refused_with_the_closest_name():
    with pytest.raises(OptionError, match="Did you mean `contrib`"):
        Options.of(dialect="contribs")


def test_dump_to_file_overrides_output():
    options = Options.of(dump_to_file="a,b=c", output="json:outfile=x")

    assert options.destination.kind == "file"
    assert options.destination.outfile == "a,b=c"


def test_repeated_type_definitions_add_up():
    given, _ = take_options(["-define_type", "a=x", "-define_type", "b=y,c=z"], VIEW_OPTIONS)

    assert given == {"define_type": ("a=x", "b=y", "c=z")}

"""Options from text and from Python: their values, and the errors for invalid ones."""

from pathlib import Path

import numpy as np
import pytest

from tfprof.errors import OptionError
from tfprof.options import (
    INPUT_OPTIONS,
    VIEW_OPTIONS,
    Inputs,
    Options,
    OutputSpec,
    find,
)
from tfprof.options.words import take_options
from tfprof.patterns import Patterns

ALL_OPTIONS = VIEW_OPTIONS | INPUT_OPTIONS

# Every option, with a value as typed and as parsed.
TYPED = {
    "max_depth": ("3", 3),
    "min_bytes": ("1", 1),
    "min_peak_bytes": ("2", 2),
    "min_residual_bytes": ("3", 3),
    "min_output_bytes": ("4", 4),
    "min_micros": ("5", 5),
    "min_accelerator_micros": ("6", 6),
    "min_cpu_micros": ("7", 7),
    "min_transfer_micros": ("12", 12),
    "min_params": ("8", 8),
    "min_slots": ("8", 8),
    "min_float_ops": ("9", 9),
    "min_macs": ("9", 9),
    "min_occurrence": ("10", 10),
    "step": ("-1", -1),
    "recording": ("worker:1,host.*", ("worker:1", "host.*")),
    "rank": ("0,3", (0, 3)),
    "order_by": ("cpu_micros", "cpu_micros"),
    "account_type_regexes": ("VariableV2,.*gpu:0", ("VariableV2", ".*gpu:0")),
    "start_name_regexes": ("net/.*", ("net/.*",)),
    "trim_name_regexes": ("a,b", ("a", "b")),
    "show_name_regexes": (".*", (".*",)),
    "hide_name_regexes": ("save/.*", ("save/.*",)),
    "account_displayed_op_only": ("yes", True),
    "select": ("params,micros", ("micros", "params")),
    "output": ("file:outfile=report.txt", "file:outfile=report.txt"),
    "define_type": ("attn=.*attn.*,dense=fc.*", ("attn=.*attn.*", "dense=fc.*")),
    "device_regexes": (".*gpu:0", (".*gpu:0",)),
    "dialect": ("contrib", "contrib"),
    "dump_to_file": ("report.txt", "report.txt"),
    "my_code": ("true", True),
    "viz": ("true", True),
    "graph_path": ("graph.pbtxt", "graph.pbtxt"),
    "run_meta_path": ("one,7:two", ((None, "one"), (7, "two"))),
    "op_log_path": ("op_log", "op_log"),
    "checkpoint_path": ("model.ckpt", "model.ckpt"),
    "profile_path": ("profile_100", "profile_100"),
    "count_float_ops": ("false", False),
    "functions": ("true", True),
    "signature": ("serving_default", "serving_default"),
    "batch_size": ("32", 32),
    "partial": ("true", True),
}


def typed(*words):
    """The options set by a command line, and the remaining words."""
    return take_options(words, ALL_OPTIONS)


def in_shell(*words):
    """The options set by a line of the shell, and the remaining words."""
    return take_options(words, VIEW_OPTIONS, dashes=("-",), loose=False)


def refusal(question, *args, **given):
    """The error message of a call that must fail."""
    with pytest.raises(OptionError) as caught:
        question(*args, **given)
    return str(caught.value)


def test_the_table_above_has_every_option():
    assert set(TYPED) == set(ALL_OPTIONS)


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("spelling", ["-{} {}", "--{} {}", "--{}={}", "-{}={}"])
def test_an_option_is_set_by_a_command_line(name, spelling):
    text, value = TYPED[name]

    assert typed(*spelling.format(name, text).split()) == ({name: value}, [])


@pytest.mark.parametrize("name", VIEW_OPTIONS)
def test_an_option_is_set_by_a_line_of_the_shell(name):
    text, value = TYPED[name]

    assert in_shell(f"-{name}", text) == ({name: value}, [])


@pytest.mark.parametrize("name", ALL_OPTIONS)
def test_the_help_of_an_option_is_a_sentence(name):
    assert ALL_OPTIONS[name].help[0].isupper()
    assert ALL_OPTIONS[name].help[-1] == "."


@pytest.mark.parametrize("name", VIEW_OPTIONS)
def test_a_default_is_a_value_the_option_accepts(name):
    option = VIEW_OPTIONS[name]

    assert option.check(option.default) == option.default


@pytest.mark.parametrize("name", INPUT_OPTIONS)
def test_an_input_that_is_not_given_is_left_at_its_default(name):
    assert getattr(Inputs(), name) == INPUT_OPTIONS[name].default


# Words on the command line and in the shell.


def test_words_between_options_are_left_over():
    given, rest = typed("scope", "--max_depth", "2", "graph.pb", "-step=1", "run_meta")

    assert given == {"max_depth": 2, "step": 1}
    assert rest == ["scope", "graph.pb", "run_meta"]


def test_the_last_value_of_a_repeated_option_counts():
    assert typed("-step", "1", "--step=2") == ({"step": 2}, [])


def test_a_value_may_contain_equals_signs():
    assert typed("--output=file:outfile=a") == ({"output": "file:outfile=a"}, [])


def test_a_number_may_be_negative():
    assert typed("-step", "-5") == ({"step": -5}, [])


def test_all_steps_can_be_chosen_by_name():
    step = find("step", ALL_OPTIONS)

    assert typed("-step", "all") == ({"step": -2}, [])
    assert step.words(-2) == ("-step", "all")
    assert Options.of(step="all") == Options(step=-2)
    assert Options.of(step="3") == Options(step=3)


def test_a_negative_number_alone_is_not_an_option():
    assert typed("-5") == ({}, ["-5"])


def test_a_dash_alone_is_not_an_option():
    assert typed("-") == ({}, ["-"])


def test_the_shell_returns_words_that_do_not_belong_to_an_option():
    assert in_shell("max_depth", "3") == ({}, ["max_depth", "3"])


def test_the_shell_does_not_accept_an_equals_sign():
    assert "`max_depth=3`" in refusal(in_shell, "-max_depth=3")


def test_the_shell_accepts_only_one_dash():
    assert refusal(in_shell, "--step", "3") == "Unknown option `-step`. Did you mean `step`?"


def test_an_unknown_option_is_refused_with_the_closest_name():
    assert (
        refusal(typed, "--max_dept", "3") == "Unknown option `max_dept`. Did you mean `max_depth`?"
    )


def test_an_option_unlike_any_other_is_refused_with_a_list_of_all():
    assert refusal(find, "q", INPUT_OPTIONS) == (
        "Unknown option `q`. Available: batch_size, checkpoint_path, count_float_ops, functions, "
        "graph_path, op_log_path, partial, profile_path, run_meta_path, signature."
    )


def test_an_option_without_a_value_is_refused_with_its_usage():
    assert refusal(typed, "--max_depth") == "`-max_depth` requires a value: -max_depth NUMBER."


def test_an_option_is_not_accepted_as_the_value_of_another():
    assert refusal(typed, "--max_depth", "--step") == (
        "`-max_depth` takes a whole number, not `--step`."
    )


# Switches.


@pytest.mark.parametrize("text", ["true", "True", "t", "yes", "Y", "1"])
def test_a_switch_can_be_turned_on(text):
    assert typed("--account_displayed_op_only", text) == ({"account_displayed_op_only": True}, [])


@pytest.mark.parametrize("text", ["false", "False", "f", "no", "N", "0"])
def test_a_switch_can_be_turned_off(text):
    assert typed("--account_displayed_op_only", text) == ({"account_displayed_op_only": False}, [])


def test_a_switch_alone_is_on():
    assert typed("--account_displayed_op_only") == ({"account_displayed_op_only": True}, [])


def test_a_switch_before_another_option_is_on():
    given, _ = in_shell("-account_displayed_op_only", "-max_depth", "2")

    assert given == {"account_displayed_op_only": True, "max_depth": 2}


def test_a_file_may_follow_a_switch_on_the_command_line():
    given, rest = typed("--account_displayed_op_only", "graph.pb")

    assert given == {"account_displayed_op_only": True}
    assert rest == ["graph.pb"]


def test_the_shell_refuses_an_invalid_word_after_a_switch():
    assert refusal(in_shell, "-account_displayed_op_only", "maybe") == (
        "`-account_displayed_op_only` takes true or false, not `maybe`."
    )


def test_a_switch_refuses_an_empty_value():
    assert "true or false, not ``" in refusal(typed, "--account_displayed_op_only=")


@pytest.mark.parametrize("value", [True, 1, np.True_])
def test_a_switch_can_be_turned_on_from_python(value):
    assert Options.of(account_displayed_op_only=value).account_displayed_op_only is True


@pytest.mark.parametrize("value", ["true", None, 2])
def test_a_switch_refuses_values_other_than_true_and_false(value):
    assert refusal(Options.of, account_displayed_op_only=value) == (
        f"`account_displayed_op_only` takes True or False, not {value!r}."
    )


# Numbers.


@pytest.mark.parametrize("text", ["", "ten", "1.5", "1e3", "0x10"])
def test_text_that_is_not_an_integer_is_refused(text):
    assert refusal(typed, f"--max_depth={text}") == (
        f"`-max_depth` takes a whole number, not `{text}`."
    )


@pytest.mark.parametrize(
    "value", [True, False, 1.0, "3", None, [3], np.True_, np.array([1, 2]), int]
)
def test_a_value_that_is_not_an_integer_is_refused(value):
    assert refusal(Options.of, max_depth=value) == (
        f"`max_depth` takes a whole number, not {value!r}."
    )


@pytest.mark.parametrize("number", [np.int64(3), np.int32(3), np.uint8(3), np.array(3)])
def test_a_numpy_number_becomes_a_python_number(number):
    depth = Options.of(max_depth=number).max_depth

    assert depth == 3
    assert type(depth) is int


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1])
def test_a_number_of_more_than_64_bits_is_refused(number):
    assert refusal(Options.of, min_bytes=number) == (
        f"`min_bytes` takes a 64-bit number; {number} is out of range."
    )


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63)])
def test_a_number_of_64_bits_is_accepted(number):
    assert typed(f"--min_bytes={number}") == ({"min_bytes": number}, [])


# Regexes.


def test_regexes_may_be_given_as_a_list():
    assert Options.of(trim_name_regexes=["a", "b"]).trim_name_regexes == ("a", "b")


def test_a_regex_in_a_list_keeps_its_commas_and_quotes():
    assert Options.of(trim_name_regexes=["a{1,2}", "'b'"]).trim_name_regexes == ("a{1,2}", "'b'")


def test_regexes_in_a_string_are_separated_by_commas():
    assert Options.of(trim_name_regexes="a,b").trim_name_regexes == ("a", "b")


@pytest.mark.parametrize("text", ["'a,b'", '"a,b"', "'\"a,b\"'", "'a,b"])
def test_quotes_around_the_whole_string_are_removed(text):
    assert typed("--trim_name_regexes", text) == ({"trim_name_regexes": ("a", "b")}, [])


def test_quotes_inside_the_string_are_kept():
    assert typed("--trim_name_regexes", "a','b") == ({"trim_name_regexes": ("a'", "'b")}, [])


def test_empty_regexes_in_a_string_are_ignored():
    assert typed("--trim_name_regexes", ",a,,b,") == ({"trim_name_regexes": ("a", "b")}, [])


def test_an_empty_string_is_an_empty_list():
    assert Options.of(account_type_regexes="").account_type_regexes == ()


def test_an_empty_regex_in_a_list_is_kept():
    assert Options.of(show_name_regexes=[""]).show_name_regexes == ("",)


def test_an_invalid_regex_is_refused_with_the_name_of_its_option():
    message = refusal(Options.of, hide_name_regexes=["ok", "(a"])

    assert message.startswith("`hide_name_regexes`: ")
    assert "(a" in message


@pytest.mark.parametrize("value", [5, [5], ["a", None], b"a"])
def test_regexes_that_are_not_strings_are_refused(value):
    assert refusal(Options.of, hide_name_regexes=value) == (
        f"`hide_name_regexes` takes a list of strings, not {value!r}."
    )


def test_options_provide_their_regexes_as_patterns():
    assert Options.of(hide_name_regexes="a,b").patterns("hide_name_regexes") == Patterns(("a", "b"))


# Metrics and keys.


def test_selected_metrics_are_sorted_without_duplicates():
    assert Options.of(select=["params", "micros", "params"]).select == ("micros", "params")


def test_the_selection_may_be_empty():
    assert Options.of(select=[]).select == ()


def test_an_unknown_metric_is_refused_with_the_closest_name():
    assert refusal(Options.of, select=["params", "micro"]) == (
        "`select` cannot be `micro`. Did you mean `micros`?"
    )


def test_an_unknown_metric_on_the_command_line_is_refused_with_the_closest_name():
    assert refusal(typed, "--select", "prams") == (
        "`select` cannot be `prams`. Did you mean `params`?"
    )


def test_an_unknown_order_key_is_refused_with_the_closest_name():
    assert refusal(Options.of, order_by="names") == (
        "`order_by` cannot be `names`. Did you mean `name`?"
    )


@pytest.mark.parametrize("key", ["device", "tensor_value", "runs", ""])
def test_a_metric_without_an_order_is_not_an_order_key(key):
    assert f"`order_by` cannot be `{key}`." in refusal(Options.of, order_by=key)


def test_an_order_key_may_be_quoted():
    assert typed("--order_by", '"params"') == ({"order_by": "params"}, [])


# Files.


def test_a_path_may_be_a_path_object():
    assert INPUT_OPTIONS["graph_path"].check(Path("a") / "b") == "a/b"


@pytest.mark.parametrize("value", [5, b"graph", None])
def test_a_value_that_is_not_a_path_is_refused(value):
    assert refusal(INPUT_OPTIONS["graph_path"].check, value) == (
        f"`graph_path` takes a file path, not {value!r}."
    )


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        ("a", ((None, "a"),)),
        ("a,b", ((None, "a"), (None, "b"))),
        ("5:a,b", ((5, "a"), (None, "b"))),
        ("'5:a'", ((5, "a"),)),
        ("C:run,5:", ((None, "C:run"), (None, "5:"))),
        ("5:C:run", ((5, "C:run"),)),
        (Path("a"), ((None, "a"),)),
        (["a,1", Path("b")], ((None, "a,1"), (None, "b"))),
        ({5: "a", np.int64(7): Path("b")}, ((5, "a"), (7, "b"))),
        ([], ()),
        ("", ()),
    ],
)
def test_run_metadata_may_be_given_in_several_forms(value, paths):
    assert INPUT_OPTIONS["run_meta_path"].check(value) == paths


def test_ranks_may_be_given_as_text_or_numbers():
    assert Options.of(rank="0,3").rank == Options.of(rank=[0, 3]).rank == (0, 3)
    assert Options.of(rank=2).rank == (2,)


def test_a_signature_that_is_not_text_is_refused():
    assert refusal(INPUT_OPTIONS["signature"].check, 5) == "`signature` takes a name, not 5."


@pytest.mark.parametrize("value", [5, [5], {"first": "a"}, {1: 5}])
def test_run_metadata_without_steps_or_paths_is_refused(value):
    assert refusal(INPUT_OPTIONS["run_meta_path"].check, value).startswith("`run_meta_path` takes ")


# Outputs.


@pytest.mark.parametrize(
    ("text", "kind", "settings"),
    [
        ("", "stdout", ()),
        ("stdout", "stdout", ()),
        ("none", "none", ()),
        ("file:outfile=a", "file", (("outfile", "a"),)),
        ("file:outfile=a=b", "file", (("outfile", "a=b"),)),
        ("file:outfile=a:b", "file", (("outfile", "a:b"),)),
        ("pprof:outfile=a,more=b", "pprof", (("outfile", "a"), ("more", "b"))),
        ("file:outfile", "file", (("outfile", ""),)),
        ("file:,", "file", ()),
        ("file:=", "file", ()),
        (":outfile=a", "stdout", (("outfile", "a"),)),
    ],
)
def test_an_output_is_parsed(text, kind, settings):
    assert OutputSpec.parse(text) == OutputSpec(kind, settings)


def test_an_output_has_its_file():
    assert OutputSpec.parse("file:outfile=a=b").outfile == "a=b"


def test_an_output_without_a_file_has_an_empty_path():
    assert OutputSpec.parse("none").outfile == ""


@pytest.mark.parametrize("text", ["none", "file:outfile=a=b", "x:a=1,b=2"])
def test_an_output_can_be_parsed_from_its_string(text):
    spec = OutputSpec.parse(text)

    assert OutputSpec.parse(str(spec)) == spec


def test_an_output_that_is_not_a_string_is_refused():
    assert refusal(Options.of, output=None) == (
        "`output` takes a string like file:outfile=F, not None."
    )


# The options together.


def test_omitted_options_have_their_defaults():
    assert Options.of(max_depth=3) == Options(max_depth=3)


def test_options_can_be_changed_one_by_one():
    assert Options.of(max_depth=3).but(step=1) == Options(max_depth=3, step=1)


def test_an_unknown_keyword_is_refused_with_the_closest_name():
    assert refusal(Options.of, min_byte=1) == "Unknown option `min_byte`. Did you mean `min_bytes`?"


def test_a_threshold_is_found_by_its_metric():
    assert Options.of(min_params=3).threshold("params") == 3


def test_equal_options_are_the_same_key():
    assert len({Options.of(select=["params"]), Options.of(select="params")}) == 1

"""The code view: ops by the lines of code that created them."""

import pytest

from asking import ROOT, ask, outline, own, total
from build import op, profile, run
from tfprof.errors import MissingInputError
from tfprof.model.code import Frame
from tfprof.views import code
from tfprof.views.notes import notes

MAIN = "main.py:1:main"
NET = "net.py:5:build"
LOSS = "loss.py:9:loss"


def with_stacks(*stacks):
    """A profile with an op for each stack: `op0`, `op1` and so on."""
    return profile(*(op(f"op{number}", code=stack) for number, stack in enumerate(stacks)))


def program():
    """A small program: two lines under one call, with an op in the caller as well."""
    return profile(
        op("net/w", "Weights", shape=(10,), float_ops=10, code=[MAIN, NET]),
        op("net/x", "Input", shape=(5,), code=[MAIN, NET]),
        op("loss", "Loss", shape=(1,), float_ops=1, code=[MAIN, LOSS]),
        op("step", "Step", shape=(2,), code=[MAIN]),
    )


def file_function(name):
    """The row name of a function with that name."""
    return code.frame_name(Frame("net.py", 5, name, "", -1))


def test_the_error_without_code_lines_names_the_missing_file():
    with pytest.raises(MissingInputError, match="--op_log_path"):
        ask("code", profile(op("a")))


def test_without_accounted_ops_only_the_root_is_shown():
    p = profile(op("a", code=[MAIN]), op("b"))

    assert outline(ask("code", p, account_type_regexes=["nothing"])) == []


# Nesting of stacks.


def test_a_line_is_below_the_line_that_called_it():
    assert outline(ask("code", with_stacks([MAIN, NET, LOSS]))) == [
        "main.py:1:main",
        "  net.py:5:build",
        "    loss.py:9:loss",
    ]


def test_ops_created_by_the_same_call_share_a_row():
    view = ask("code", program())

    assert outline(view) == ["main.py:1:main", "  loss.py:9:loss", "  net.py:5:build"]
    assert own(view, "params") == {ROOT: None, MAIN: 2, LOSS: 1, NET: 15}
    assert total(view, "params") == {ROOT: 18, MAIN: 18, LOSS: 1, NET: 15}


def test_an_op_belongs_to_the_innermost_line():
    view = ask("code", program())

    names = view.profile.ops.name
    assert [list(names.take(view.members[row])) for row in range(len(view))] == [
        [],
        ["step"],
        ["loss"],
        ["net/w", "net/x"],
    ]


def test_an_op_without_a_stack_is_left_out():
    p = profile(op("a", shape=(3,), code=[MAIN]), op("b", shape=(4,)))

    assert total(ask("code", p), "params") == {ROOT: 3, MAIN: 3}


def test_the_same_line_under_another_caller_is_another_row():
    view = ask("code", with_stacks(["a.py:1:f", NET], ["b.py:1:g", NET]))

    assert outline(view) == ["a.py:1:f", "  net.py:5:build", "b.py:1:g", "  net.py:5:build"]


def test_recursion_nests():
    view = ask("code", with_stacks([NET, NET, NET]))

    assert outline(view) == ["net.py:5:build", "  net.py:5:build", "    net.py:5:build"]


# Names of lines.


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("net.py", "net.py:5:f"),
        ("/home/user/net.py", "net.py:5:f"),
        ("lib/", ":5:f"),
        ("C\\lib\\net.py", "C\\lib\\net.py:5:f"),
    ],
)
def test_a_line_is_named_after_the_last_part_of_its_path(file, name):
    assert code.frame_name(Frame(file, 5, "f", "", -1)) == name


def test_a_function_name_of_nineteen_letters_is_shown_in_full():
    assert file_function("nineteen_characters") == "net.py:5:nineteen_characters"


def test_a_function_name_of_twenty_letters_is_truncated():
    assert file_function("twenty_characters_xx") == "net.py:5:twenty_characters..."


def test_a_function_name_is_measured_in_bytes():
    assert file_function("é" * 10) == "net.py:5:éééééééé..."


def test_functions_with_the_same_truncated_name_share_a_row():
    view = ask(
        "code",
        with_stacks(["net.py:5:twenty_characters_xx"], ["net.py:5:twenty_characters_yy"]),
    )

    assert outline(view) == ["net.py:5:twenty_characters..."]
    assert own(view, "definitions")["net.py:5:twenty_characters..."] == 2


def test_files_with_the_same_name_in_two_folders_share_a_row():
    assert outline(ask("code", with_stacks(["a/net.py:5:f"], ["b/net.py:5:f"]))) == ["net.py:5:f"]


def test_lines_are_in_the_byte_order_of_their_names():
    view = ask("code", with_stacks(["a.py:2:f"], ["a.py:12:f"], ["A.py:1:f"]))

    assert outline(view) == ["A.py:1:f", "a.py:12:f", "a.py:2:f"]


# Gradients.


def test_a_gradient_is_placed_beside_its_forward_op():
    p = profile(
        op("mul", shape=(1,), code=[MAIN, NET]),
        op("gradients/mul_grad/a", shape=(2,), code=["optimizer.py:1:minimize"]),
        op("gradients/mul_grad/b", shape=(4,), code=["optimizer.py:1:minimize"]),
    )

    view = ask("code", p)

    assert outline(view) == [
        "main.py:1:main",
        "  net.py:5:build",
        "main.py:1:main (gradient)",
        "  net.py:5:build (gradient)",
    ]
    assert own(view, "params")["net.py:5:build (gradient)"] == 6


def test_gradients_of_several_ops_on_one_line_are_in_name_order():
    p = profile(
        op("a", code=[MAIN]),
        op("b", code=[MAIN]),
        op("z/gradients/a_grad/x", code=[NET]),
        op("gradients/b_grad/y", code=[NET]),
    )

    view = ask("code", p)

    assert outline(view) == [MAIN, f"{MAIN} (gradient)"]
    members = p.ops.name.take(view.members[2])
    assert list(members) == ["gradients/b_grad/y", "z/gradients/a_grad/x"]


def test_a_gradient_without_its_forward_op_is_left_out():
    p = profile(op("a", shape=(1,), code=[MAIN]), op("gradients/b_grad/c", shape=(2,), code=[NET]))

    assert total(ask("code", p), "params") == {ROOT: 1, MAIN: 1}


def test_a_gradient_of_an_op_without_a_stack_is_left_out():
    p = profile(op("a", code=[MAIN]), op("b"), op("gradients/b_grad/c", code=[NET]))

    assert outline(ask("code", p)) == [MAIN]


def test_a_gradient_of_a_gradient_is_left_out():
    p = profile(
        op("a", code=[MAIN]),
        op("gradients/a_grad/b", code=[MAIN]),
        op("gradients/gradients/a_grad/b_grad/c", code=[MAIN]),
    )

    view = ask("code", p)

    assert outline(view) == [MAIN, f"{MAIN} (gradient)"]
    assert own(view, "definitions")[f"{MAIN} (gradient)"] == 1


def test_gradients_that_cannot_be_placed_are_counted():
    p = profile(
        op("a", code=[MAIN]),
        op("gradients/b_grad/c", code=[MAIN]),
        op("gradients/b_grad/d", code=[MAIN]),
        op("gradients/e_grad/f", code=[MAIN]),
    )

    assert code.arrange(p).gradients_left_out == 3


# Accounting.


def test_a_line_without_accounted_ops_is_dropped_unless_it_calls_one_with_some():
    view = ask("code", program(), account_type_regexes=["Loss"])

    assert outline(view) == ["main.py:1:main", "  loss.py:9:loss"]
    assert own(view, "params") == {ROOT: None, MAIN: None, LOSS: 1}


def test_an_unaccounted_op_adds_nothing_to_its_line():
    view = ask("code", program(), account_type_regexes=["Weights", "Step"])

    assert total(view, "params") == {ROOT: 12, MAIN: 12, NET: 10}


def test_accounting_for_everything_includes_lines_without_ops():
    view = ask("code", with_stacks([MAIN, NET]))

    assert own(view, "params") == {ROOT: None, MAIN: 0, NET: 0}


def test_accounting_for_everything_by_several_regexes_does_not():
    view = ask("code", with_stacks([MAIN, NET]), account_type_regexes=[".*", "X"])

    assert own(view, "params") == {ROOT: None, MAIN: None, NET: 0}


def test_an_op_counts_once_for_each_regex_that_matches_it():
    view = ask("code", program(), account_type_regexes=["Weights", "W.*", "Loss"])

    assert total(view, "params") == {ROOT: 21, MAIN: 21, LOSS: 1, NET: 20}


def test_an_op_that_matches_several_regexes_is_still_one_op():
    p = profile(op("a", "Weights", code=[MAIN]), run("a", 7))

    view = ask("code", p, account_type_regexes=["Weights", "W.*"])

    assert total(view, "micros")[MAIN] == 14
    assert total(view, "definitions")[MAIN] == 1
    assert total(view, "runs")[MAIN] == 1
    assert view.members[1].tolist() == [0]


# Filters.


def test_start_rows_are_placed_below_the_root():
    view = ask("code", program(), start_name_regexes=["net.py.*"])

    assert outline(view) == [NET]
    assert total(view, "params") == {ROOT: 18, NET: 15}


def test_the_calls_of_a_hidden_line_move_up():
    view = ask("code", program(), hide_name_regexes=[MAIN])

    assert outline(view) == [LOSS, NET]


def test_a_trimmed_line_is_dropped_with_its_calls():
    p = with_stacks([MAIN, NET, LOSS], [MAIN, "z.py:1:f"])

    assert outline(ask("code", p, trim_name_regexes=[NET])) == [MAIN, "  z.py:1:f"]


def test_a_trimmed_root_is_shown_alone():
    view = ask("code", program(), trim_name_regexes=[".*"])

    assert total(view, "params") == {ROOT: 18}


@pytest.mark.parametrize(
    ("max_depth", "shown"),
    [(-1, []), (0, []), (1, []), (2, [MAIN]), (3, [MAIN, f"  {LOSS}", f"  {NET}"])],
)
def test_lines_are_shown_down_to_max_depth(max_depth, shown):
    assert outline(ask("code", program(), max_depth=max_depth)) == shown


@pytest.mark.parametrize("key", ["params", "float_ops"])
def test_thresholds_of_parameters_and_float_ops_compare_totals(key):
    view = ask("code", program(), **{f"min_{key}": 10})

    assert outline(view) == [MAIN, f"  {NET}"]


def test_a_threshold_of_time_compares_totals():
    p = profile(op("a", code=[MAIN, NET]), op("b", code=[MAIN, LOSS]), run("a", 7), run("b", 3))

    assert outline(ask("code", p, min_micros=5)) == [MAIN, f"  {NET}"]


def test_min_occurrence_is_ignored():
    assert len(ask("code", program(), min_occurrence=100)) == 4


def test_account_displayed_op_only_is_ignored():
    view = ask("code", program(), hide_name_regexes=[NET], account_displayed_op_only=True)

    assert total(view, "params") == {ROOT: 18, MAIN: 18, LOSS: 1}
    assert total(view, "definitions")[ROOT] == 4


# Order.


def test_lines_are_ordered_by_their_total_largest_first():
    view = ask("code", program(), order_by="params")

    assert outline(view) == [MAIN, f"  {NET}", f"  {LOSS}"]


def test_lines_with_the_same_total_stay_in_order_of_first_use():
    view = ask("code", with_stacks(["z.py:1:f"], ["a.py:1:f"], ["m.py:1:f"]), order_by="params")

    assert outline(view) == ["z.py:1:f", "a.py:1:f", "m.py:1:f"]


def test_lines_can_be_ordered_by_their_number_of_ops():
    view = ask("code", with_stacks(["a.py:1:f"], ["b.py:1:f"], ["b.py:1:f"]), order_by="occurrence")

    assert outline(view) == ["b.py:1:f", "a.py:1:f"]


# Hidden ops.


def test_hidden_ops_and_their_numbers_are_counted():
    hidden = ask("code", program(), hide_name_regexes=[NET]).hidden

    assert hidden.ops == 2
    assert hidden.numbers["params"] == 15


def test_an_op_without_a_stack_does_not_count_as_hidden():
    p = profile(op("a", code=[MAIN]), op("b", shape=(3,)))

    hidden = ask("code", p).hidden

    assert hidden.ops == 0
    assert hidden.numbers["params"] == 0


def test_lines_of_installed_packages_are_left_out_on_request():
    library = "/venv/lib/python3.11/site-packages/keras/trainer.py:9:fit"
    p = profile(
        op("a", shape=(2,), code=["train.py:1:main", library, "model.py:2:call"]),
        op("b", shape=(3,), code=[library]),
    )

    view = ask("code", p, my_code=True, select=["params"], order_by="name")

    assert outline(view) == ["train.py:1:main", "  model.py:2:call", "trainer.py:9:fit"]
    assert total(view, "params")[ROOT] == 5


def test_lines_that_are_left_out_on_request_are_counted():
    library = "/venv/lib/python3.11/site-packages/keras/{}.py:9:call"
    fit, layer = library.format("trainer"), library.format("layer")
    p = profile(
        op("a", shape=(2,), code=["train.py:1:main", fit, "model.py:2:call"]),
        op("b", shape=(3,), code=["train.py:1:main", fit, layer]),
        op("c", shape=(3,), code=["train.py:3:main", fit, layer]),
        op("d", shape=(3,), code=[fit]),
    )

    view = ask("code", p, my_code=True, select=["params"])

    assert (
        "2 lines are left out, in installed packages; 2 ops that they created are shown at the "
        "lines of the program that called them."
    ) in notes(view)


def test_leaving_out_lines_of_installed_packages_is_noted_if_there_are_none():
    p = profile(op("a", shape=(2,), code=["train.py:1:main"]))

    assert "-my_code has no effect: no line is in an installed package." in notes(
        ask("code", p, my_code=True, select=["params"])
    )

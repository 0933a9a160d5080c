"""The filters that the scope and graph views share, and their order.

Both views nest these profiles the same way: the ops in a scope are also the inputs of its op.
"""

import pytest

from asking import ROOT, ask, outline, own, total
from build import GPU, GPU_STREAM, copy, op, profile, run
from tfprof.errors import TfprofError
from tfprof.metrics import ORDER_KEYS

pytestmark = pytest.mark.parametrize("kind", ["scope", "graph"])

MEMORY = ("requested", "peak", "residual", "output")
HUGE = {"requested": 2**62, "residual": -(2**62)}


def busy(name, amount):
    """Runs that take `amount` microseconds on the device and its stream, and `amount` bytes."""
    return (
        run(name, amount, device=GPU, memory=dict.fromkeys(MEMORY, amount)),
        run(name, amount, device=GPU_STREAM),
    )


def network(**changes):
    """A network of four ops; every number of the weights is 10, of the loss 1."""
    shapes = {"net": None, "net/conv": None, "net/conv/w": (10,), "net/loss": (1,)} | changes
    return profile(
        op("net", "Net", shape=shapes["net"], inputs=["net/conv", "net/loss"]),
        op("net/conv", "Conv", shape=shapes["net/conv"], inputs=["net/conv/w"]),
        op("net/conv/w", "Weights", shape=shapes["net/conv/w"], float_ops=10),
        op("net/loss", "Loss", shape=shapes["net/loss"], float_ops=1),
        *busy("net/conv/w", 10),
        *busy("net/loss", 1),
    )


def siblings(**params):
    """Sibling ops, which multiply `x` by a row of the given length.

    Each has that number of parameters, float ops, MACs, bytes, and microseconds on each device and
    of a copy. All are trainable, so that every part is nothing or the whole.
    """
    return profile(
        op("x", "Placeholder", outputs=[(1, 1)]),
        *(product(name, amount) for name, amount in params.items()),
        *(fact for name, amount in params.items() for fact in busy(name, amount)),
        *(copy("y", amount, op=name) for name, amount in params.items()),
        counts_float_ops=True,
    )


def product(name, amount):
    facts = {"shape": (amount,), "outputs": [(1, amount)], "float_ops": amount}
    facts |= {"types": ["_trainable_variables"]}
    return op(name, "MatMul", inputs=["x"], **facts)


WHOLE = ["net", "  net/conv", "    net/conv/w", "  net/loss"]


def test_without_filters_everything_is_shown(kind):
    view = ask(kind, network())

    assert outline(view) == WHOLE
    assert view.name[0] == ROOT


def test_a_total_covers_a_row_and_all_rows_below_it(kind):
    view = ask(kind, network(net=(5,)))

    assert total(view, "params") == {
        ROOT: 16,
        "net": 16,
        "net/conv": 10,
        "net/conv/w": 10,
        "net/loss": 1,
    }
    assert own(view, "params") == {
        ROOT: None,
        "net": 5,
        "net/conv": 0,
        "net/conv/w": 10,
        "net/loss": 1,
    }


def test_the_root_is_never_accounted_for(kind):
    view = ask(kind, network(), account_type_regexes=["_kTFScopeParent", "_TFGraphParent"])

    assert view.is_accounted.tolist() == [False]


def test_an_empty_account_list_shows_only_the_root(kind):
    view = ask(kind, network(), account_type_regexes=[])

    assert total(view, "params") == {ROOT: 0}


def test_a_profile_without_ops_shows_only_the_root(kind):
    view = ask(kind, profile())

    assert total(view, "params") == {ROOT: 0}


# Start.


def test_start_rows_are_placed_below_the_root(kind):
    view = ask(kind, network(), start_name_regexes=["net/conv"])

    assert outline(view) == ["net/conv", "  net/conv/w"]


def test_a_start_row_below_another_one_stays_there(kind):
    view = ask(kind, network(), start_name_regexes=["net/conv", "net/conv/w", "net/loss"])

    assert outline(view) == ["net/conv", "  net/conv/w", "net/loss"]


def test_a_start_does_not_change_the_total_of_the_root(kind):
    view = ask(kind, network(), start_name_regexes=["net/conv"])

    assert total(view, "params") == {ROOT: 11, "net/conv": 10, "net/conv/w": 10}


def test_a_start_row_is_at_depth_two(kind):
    view = ask(kind, network(), start_name_regexes=["net/conv"], max_depth=2)

    assert outline(view) == ["net/conv"]


def test_a_start_must_match_the_whole_name(kind):
    assert outline(ask(kind, network(), start_name_regexes=["net/con"])) == []


def test_the_root_cannot_be_a_start_row(kind):
    assert outline(ask(kind, network(), start_name_regexes=[ROOT])) == []


def test_an_empty_start_list_shows_only_the_root(kind):
    assert outline(ask(kind, network(), start_name_regexes=[])) == []


# Show and hide.


def test_the_rows_below_a_hidden_row_move_up(kind):
    view = ask(kind, network(), hide_name_regexes=["net/conv"])

    assert outline(view) == ["net", "  net/conv/w", "  net/loss"]


def test_a_hidden_row_still_counts_towards_totals(kind):
    view = ask(kind, network(), hide_name_regexes=["net/conv/w", "net/loss"])

    assert total(view, "params") == {ROOT: 11, "net": 11, "net/conv": 10}


def test_rows_that_move_up_are_ordered_with_their_new_siblings(kind):
    p = profile(op("a", inputs=["a/m"]), op("a/m"), op("b", inputs=["b/c"]), op("b/c"), op("aa"))

    view = ask(kind, p, hide_name_regexes=["a", "b"])

    assert outline(view) == ["a/m", "aa", "b/c"]


def test_only_rows_with_matching_names_are_shown(kind):
    view = ask(kind, network(), show_name_regexes=["net", ".*/w"])

    assert outline(view) == ["net", "  net/conv/w"]


def test_a_show_regex_must_match_the_whole_name(kind):
    assert outline(ask(kind, network(), show_name_regexes=["ne", "et"])) == []


def test_hiding_takes_precedence_over_showing(kind):
    view = ask(kind, network(), show_name_regexes=["net.*"], hide_name_regexes=["net"])

    assert outline(view) == ["net/conv", "  net/conv/w", "net/loss"]


def test_an_empty_show_list_shows_only_the_root(kind):
    assert outline(ask(kind, network(), show_name_regexes=[])) == []


def test_the_root_cannot_be_hidden(kind):
    view = ask(kind, network(), hide_name_regexes=[".*"])

    assert list(view.name) == [ROOT]


# Trim.


def test_a_trimmed_row_is_shown_without_the_rows_below_it(kind):
    view = ask(kind, network(), trim_name_regexes=["net/conv"])

    assert outline(view) == ["net", "  net/conv", "  net/loss"]


def test_trimming_does_not_change_totals(kind):
    view = ask(kind, network(), trim_name_regexes=["net/conv"])

    assert total(view, "params")["net/conv"] == 10


def test_a_row_that_is_hidden_and_trimmed_is_dropped_with_all_rows_below_it(kind):
    view = ask(kind, network(), trim_name_regexes=["net/conv"], hide_name_regexes=["net/conv"])

    assert outline(view) == ["net", "  net/loss"]


def test_the_root_can_be_trimmed(kind):
    view = ask(kind, network(), trim_name_regexes=[ROOT])

    assert total(view, "params") == {ROOT: 11}


# Depth.


@pytest.mark.parametrize(
    ("max_depth", "shown"),
    [
        (-1, []),
        (0, []),
        (1, []),
        (2, ["net"]),
        (3, ["net", "  net/conv", "  net/loss"]),
        (4, WHOLE),
    ],
)
def test_rows_are_shown_down_to_max_depth(kind, max_depth, shown):
    assert outline(ask(kind, network(), max_depth=max_depth)) == shown


def test_a_hidden_row_counts_as_a_level(kind):
    view = ask(kind, network(), max_depth=3, hide_name_regexes=["net"])

    assert outline(view) == ["net/conv", "net/loss"]


# Thresholds.


@pytest.mark.parametrize(
    "key",
    [
        "bytes",
        "peak_bytes",
        "residual_bytes",
        "output_bytes",
        "micros",
        "accelerator_micros",
        "cpu_micros",
    ],
)
def test_thresholds_of_time_and_memory_compare_totals(kind, key):
    amount = 20 if key == "micros" else 10  # cpu and stream together

    view = ask(kind, network(), **{f"min_{key}": amount})

    assert outline(view) == ["net", "  net/conv", "    net/conv/w"]


@pytest.mark.parametrize("key", ["params", "float_ops"])
def test_thresholds_of_parameters_and_float_ops_compare_own_numbers(kind, key):
    view = ask(kind, network(), **{f"min_{key}": 10})

    assert outline(view) == ["net/conv/w"]


def test_min_occurrence_is_a_number_of_runs(kind):
    p = profile(
        op("a", inputs=["a/b"]), op("a/b"), run("a", start=1), run("a", start=2), run("a/b")
    )

    assert outline(ask(kind, p, min_occurrence=1)) == ["a", "  a/b"]
    assert outline(ask(kind, p, min_occurrence=2)) == ["a"]


def test_all_thresholds_must_be_reached(kind):
    view = ask(kind, network(), min_params=1, min_micros=3)

    assert outline(view) == ["net/conv/w"]


def test_a_negative_total_is_below_the_default_threshold(kind):
    p = profile(op("a"), op("b"), run("a", memory={"residual": -5}), run("b"))

    assert outline(ask(kind, p)) == ["b"]
    assert outline(ask(kind, p, min_residual_bytes=-5)) == ["a", "b"]


def test_the_sum_of_hidden_numbers_may_overflow_64_bits(kind):
    # The average of negative bytes is huge, as in the original.
    runs = [run(name, step=step, memory={"residual": -5}) for name in "ab" for step in (0, 1)]

    view = ask(kind, profile(op("a"), op("b"), *runs), hide_name_regexes=["b"])

    assert outline(view) == ["a"]
    assert view.hidden.ops == 1


def test_a_number_that_exceeds_64_bits_hides_no_other_number(kind):
    p = profile(
        op("a", shape=(2**62, 4)), *(run("a", 3, step=step, memory=HUGE) for step in (0, 1))
    )

    assert total(ask(kind, p, select="micros"), "micros") == {ROOT: 3, "a": 3}
    for key in ("bytes", "residual_bytes"):
        with pytest.raises(TfprofError, match=f"`{key}` of all ops exceeds 64 bits"):
            assert total(ask(kind, p, select=key), key)


def test_a_threshold_compares_full_totals_even_if_only_shown_rows_count(kind):
    view = ask(
        kind,
        network(),
        min_bytes=11,
        hide_name_regexes=["net/conv/w"],
        account_displayed_op_only=True,
    )

    assert total(view, "bytes") == {ROOT: 0, "net": 0}


# Counting only shown rows.


def test_totals_can_cover_only_shown_rows(kind):
    view = ask(
        kind, network(net=(5,)), hide_name_regexes=["net/conv/w"], account_displayed_op_only=True
    )

    assert total(view, "params") == {ROOT: 6, "net": 6, "net/conv": 0, "net/loss": 1}


def test_the_total_of_the_root_then_covers_only_the_start_rows(kind):
    view = ask(kind, network(), start_name_regexes=["net/conv"], account_displayed_op_only=True)

    assert total(view, "params") == {ROOT: 10, "net/conv": 10, "net/conv/w": 10}


def test_the_root_then_counts_as_a_definition(kind):
    p = network()

    assert total(ask(kind, p), "definitions")[ROOT] == 4
    assert total(ask(kind, p, account_displayed_op_only=True), "definitions")[ROOT] == 5


def test_rows_are_ordered_by_the_totals_of_shown_rows(kind):
    p = profile(op("a", shape=(1,), inputs=["a/x"]), op("a/x", shape=(100,)), op("b", shape=(5,)))
    hidden = {"hide_name_regexes": ["a/x"], "order_by": "params"}

    assert outline(ask(kind, p, **hidden)) == ["a", "b"]
    assert outline(ask(kind, p, **hidden, account_displayed_op_only=True)) == ["b", "a"]


# Order.


def test_siblings_are_in_the_byte_order_of_their_names(kind):
    p = profile(op("b"), op("A"), op("a"), op("é"), op("_"), op("a_1"))

    assert outline(ask(kind, p)) == ["A", "_", "a", "a_1", "b", "é"]


def test_siblings_are_ordered_by_slots(kind):
    types = ["_optimizer_variables"]
    p = profile(op("a", shape=(1,), types=types), op("b", shape=(3,), types=types), op("c"))

    assert outline(ask(kind, p, order_by="slots")) == ["b", "a", "c"]


# Numbers of which the ops above have nothing.
NOTHING = (
    *("name", "occurrence", "slots", "other_params"),
    *("backward_float_ops", "backward_macs", "backward_micros", "backward_accelerator_micros"),
)


@pytest.mark.parametrize("key", [key for key in ORDER_KEYS if key not in NOTHING])
def test_siblings_are_ordered_by_their_total_largest_first(kind, key):
    view = ask(kind, siblings(a=1, b=3, c=2), order_by=key, hide_name_regexes=["x"])

    assert outline(view) == ["b", "c", "a"]


def test_siblings_with_the_same_total_are_in_name_order(kind):
    p = siblings(d=2, c=2, b=3, a=2)

    view = ask(kind, p, order_by="params", hide_name_regexes=["x"])

    assert outline(view) == ["b", "a", "c", "d"]


def test_rows_move_together_with_the_rows_below_them(kind):
    p = profile(op("a", shape=(2,)), op("b", shape=(1,), inputs=["b/c"]), op("b/c", shape=(3,)))

    assert outline(ask(kind, p, order_by="params")) == ["b", "  b/c", "a"]


def test_ordering_by_occurrence_orders_by_name(kind):
    p = profile(op("a"), op("b"), run("b"))

    assert outline(ask(kind, p, order_by="occurrence")) == ["a", "b"]


# Hidden ops.


def test_nothing_is_hidden_if_everything_is_shown(kind):
    hidden = ask(kind, network()).hidden

    assert hidden.ops == 0
    assert set(hidden.numbers.values()) == {0}


def test_hidden_ops_and_their_numbers_are_counted(kind):
    hidden = ask(kind, network(), hide_name_regexes=["net/conv", "net/conv/w"]).hidden

    assert hidden.ops == 2
    assert hidden.numbers["params"] == 10
    assert hidden.numbers["micros"] == 20


def test_ops_outside_the_start_rows_are_hidden(kind):
    hidden = ask(kind, network(), start_name_regexes=["net/conv"]).hidden

    assert hidden.ops == 2
    assert hidden.numbers["params"] == 1


def test_unaccounted_ops_do_not_count_as_hidden(kind):
    hidden = ask(kind, network(), account_type_regexes=["Loss"]).hidden

    assert hidden.ops == 0
    assert hidden.numbers["params"] == 0


# The view as a whole.


def test_a_view_keeps_its_options(kind):
    view = ask(kind, network(), max_depth=2, step=0)

    assert view.kind == kind
    assert view.options.max_depth == 2
    assert view.op_numbers("micros").tolist() == [0, 0, 20, 2]


def test_numbers_are_those_of_the_chosen_step(kind):
    p = profile(op("a"), run("a", 5, step=1), run("a", 7, step=2))

    assert total(ask(kind, p, step=2), "micros") == {ROOT: 7, "a": 7}

"""The graph view: ops by what feeds them."""

from asking import ROOT, ask, outline, own, texts, total
from build import op, profile, run


def test_an_input_hangs_below_the_op_that_takes_it():
    p = profile(op("loss", inputs=["mul"]), op("mul", inputs=["x", "w"]), op("w"), op("x"))

    assert outline(ask("graph", p)) == ["loss", "  mul", "    w", "    x"]


def test_ops_that_feed_nobody_hang_below_the_root_in_name_order():
    p = profile(op("c"), op("b", inputs=["x"]), op("a"), op("x"))

    assert outline(ask("graph", p)) == ["a", "b", "  x", "c"]


def test_an_op_that_only_ran_feeds_nobody():
    assert outline(ask("graph", profile(op("a"), run("b")))) == ["a", "b"]


# Which op gets a shared input.


def test_a_shared_input_hangs_below_its_first_consumer():
    p = profile(op("a", inputs=["x"]), op("b", inputs=["x"]), op("x", shape=(3,)))

    view = ask("graph", p)

    assert outline(view) == ["a", "  x", "b"]
    assert total(view, "params") == {ROOT: 3, "a": 3, "x": 3, "b": 0}


def test_the_search_goes_deep_before_it_goes_on():
    p = profile(op("a", inputs=["m", "x"]), op("m", inputs=["x"]), op("x"))

    assert outline(ask("graph", p)) == ["a", "  m", "    x"]


def test_inputs_are_searched_by_their_place_not_their_name():
    p = profile(op("a", inputs=["n", "m"]), op("m", inputs=["x"]), op("n", inputs=["x"]), op("x"))

    assert outline(ask("graph", p)) == ["a", "  m", "  n", "    x"]


def test_an_input_that_is_taken_twice_is_shown_once():
    p = profile(op("square", inputs=["x", "x"]), op("x", shape=(3,)))

    view = ask("graph", p)

    assert total(view, "params") == {ROOT: 3, "square": 3, "x": 3}


def test_every_output_of_an_op_is_the_same_op():
    p = profile(op("a", inputs=["split:1", "split:0"]), op("split"))

    assert outline(ask("graph", p)) == ["a", "  split"]


def test_an_op_that_is_only_waited_for_is_an_input():
    p = profile(op("train", inputs=["^init"]), op("init"))

    assert outline(ask("graph", p)) == ["train", "  init"]


def test_an_input_that_nobody_defined_is_no_row():
    assert outline(ask("graph", profile(op("a", inputs=["gone", "b"]), op("b")))) == ["a", "  b"]


# Circles.


def test_a_circle_is_cut_where_it_comes_back():
    p = profile(
        op("exit", inputs=["switch"]),
        op("switch", inputs=["merge"]),
        op("merge", inputs=["enter", "next"]),
        op("next", inputs=["switch"]),
        op("enter"),
    )

    assert outline(ask("graph", p)) == [
        "exit",
        "  switch",
        "    merge",
        "      enter",
        "      next",
    ]


def test_a_circle_that_feeds_nobody_is_never_found():
    p = profile(
        op("a", inputs=["b"]), op("b", inputs=["a"]), op("c", shape=(3,)), op("d", inputs=["d"])
    )

    view = ask("graph", p)

    assert total(view, "params") == {ROOT: 3, "c": 3}


# What is accounted for.


def test_an_op_that_is_not_accounted_for_vanishes_and_its_inputs_move_up():
    p = profile(
        op("loss", "Bar", inputs=["mul"]),
        op("mul", "Foo", inputs=["w"], shape=(100,)),
        op("w", "Bar", shape=(10,)),
    )

    view = ask("graph", p, account_type_regexes=["Bar"])

    assert outline(view) == ["loss", "  w"]
    assert total(view, "params") == {ROOT: 10, "loss": 10, "w": 10}


def test_a_shared_input_stays_with_a_first_consumer_that_vanishes():
    p = profile(
        op("a", "Foo", inputs=["x"]), op("b", "Bar", inputs=["x"]), op("x", "Bar", shape=(3,))
    )

    view = ask("graph", p, account_type_regexes=["Bar"])

    assert outline(view) == ["b", "x"]


def test_depth_counts_only_accounted_ops():
    p = profile(op("a", "Foo", inputs=["b"]), op("b", "Foo", inputs=["c"]), op("c", "Bar"))

    assert outline(ask("graph", p, account_type_regexes=["Bar"], max_depth=2)) == ["c"]


def test_every_row_is_an_op_and_one_definition():
    p = profile(op("a", inputs=["b"]), op("b"))

    view = ask("graph", p)

    assert total(view, "definitions") == {ROOT: 2, "a": 2, "b": 1}
    assert own(view, "definitions") == {ROOT: None, "a": 1, "b": 1}


def test_the_root_goes_by_a_type_of_its_own():
    assert texts("op_types", ask("graph", profile(op("a"))), 0) == ["_TFGraphParent"]


# Names.


def test_rows_that_move_up_from_far_apart_are_in_name_order():
    p = profile(
        op("z", "Foo", inputs=["b"]),
        op("b", "Bar"),
        op("y", "Foo", inputs=["c"]),
        op("c", "Bar"),
        op("a", "Bar"),
    )

    assert outline(ask("graph", p, account_type_regexes=["Bar"])) == ["a", "b", "c"]


def test_a_long_chain_is_no_trouble():
    names = [f"op{place:05}" for place in range(5000)]
    links = zip(names, [*names[1:], None], strict=True)
    p = profile(*(op(name, shape=(1,), inputs=[below] if below else []) for name, below in links))

    view = ask("graph", p, max_depth=10_000)

    assert len(view) == 5001
    assert int(view.total["params"][0]) == 5000
    assert int(view.tree.depths.max()) == 5001

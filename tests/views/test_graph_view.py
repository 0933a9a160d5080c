"""The graph view: each op above its inputs."""

from asking import ROOT, ask, outline, own, texts, total
from build import op, profile, run


def test_an_input_is_below_its_consumer():
    p = profile(op("loss", inputs=["mul"]), op("mul", inputs=["x", "w"]), op("w"), op("x"))

    assert outline(ask("graph", p)) == ["loss", "  mul", "    w", "    x"]


def test_ops_without_consumers_are_below_the_root_in_name_order():
    p = profile(op("c"), op("b", inputs=["x"]), op("a"), op("x"))

    assert outline(ask("graph", p)) == ["a", "b", "  x", "c"]


def test_an_op_that_is_only_in_a_run_is_below_the_root():
    assert outline(ask("graph", profile(op("a"), run("b")))) == ["a", "b"]


# Shared inputs.


def test_a_shared_input_is_below_its_first_consumer():
    p = profile(op("a", inputs=["x"]), op("b", inputs=["x"]), op("x", shape=(3,)))

    view = ask("graph", p)

    assert outline(view) == ["a", "  x", "b"]
    assert total(view, "params") == {ROOT: 3, "a": 3, "x": 3, "b": 0}


def test_the_search_is_depth_first():
    p = profile(op("a", inputs=["m", "x"]), op("m", inputs=["x"]), op("x"))

    assert outline(ask("graph", p)) == ["a", "  m", "    x"]


def test_inputs_are_searched_by_position_not_by_name():
    p = profile(op("a", inputs=["n", "m"]), op("m", inputs=["x"]), op("n", inputs=["x"]), op("x"))

    assert outline(ask("graph", p)) == ["a", "  m", "  n", "    x"]


def test_an_input_that_is_used_twice_is_shown_once():
    p = profile(op("square", inputs=["x", "x"]), op("x", shape=(3,)))

    view = ask("graph", p)

    assert total(view, "params") == {ROOT: 3, "square": 3, "x": 3}


def test_all_outputs_of_an_op_share_its_row():
    p = profile(op("a", inputs=["split:1", "split:0"]), op("split"))

    assert outline(ask("graph", p)) == ["a", "  split"]


def test_a_control_input_is_an_input():
    p = profile(op("train", inputs=["^init"]), op("init"))

    assert outline(ask("graph", p)) == ["train", "  init"]


def test_an_undefined_input_has_no_row():
    assert outline(ask("graph", profile(op("a", inputs=["gone", "b"]), op("b")))) == ["a", "  b"]


# Cycles.


def test_a_cycle_is_cut_where_it_closes():
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


def test_a_cycle_that_feeds_no_other_op_is_never_found():
    p = profile(
        op("a", inputs=["b"]), op("b", inputs=["a"]), op("c", shape=(3,)), op("d", inputs=["d"])
    )

    view = ask("graph", p)

    assert total(view, "params") == {ROOT: 3, "c": 3}


# Accounting.


def test_an_unaccounted_op_is_dropped_and_its_inputs_move_up():
    p = profile(
        op("loss", "Bar", inputs=["mul"]),
        op("mul", "Foo", inputs=["w"], shape=(100,)),
        op("w", "Bar", shape=(10,)),
    )

    view = ask("graph", p, account_type_regexes=["Bar"])

    assert outline(view) == ["loss", "  w"]
    assert total(view, "params") == {ROOT: 10, "loss": 10, "w": 10}


def test_a_shared_input_does_not_move_to_another_consumer_if_the_first_is_dropped():
    p = profile(
        op("a", "Foo", inputs=["x"]), op("b", "Bar", inputs=["x"]), op("x", "Bar", shape=(3,))
    )

    view = ask("graph", p, account_type_regexes=["Bar"])

    assert outline(view) == ["b", "x"]


def test_depth_counts_only_accounted_ops():
    p = profile(op("a", "Foo", inputs=["b"]), op("b", "Foo", inputs=["c"]), op("c", "Bar"))

    assert outline(ask("graph", p, account_type_regexes=["Bar"], max_depth=2)) == ["c"]


def test_every_row_is_one_definition():
    p = profile(op("a", inputs=["b"]), op("b"))

    view = ask("graph", p)

    assert total(view, "definitions") == {ROOT: 2, "a": 2, "b": 1}
    assert own(view, "definitions") == {ROOT: None, "a": 1, "b": 1}


def test_the_root_has_its_own_type():
    assert texts("op_types", ask("graph", profile(op("a"))), 0) == ["_TFGraphParent"]


# Names.


def test_rows_that_move_up_from_different_parents_are_in_name_order():
    p = profile(
        op("z", "Foo", inputs=["b"]),
        op("b", "Bar"),
        op("y", "Foo", inputs=["c"]),
        op("c", "Bar"),
        op("a", "Bar"),
    )

    assert outline(ask("graph", p, account_type_regexes=["Bar"])) == ["a", "b", "c"]


def test_a_long_chain_is_supported():
    names = [f"op{number:05}" for number in range(5000)]
    links = zip(names, [*names[1:], None], strict=True)
    p = profile(*(op(name, shape=(1,), inputs=[below] if below else []) for name, below in links))

    view = ask("graph", p, max_depth=10_000)

    assert len(view) == 5001
    assert int(view.total["params"][0]) == 5000
    assert int(view.tree.depths.max()) == 5001

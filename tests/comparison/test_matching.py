"""Which rows of two profiles correspond."""

import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from build import layer, op, profile
from profile_strategies import often, profiles
from tfprof.comparison.matching import NO_ROW, _longest_rise
from tfprof.comparison.pair import Pair, line_name, op_pairs, row_pairs, scope_name
from tfprof.options import Options
from tfprof.views import code, graph, layers, scope
from tfprof.views import op as op_view

ARRANGED = {
    "scope": scope.arrange,
    "graph": graph.arrange,
    "code": lambda side: code.arrange(side).arrangement,
    "op": op_view.arrange,
    "layers": lambda side: layers.arrange(side).arrangement,
}


def pairs(kind, base, new):
    """The names of matched rows, and of those without a match: old -> new."""
    found = row_pairs(Pair(base, new), kind, Options())
    old, names = ARRANGED[kind](base).name, ARRANGED[kind](new).name
    matched = {
        old[row]: names[it] if it >= 0 else None for row, it in enumerate(found.new_of.tolist())
    }
    added = [names[row] for row in np.flatnonzero(found.base_of < 0).tolist()]
    return matched, added


def dense(scope, units, kind="MatMul"):
    """A layer with a weight of so many units."""
    return [
        op(f"{scope}/kernel", "Var", shape=(units, 4)),
        op(f"{scope}/{kind}", kind),
        op(f"{scope}/bias", "Var", shape=(units,)),
    ]


def test_equal_names_match():
    base = profile(*dense("net/dense", 3))
    matched, added = pairs("scope", base, base)

    assert matched == {name: name for name in matched}
    assert not added


def test_an_added_and_a_removed_op_have_no_match():
    matched, added = pairs(
        "scope",
        profile(op("net/a", "A"), op("net/old", "Old")),
        profile(op("net/a", "A"), op("net/x", "X"), op("net/y", "X")),
    )

    assert matched["net/old"] is None
    assert added == ["net/x", "net/y"]


def test_a_renamed_scope_is_found_by_its_content():
    matched, added = pairs(
        "scope",
        profile(*dense("net/encoder", 3), *dense("net/head", 5)),
        profile(*dense("net/trunk", 3), *dense("net/head", 5)),
    )

    assert matched["net/encoder"] == "net/trunk"
    assert matched["net/encoder/kernel"] == "net/trunk/kernel"
    assert not added


def test_a_renamed_scope_with_a_new_op_is_found_by_most_of_its_content():
    matched, added = pairs(
        "scope",
        profile(*dense("net/encoder", 3)),
        profile(*dense("net/trunk", 3), op("net/trunk/cast", "Cast")),
    )

    assert matched["net/encoder"] == "net/trunk"
    assert added == ["net/trunk/cast"]


def test_an_op_does_not_become_one_of_another_kind_that_calls_the_same_ops():
    def step(kind):
        own = f"optimizer/{kind}"
        return profile(op("loss", "Sum"), op(own, kind), op(f"{own}/empty", "empty"))

    matched, added = pairs("scope", step("foreach_add"), step("fused_adamw"))

    assert matched["optimizer/foreach_add"] is None
    assert added == ["optimizer/fused_adamw", "optimizer/fused_adamw/empty"]


def test_an_inserted_layer_shifts_the_numbers_of_others_but_not_their_matches():
    sizes = {"dense": 3, "dense_1": 5, "dense_2": 7}
    base = profile(*(part for name, size in sizes.items() for part in dense(f"net/{name}", size)))
    sizes = {"dense": 3, "dense_1": 4, "dense_2": 5, "dense_3": 7}
    new = profile(*(part for name, size in sizes.items() for part in dense(f"net/{name}", size)))
    matched, added = pairs("scope", base, new)

    assert matched["net/dense_1"] == "net/dense_2"
    assert matched["net/dense_2"] == "net/dense_3"
    assert added[0] == "net/dense_1"


def test_layers_that_changed_keep_their_numbers():
    names = [f"net/layer_{place}" for place in range(6)]
    base = profile(*(part for name in names for part in dense(name, 3)))
    slow = {"net/layer_1", "net/layer_4"}
    more = [op(f"{name}/cast", "Cast") for name in slow]
    new = profile(*(part for name in names for part in dense(name, 3)), *more)
    matched, added = pairs("scope", base, new)

    assert all(matched[name] == name for name in names)
    assert sorted(added) == sorted(f"{name}/cast" for name in slow)


def test_a_model_that_was_created_once_more_in_a_process_matches():
    base = profile(*dense("cnn/conv", 3), *dense("cnn/conv_1", 3))
    new = profile(*dense("cnn_1/conv_2", 3), *dense("cnn_1/conv_3", 3, "Mul"))
    matched, _ = pairs("scope", base, new)

    assert matched["cnn"] == "cnn_1"
    assert matched["cnn/conv_1"] == "cnn_1/conv_3"


def test_a_scope_that_was_moved_into_another_is_found():
    base = profile(*dense("net/dense", 3), op("net/out", "Out"))
    new = profile(*dense("net/block/inner/dense", 3), op("net/out", "Out"))
    found = row_pairs(Pair(base, new), "scope", Options())
    matched, added = pairs("scope", base, new)

    assert matched["net/dense/kernel"] == "net/block/inner/dense/kernel"
    assert added == ["net/block", "net/block/inner"]
    names = scope.arrange(new).name
    assert [names[row] for row in np.flatnonzero(found.is_moved)] == ["net/block/inner/dense"]


def test_a_moved_line_is_found_by_the_ops_it_creates():
    def lines(first):
        main = "train.py:90:main"
        return [
            op("a", "A", code=[main, f"net.py:{first}:call"]),
            op("b", "B", code=[main, f"net.py:{first + 1}:call"]),
            op("c", "C", code=[main, f"net.py:{first + 7}:call"]),
        ]

    matched, added = pairs("code", profile(*lines(10)), profile(*lines(12)))

    assert matched["net.py:11:call"] == "net.py:13:call"
    assert matched["net.py:17:call"] == "net.py:19:call"
    assert not added


def test_ops_of_the_graph_view_match_if_their_scopes_do():
    base = profile(op("net/a", "A"), op("net/b", "B", inputs=["net/a"]))
    new = profile(op("model/a", "A"), op("model/b", "B", inputs=["model/a"]))
    matched, added = pairs("graph", base, new)

    assert matched["net/b"] == "model/b"
    assert not added


@pytest.mark.parametrize(
    ("name", "family", "number"),
    [("net/dense_12", "dense", 12), ("dense", "dense", -1), ("a/_3", "_3", -1), ("x_y", "x_y", -1)],
)
def test_the_number_at_the_end_of_a_scope_is_separate(name, family, number):
    assert scope_name(name)[1:] == (family, number)


def test_the_lines_of_a_function_are_a_family():
    assert line_name("net.py:12:call") == ("net.py:12:call", "net.py:call", 12)
    assert line_name("no line") == ("no line", "no line", -1)


@pytest.mark.parametrize("kind", ARRANGED)
@often
@given(base=profiles(), new=profiles())
def test_rows_match_one_to_one_and_the_roots_match(kind, base, new):
    found = row_pairs(Pair(base, new), kind, Options())
    known = np.flatnonzero(found.new_of >= 0)

    assert found.new_of[0] == 0
    assert len(np.unique(found.new_of[known])) == len(known)
    assert found.base_of[found.new_of[known]].tolist() == known.tolist()
    assert int((found.base_of >= 0).sum()) == len(known)


@pytest.mark.parametrize("kind", ARRANGED)
@often
@given(side=profiles())
def test_every_row_of_a_profile_matches_itself(kind, side):
    found = row_pairs(Pair(side, side), kind, Options())

    assert found.new_of.tolist() == list(range(len(found.new_of)))
    assert not found.is_moved.any()


_PARTS = st.sampled_from(["conv", "dense_1", "norm", "drop", "attention"])
_models = st.dictionaries(
    st.tuples(st.sampled_from(["encoder", "decoder", "head"]), _PARTS),
    st.tuples(st.integers(1, 9), st.sampled_from(["MatMul", "Conv2D"])),
    min_size=2,
)


@often
@given(_models, st.data())
def test_a_renamed_scope_of_a_random_model_is_found(model, data):
    old = data.draw(st.sampled_from(sorted({scope for scope, _ in model})))
    parts = [
        part for (top, name), shape in model.items() for part in dense(f"{top}/{name}", *shape)
    ]
    renamed = [re.sub(f"^{old}/", "renamed/", part.name) for part in parts]
    new = [op(name, part.kind, shape=part.shape) for name, part in zip(renamed, parts, strict=True)]
    contents = [
        sorted((name, shape) for (top, name), shape in model.items() if top == scope)
        for scope in {top for top, _ in model}
    ]
    assume(all(contents.count(one) == 1 for one in contents))
    matched, added = pairs("scope", profile(*parts), profile(*new))

    assert matched[old] == "renamed"
    assert None not in matched.values()
    assert not added


@often
@given(base=profiles(), new=profiles())
def test_ops_match_if_their_rows_do(base, new):
    found = op_pairs(Pair(base, new))
    known = found[found != NO_ROW]

    assert len(found) == len(base.ops)
    assert len(np.unique(known)) == len(known)


def test_an_op_below_a_scope_that_moved_is_not_matched_twice():
    sizes = {"shape": (1,), "layer": "m"}
    base = profile(
        layer("m", kind="Model"),
        *(op("a"), op("a/b"), op("a/", **sizes), op("gradients/gone/a", **sizes)),
    )
    new = profile(layer("m", kind="Model"), op("a"), op("/a", **sizes))

    found = op_pairs(Pair(base, new))

    assert sorted(found[found != NO_ROW].tolist()) == [0, 1]


def test_a_family_with_too_many_differences_is_matched_by_name():
    base = profile(*(op(f"a_{place}", f"Kind{place}") for place in range(600)))
    new = profile(*(op(f"a_{place}", f"Other{place}") for place in range(1, 602)))
    matched, added = pairs("scope", base, new)

    assert matched["a_7"] == "a_7"
    assert matched["a_0"] is None
    assert added == ["a_600", "a_601"]


def test_a_row_inserted_into_a_large_family_shifts_the_others():
    kinds = [f"Kind{place}" for place in range(400)]
    base = profile(*(op(f"a_{place}", kind) for place, kind in enumerate(kinds)))
    more = [*kinds[:50], "New", *kinds[50:300], "Newer", *kinds[301:]]
    matched, added = pairs(
        "scope", base, profile(*(op(f"a_{place}", kind) for place, kind in enumerate(more)))
    )

    assert matched["a_49"] == "a_49"
    assert matched["a_50"] == "a_51"
    assert matched["a_399"] == "a_400"
    assert matched["a_300"] is None
    assert added == ["a_301", "a_50"]


@given(st.lists(st.integers(0, 40), unique=True, max_size=9))
def test_the_longest_ascending_part_is_found(numbers):
    found = [numbers[place] for place in _longest_rise(numbers)]
    lengths = [
        len(chosen)
        for size in range(len(numbers) + 1)
        for chosen in combinations(numbers, size)
        if list(chosen) == sorted(chosen)
    ]

    assert found == sorted(found)
    assert len(found) == max(lengths)

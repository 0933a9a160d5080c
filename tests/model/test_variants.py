"""Ops of several recordings have the same name if they do the same."""

from hypothesis import given
from hypothesis import strategies as st

from tfprof.columns import Coded, ints
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.variants import FreeNames, SharedNames, names_among, signature


def taken(shared, *wanted):
    free = FreeNames(shared)
    return [free.take(name, what) for name, what in wanted]


def test_what_does_the_same_has_the_same_name():
    shared = SharedNames()

    assert taken(shared, ("mm", 1), ("mm", 2)) == ["mm", "mm#2"]
    assert taken(shared, ("mm", 2), ("mm", 3), ("mm", 1)) == ["mm#2", "mm#3", "mm"]


def test_a_recording_has_each_name_once():
    shared = SharedNames()

    assert taken(shared, ("mm", 1), ("mm", 1)) == ["mm", "mm#2"]
    assert taken(shared, ("mm", 1), ("mm", 2), ("mm", 1)) == ["mm", "mm#3", "mm#2"]


def test_a_name_that_ends_like_a_numbered_one_is_not_given_twice():
    assert taken(SharedNames(), ("mm", 1), ("mm#2", 1), ("mm", 2)) == ["mm", "mm#2", "mm#3"]


def test_signatures_are_the_same_in_all_processes():
    assert signature("aten::mm", 0, "[[2, 3]]") == 3_200_589_484_676_433_112
    assert signature("a", "b") != signature("ab")
    assert signature("\udc80")


ops_of_recording = st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 3)), max_size=6)


@given(st.lists(ops_of_recording, min_size=1, max_size=4))
def test_finished_recordings_get_the_names_that_their_traces_would_have(recordings):
    traces, merged = SharedNames(), SharedNames()

    for wanted in recordings:
        alone = taken(SharedNames(), *wanted)

        found = names_among(profile(alone, [what for _, what in wanted]), merged)

        # The ops of a profile are sorted by name.
        expected = dict(zip(alone, taken(traces, *wanted), strict=True))
        assert list(found) == [expected[name] for name in sorted(alone)]


def profile(names, signatures, inside=()):
    """The ops of a trace; `inside` has pairs of an op and the op that contains it."""
    builder = ProfileBuilder()
    builder.add_ops(OpColumns.traced(names, Coded.of(["aten::mm"] * len(names))))
    builder.set_signature(builder.ids(names), ints(signatures))
    for inner, outer in inside:
        builder.set_part_of(builder.ids([inner]), builder.ids([outer]))
    return builder.build().ops


def test_inner_ops_are_named_after_the_ops_that_contain_them():
    shared = SharedNames()
    nested = [("linear/mm", "linear")]
    names_among(profile(["linear", "linear/mm"], [1, 2], nested), shared)

    found = names_among(profile(["linear", "linear/mm"], [3, 2], nested), shared)

    assert list(found) == ["linear#2", "linear#2/mm"]

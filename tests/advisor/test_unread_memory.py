"""Tensors that nobody reads."""

import pytest

from build import op, profile, run
from tfprof.advisor import unread_memory

MB = 1_000_000


def written(name="a", size=2 * MB, slot=0, address=1):
    return run(name, outputs=[(slot, size, address)])


def test_a_tensor_that_no_op_reads_is_found():
    p = profile(op("a", "Split"), op("b", inputs=["a:2"]), written(slot=1), written("b", MB, 0, 2))

    (finding,) = unread_memory.check(p)

    assert finding.evidence.to_dicts() == [
        {"tensor": "a:1", "kind": "Split", "size_bytes": 2 * MB},
        {"tensor": "b:0", "kind": "Op", "size_bytes": MB},
    ]
    assert (finding.gain.amount, finding.gain.of) == (3 * MB, 3 * MB)


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param([op("a"), op("b", inputs=["a"]), written()], id="read"),
        pytest.param([op("a"), op("b", inputs=["a:2"]), written(slot=2)], id="read by slot"),
        pytest.param([op("a"), written(size=MB - 1)], id="small"),
        pytest.param([op("a"), written(address=0)], id="without an address"),
        pytest.param([op("a"), op("b"), written(), written("b")], id="in shared memory"),
        pytest.param([op("a", "ApplyMomentum"), written()], id="the variable itself"),
        pytest.param([written()], id="of an op that no graph defines"),
        pytest.param([op("a"), written(), run("_retval_a_0_0")], id="fetched"),
        pytest.param(
            [op("a"), written(), op("b"), op("c", inputs=["b"]), written("b", 300 * MB, 0, 2)],
            id="lost in all the rest",
        ),
    ],
)
def test_other_tensors_are_left_alone(facts):
    assert list(unread_memory.check(profile(*facts))) == []


def test_waiting_for_an_op_is_not_reading_it():
    p = profile(op("a"), op("b", inputs=["^a"]), written())

    (finding,) = unread_memory.check(p)

    assert finding.ops == ("a",)


def test_where_nobody_says_which_output_is_read_all_of_them_are():
    saved = profile(op("a"), op("b", inputs=["a"]), written(slot=1))
    told = profile(op("a"), op("b", inputs=["a"]), op("c", inputs=["x:1"]), written(slot=1))

    assert list(unread_memory.check(saved)) == []
    assert len(list(unread_memory.check(told))) == 1

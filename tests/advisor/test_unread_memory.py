"""Tensors that no op reads."""

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
        pytest.param([written()], id="of an op that is not in the graph"),
        pytest.param([op("a"), written(), run("_retval_a_0_0")], id="fetched"),
        pytest.param(
            [op("a"), written(), op("b"), op("c", inputs=["b"]), written("b", 300 * MB, 0, 2)],
            id="a small share of all outputs",
        ),
    ],
)
def test_other_tensors_are_not_reported(facts):
    assert list(unread_memory.check(profile(*facts))) == []


def test_a_control_input_does_not_read_the_output():
    p = profile(op("a"), op("b", inputs=["^a"]), written())

    (finding,) = unread_memory.check(p)

    assert finding.ops == ("a",)


def test_without_recorded_slots_all_outputs_of_an_input_count_as_read():
    without_slots = profile(op("a"), op("b", inputs=["a"]), written(slot=1))
    with_slots = profile(op("a"), op("b", inputs=["a"]), op("c", inputs=["x:1"]), written(slot=1))

    assert list(unread_memory.check(without_slots)) == []
    assert len(list(unread_memory.check(with_slots))) == 1

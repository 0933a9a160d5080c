"""Properties of the memory of any profile; see `test_view_properties` on trying more examples."""

from hypothesis import assume, given, reject
from hypothesis import strategies as st

from build import allocator, profile, run
from profile_strategies import allocating_profiles, often
from tfprof.errors import TfprofError
from tfprof.options import MemoryOptions
from tfprof.outputs import chart, memory_json, memory_text
from tfprof.views import memory

WHOLE = MemoryOptions(max_depth=100, max_rows=-1)
QUESTIONS = st.builds(
    MemoryOptions, max_depth=st.integers(0, 4), max_rows=st.integers(-1, 3), step=st.just(-1)
)


def allocators(p, options=WHOLE):
    """The allocators of the memory of `p`: at least one, each with breakdowns."""
    found = memory.build(p, options).allocators
    assert found
    assert all(one.breakdowns for one in found)
    return found


def changes_of(p, one):
    """The bytes of each record of an allocator."""
    uses, events = p.allocator_uses, p.allocator_events
    return [
        size
        for use, size in zip(events.use.tolist(), events.bytes.tolist(), strict=True)
        if uses.allocator[use] == one.allocator
        and p.devices.name[uses.device[use]] == one.device
        and p.steps.number[uses.step[use]] == one.step
    ]


@often
@given(allocating_profiles())
def test_a_curve_ends_at_the_sum_of_all_records(p):
    for one in allocators(p):
        assert one.left_bytes == one.curve.bytes[-1] == sum(changes_of(p, one))


@often
@given(allocating_profiles())
def test_the_peak_is_the_highest_point_and_the_highest_of_all_steps(p):
    for one in allocators(p):
        assert one.peak_bytes == max(one.curve.bytes.tolist()) == max(one.step_peaks.values())
        assert one.curve.at(one.peak_ns) == one.peak_bytes
        assert one.curve.time_ns.tolist() == sorted(set(one.curve.time_ns.tolist()))
        assert one.peak_ns >= 0


@often
@given(allocating_profiles())
def test_each_breakdown_adds_up_to_the_peak(p):
    for one in allocators(p):
        for found in one.breakdowns.values():
            assert int(found.bytes[found.depth == 1].sum()) == one.peak_bytes
            assert (found.hidden_rows, found.hidden_bytes) == (0, 0)


@often
@given(allocating_profiles(), QUESTIONS)
def test_hidden_rows_are_counted(p, options):
    for one in allocators(p, options):
        for found in one.breakdowns.values():
            shown = int(found.bytes[found.depth == 1].sum())
            assert shown + found.hidden_bytes == one.peak_bytes
            assert options.max_rows < 0 or len(found) <= options.max_rows


@often
@given(allocating_profiles(), st.integers(0, 200), st.sampled_from((chart.ASCII, chart.UNICODE)))
def test_every_answer_can_be_written(p, width, pen):
    found = memory.build(p, MemoryOptions())

    report = memory_text.report(found, width=width, pen=pen)

    assert report.count("Peak: ") == len(found.allocators)
    assert len(memory_json.as_dict(found)["allocators"]) == len(found.allocators)


_numbers = st.sampled_from((-(2**63), -1, 0, 1, 5, 2**40, 2**61, 2**62, 2**63 - 1))
_odd_allocators = st.lists(
    st.builds(
        allocator, st.just("x"), st.lists(st.tuples(_numbers, _numbers), max_size=3), _numbers
    ),
    min_size=1,
    max_size=2,
)
_odd_runs = st.lists(
    st.builds(
        run,
        st.sampled_from(("a", "a/b")),
        start=_numbers,
        memory=st.builds(dict, micros=_numbers),
        allocators=_odd_allocators,
    ),
    min_size=1,
    max_size=3,
)


@often
@given(_odd_runs, st.sampled_from((chart.ASCII, chart.UNICODE)))
def test_impossible_numbers_are_answered_or_refused(runs, pen):
    try:
        found = memory.build(profile(*runs), WHOLE)
    except TfprofError:
        reject()

    assert memory_text.report(found, pen=pen)
    for one in found.allocators:
        assert one.curve.time_ns[0] >= 0
        for rows in one.breakdowns.values():
            assert int(rows.bytes[rows.depth == 1].sum()) == one.peak_bytes
    assume(found.allocators)

"""Memory over time: which peak is reported, and what held memory at that time."""

from pathlib import Path

import pytest

import tfprof
from asking import LINES
from build import CPU, GPU, allocator, op, profile, run
from tfprof.errors import MissingInputError, OptionError
from tfprof.model.builder import ProfileBuilder
from tfprof.options import MemoryOptions
from tfprof.views import memory


def ask(p, **options):
    return memory.build(p, MemoryOptions(**options))


def ask_one(p, **options):
    """The only allocator of the answer."""
    (found,) = ask(p, **options).allocators
    return found


def allocating(name, *events, step=0, device=CPU, of="host", start=1000, **more):
    """A run that allocated and released memory."""
    used = [allocator(of, events, **more)]
    return run(name, step=step, start=start, device=device, allocators=used)


def rows(breakdown):
    """Rows as text, indented by their depth."""
    depths, sizes = breakdown.depth.tolist(), breakdown.bytes.tolist()
    return [
        f"{'  ' * (depths[row] - 1)}{name} {sizes[row]}" for row, name in enumerate(breakdown.name)
    ]


def network():
    """Two scopes: at the peak one op of each holds memory, and a third has released its own."""
    return profile(
        op("net/a/conv", "Conv", code=["net.py:3:conv"]),
        op("net/a/bias", "Add", code=["net.py:4:bias"]),
        op("net/b/conv", "Conv", code=["net.py:3:conv"]),
        op("loss", "Sum", code=["net.py:9:loss"]),
        allocating("net/a/conv", (1010, 100), (1060, -100)),
        allocating("net/a/bias", (1020, 10), (1030, -10)),
        allocating("net/b/conv", (1040, 50), (1060, -50)),
        allocating("loss", (1050, 4)),
    )


# The peak


def test_the_peak_has_its_bytes_its_time_and_the_op_that_reached_it():
    found = ask_one(network())

    assert (found.peak_bytes, found.peak_ns) == (154, 50_000)
    assert found.reached_by == (("loss", 4),)
    assert found.left_bytes == 4


def test_the_ops_that_reached_a_peak_are_sorted_by_allocated_bytes():
    events = {name: (1010, size) for name, size in zip("abcde", (1, 5, -1, 3, 2), strict=True)}
    p = profile(*(allocating(name, event) for name, event in events.items()))

    assert ask_one(p).reached_by == (("b", 5), ("d", 3), ("e", 2))


def test_time_starts_with_the_first_op_of_the_step():
    p = profile(run("early", start=900), allocating("a", (1010, 1)))

    assert (ask_one(p).start_ns, ask_one(p).peak_ns) == (900_000, 110_000)


def test_time_starts_with_the_first_allocation_if_no_op_is_earlier():
    p = profile(allocating("a", (800, 1)), allocating("b", (900, 1), of="other"))

    assert {one.allocator: one.peak_ns for one in ask(p).allocators} == {
        "host": 0,
        "other": 100_000,
    }


def test_levels_use_the_same_time_as_the_curve():
    used = [allocator("host", [(1010, 1)], level=70)]
    p = profile(run("a", memory={"micros": 1020}, allocators=used))

    assert ask_one(p).levels.micros.tolist() == [20]
    assert ask_one(p).levels.bytes.tolist() == [70]


def test_allocators_are_sorted_by_their_peaks():
    p = profile(allocating("a", (1010, 1), of="x"), allocating("b", (1010, 9), of="y"))

    assert [one.allocator for one in ask(p).allocators] == ["y", "x"]


def test_an_allocator_has_an_entry_per_device():
    p = profile(allocating("a", (1010, 5)), allocating("b", (1010, 3), device=GPU))

    assert [(one.device, one.peak_bytes) for one in ask(p).allocators] == [(CPU, 5), (GPU, 3)]


# The step


def steps():
    return profile(
        allocating("a", (1010, 5), step=3, of="x"),
        allocating("a", (2010, 9), step=4, of="x", start=2000),
        allocating("a", (3010, 7), step=8, of="x", start=3000),
        allocating("a", (3010, 2), step=8, of="y", start=3000),
    )


def test_each_allocator_is_reported_in_the_step_of_its_highest_peak():
    found = ask(steps()).allocators

    assert [(one.allocator, one.step, one.peak_bytes) for one in found] == [
        ("x", 4, 9),
        ("y", 8, 2),
    ]
    assert found[0].step_peaks == {3: 5, 4: 9, 8: 7}


def test_the_first_step_is_used_if_peaks_are_equal():
    p = profile(allocating("a", (1010, 5), step=1), allocating("a", (1010, 5), step=0))

    assert ask_one(p).step == 0


def test_a_step_can_be_chosen():
    found = ask_one(steps(), step=3)

    assert (found.allocator, found.step, found.peak_bytes) == ("x", 3, 5)


def test_an_unknown_step_is_rejected():
    with pytest.raises(OptionError, match=r"No step 5. Recorded: 3, 4, 8; -1 takes the highest"):
        ask(steps(), step=5)


# Breakdowns


def test_a_scope_includes_the_memory_of_everything_in_it():
    assert rows(ask_one(network()).by_scope) == [
        "net 150",
        "  net/a/conv 100",
        "  net/b/conv 50",
        "loss 4",
    ]


def test_a_scope_that_only_contains_one_other_is_left_out():
    p = profile(allocating("a/b/c/d", (1010, 5)), allocating("a/b/e", (1010, 7)))

    assert rows(ask_one(p).by_scope) == ["a/b 12", "  a/b/e 7", "  a/b/c/d 5"]


def test_a_scope_that_is_also_an_op_is_kept():
    p = profile(allocating("a", (1010, 5)), allocating("a/b", (1010, 7)))

    assert rows(ask_one(p).by_scope) == ["a 12", "  a/b 7"]


def test_scopes_are_shown_down_to_max_depth():
    assert rows(ask_one(network(), max_depth=2).by_scope) == ["net 150", "loss 4"]
    assert rows(ask_one(network(), max_depth=3).by_scope)[1:3] == ["  net/a 100", "  net/b 50"]


def test_a_depth_without_scopes_hides_everything():
    found = ask_one(network(), max_depth=1).by_scope

    assert (len(found), found.hidden_bytes) == (0, 154)


def test_kinds_and_lines_include_the_memory_of_their_ops():
    found = ask_one(network())

    assert rows(found.by_kind) == ["Conv 150", "Sum 4"]
    assert rows(found.by_line) == ["net.py:3:conv 150", "net.py:9:loss 4"]
    assert found.by_kind.ops.tolist() == [2, 1]
    assert found.by_scope.ops.tolist() == [2, 1, 1, 1]


def test_rows_of_equal_size_are_sorted_by_name():
    p = profile(allocating("b", (1010, 1)), allocating("a", (1010, 1)))

    assert rows(ask_one(p).by_kind) == ["a 1", "b 1"]
    assert rows(ask_one(p).by_scope) == ["a 1", "b 1"]


def test_the_largest_rows_are_shown_and_the_rest_is_counted():
    found = ask_one(network(), max_rows=1)

    for breakdown, row, rest in (
        (found.by_scope, "net 150", (3, 4)),
        (found.by_kind, "Conv 150", (1, 4)),
        (found.by_line, "net.py:3:conv 150", (1, 4)),
    ):
        assert rows(breakdown) == [row]
        assert (breakdown.hidden_rows, breakdown.hidden_bytes) == rest


def test_a_negative_max_rows_shows_all_rows():
    p = profile(*(allocating(f"op{number}", (1010, 1)) for number in range(20)))

    assert len(ask_one(p).by_scope) == 10
    assert len(ask_one(p, max_rows=-1).by_scope) == 20


def test_without_code_lines_there_is_no_breakdown_by_line():
    found = ask(profile(allocating("a", (1010, 1))))

    assert found.allocators[0].by_line is None
    assert found.notes == (f"the code lines that hold memory are unknown; give {LINES}.",)


# Errors and notes


def test_the_error_without_a_run_names_the_files_to_give():
    with pytest.raises(MissingInputError, match="XSpace, recorded with RunOptions"):
        ask(profile(op("a")))


def test_the_error_without_allocation_records_says_how_to_record_them():
    with pytest.raises(MissingInputError, match=r"No step has allocation records.*FULL_TRACE"):
        ask(profile(run("a")))


@pytest.mark.parametrize("file", ["pytorch/net.pt2", "pytorch/net.safetensors"])
def test_for_files_of_pytorch_the_error_says_how_it_records_memory(file):
    sample = Path(__file__).parents[1] / "samples" / file

    with pytest.raises(
        MissingInputError, match=r"profile_memory=True\), or give a memory snapshot"
    ):
        tfprof.load(sample).memory()


def test_the_error_for_a_step_without_records_lists_the_steps_with_records():
    p = profile(
        allocating("a", (1010, 1), step=1), run("a", step=2), allocating("a", (1, 1), step=3)
    )

    with pytest.raises(MissingInputError, match=r"Step 2 has no .*; steps with records: 1, 3\."):
        ask(p, step=2)
    assert "step 2: no allocation records." in ask(p).notes


def test_the_error_for_a_profile_proto_says_which_records_it_keeps():
    builder = ProfileBuilder()
    builder.mark_lacks_host_allocations()

    with pytest.raises(MissingInputError, match="A ProfileProto keeps"):
        ask(builder.build())


def test_records_without_a_time_are_noted():
    assert (
        "1 allocation record without a time counts from the beginning."
        in ask(profile(allocating("a", (1010, 1), (0, 1)))).notes
    )


def test_an_allocator_that_devices_may_share_is_noted():
    p = profile(allocating("a", (1010, 5)), allocating("b", (1010, 3), device=GPU))

    assert ask(p).notes[0].startswith("2 devices use an allocator named `host`; ")


def test_a_scope_whose_bytes_add_up_to_zero_is_still_shown():
    p = profile(
        allocating("a", (1010, 3)), allocating("a/b", (1010, -3)), allocating("c", (1010, 1))
    )

    assert rows(ask_one(p).by_scope) == ["c 1", "a 0", "  a/b -3"]

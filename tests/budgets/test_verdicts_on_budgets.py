"""Whether budgets are met: exact numbers, times, and numbers that are missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from build import GPU_STREAM, allocator, layer, op, profile, run
from tfprof.api import Profile
from tfprof.budgets import file, time_verdicts
from tfprof.budgets.changes import Times
from tfprof.budgets.check import check
from tfprof.errors import InputError, OptionError
from tfprof.model.notes import Note, Subject


def checked(text, *facts, base=None, **options):
    """The check of budgets of a profile of these facts."""
    loaded = Profile(profile(*facts, **options))
    before = None if base is None else Profile(profile(*base, **options))
    return check(loaded, file.budgets_in("tfprof.toml", text), before)


def verdict(text, *facts, **options):
    (found,) = checked(text, *facts, **options).verdicts
    return found


NET = (
    op("x", "Placeholder"),
    op("net/w", "VariableV2", shape=(3, 4), code=["model.py:7:build"]),
    op("net/b", "VariableV2", shape=(8,), code=["model.py:9:build"]),
    op("head/w", "VariableV2", shape=(5,), code=["model.py:30:head"]),
)


@pytest.mark.parametrize(
    ("budget", "status"),
    [
        ("25", "met"),
        ("24", "not met"),
        ("{ exact = 25 }", "met"),
        ("{ exact = 26 }", "not met"),
        ("{ min = 26 }", "not met"),
        ("{ min = 25 }", "met"),
        ("{ max = 30, min = 26 }", "not met"),
        ('{ value = 27, tolerance = "10 %" }', "met"),
        ('{ value = 28, tolerance = "10 %" }', "not met"),
    ],
)
def test_a_count_is_compared_exactly(budget, status):
    found = verdict(f"[model]\nparams = {budget}", *NET)

    assert (found.status, found.measured) == (status, 25)


@given(st.integers(1, 10**6), st.integers(0, 10**6))
def test_a_budget_is_met_if_and_only_if_the_number_is_at_most_the_limit(size, limit):
    found = verdict(f"[model]\nparams = {limit}", op("w", "VariableV2", shape=(size,)))

    assert (found.status == "met") == (size <= limit)
    assert found.excess == size - limit


def test_a_scope_includes_everything_below_it_and_has_the_line_of_most_of_it():
    found = verdict("[scope.net]\nparams = 19", *NET)

    assert (found.status, found.measured, found.line) == ("not met", 20, "model.py:7:build")


def test_the_line_of_a_layer_is_not_the_one_that_created_its_variables():
    facts = (
        layer("dense"),
        op("dense/w", "VariableV2", shape=(9,), layer="dense", code=["train.py:9:fit"]),
        *(
            op(f"dense/{name}", layer="dense", code=["model.py:3:build"], float_ops=number)
            for number, name in enumerate("ab", 1)
        ),
        op("dense/c", layer="dense", code=["model.py:4:build"], float_ops=4),
    )

    found = checked("[layer.dense]\nparams = 9\nfloat_ops = 7", *facts)

    assert [one.line for one in found.verdicts] == ["model.py:3:build", "model.py:4:build"]


LAYERS = (
    layer("m"),
    layer("m/a"),
    layer("m/a/dense"),
    layer("m/b"),
    layer("m/b/dense"),
    op("a/w", "VariableV2", shape=(2,), layer="m/a/dense"),
    op("b/w", "VariableV2", shape=(3,), layer="m/b/dense"),
)


def test_a_layer_is_named_by_its_path_or_the_end_of_it():
    found = checked('[layer."m/a"]\nparams = 2\n[layer."b/dense"]\nparams = 3', *LAYERS)

    assert [one.measured for one in found.verdicts] == [2, 3]
    assert found.is_met


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[scope."nett"]\nparams = 1',
            (
                "tfprof.toml: [scope.nett] params: there is no such scope in the model. "
                "Did you mean `net`?"
            ),
        ),
        (
            "[layer.dens]\nparams = 1",
            "tfprof.toml: [layer.dens] params: there is no such layer in the model.",
        ),
    ],
)
def test_an_unknown_part_is_an_error_that_names_the_nearest(text, message):
    with pytest.raises(InputError) as caught:
        checked(text, *NET, *LAYERS)

    assert str(caught.value).startswith(message)


def test_a_name_of_several_layers_must_be_written_in_full():
    with pytest.raises(InputError, match=r"2 layers have this name: `m/a/dense`, `m/b/dense`"):
        checked("[layer.dense]\nparams = 1", *LAYERS)


# Numbers that the files lack.


@pytest.mark.parametrize(
    ("budget", "remark"),
    [
        ('step_time = "+3 %"', "the files do not contain it; it requires"),
        ('peak_bytes = "1 GiB"', "the files do not contain it; it requires"),
        ("kernels = 1", "the files do not contain it; it requires"),
        ("op_runs = 1", "the files do not contain it; it requires"),
        ("slots = 1", "the files contain none. If there should be none, set the budget to 0."),
    ],
)
def test_a_missing_number_fails_the_check_and_says_what_to_do(budget, remark):
    found = checked(f"[model]\n{budget}", *NET, base=NET)

    assert found.verdicts[0].status == "missing"
    assert remark in found.verdicts[0].remark
    assert not found.is_met


def test_the_remark_on_a_missing_number_is_the_note_that_concerns_it_most():
    notes = [
        Note("no step markers", Subject.TIME | Subject.MEMORY),
        Note("no allocations", Subject.MEMORY),
    ]
    ran = Profile(profile(op("a"), run("a")), notes)
    (found,) = check(ran, file.budgets_in("tfprof.toml", '[model]\nbytes = "1 GiB"')).verdicts

    assert (found.status, found.remark) == ("missing", "no allocations")


def test_no_slots_are_fine_if_the_budget_is_0():
    assert verdict("[model]\nslots = 0", *NET).status == "met"
    assert verdict("[model]\nslots = { exact = 0 }", *NET).status == "met"


def test_a_part_may_have_none_of_what_the_model_has():
    found = verdict("[scope.head]\nparams = 9", *NET, op("head/sum", "Add"))

    assert found.status == "met"


def test_parameters_of_a_variable_of_unknown_shape_are_missing():
    unknown = (op("net/odd", "VarHandleOp"), op("net/open", "VariableV2", shape=(-1, 3)))

    found = checked("[model]\nparams = 99\n[scope.head]\nparams = 5", *NET, *unknown)

    assert [one.status for one in found.verdicts] == ["missing", "met"]
    assert found.verdicts[0].remark.startswith("2 variables have an unknown shape (`net/odd`)")


def test_variables_alone_have_neither_ops_nor_float_ops():
    weights = op("w", "Variable", shape=(3,))

    found = checked("[model]\nops = 5\nuncounted_ops = 0\nfloat_ops = 0", weights)

    assert [one.status for one in found.verdicts] == ["missing"] * 3


MATMUL = op("mul", "MatMul", inputs=["a", "b"], outputs=[(2, 4)])
INPUTS = (
    op("a", "Placeholder", shape=(2, 3), outputs=[(2, 3)]),
    op("b", "Placeholder", shape=(3, 4), outputs=[(3, 4)]),
)
UNKNOWN = op("odd", "KindWithoutRule", outputs=[(2, 4)])


def test_float_ops_are_those_of_the_formula():
    found = verdict("[model]\nfloat_ops = 48", *INPUTS, MATMUL, counts_float_ops=True)

    assert (found.status, found.measured) == ("met", 2 * 3 * 2 * 4)


def test_float_ops_of_which_some_are_unknown_fail_the_check():
    found = verdict("[model]\nfloat_ops = 48", *INPUTS, MATMUL, UNKNOWN, counts_float_ops=True)

    assert found.status == "missing"
    assert found.remark.startswith("1 op is not counted, so the number is too small")
    assert "`uncounted_ops = 1`" in found.remark


def test_float_ops_of_which_some_are_unknown_can_be_accepted():
    text = "[model]\nfloat_ops = 48\nuncounted_ops = {}"
    facts = (*INPUTS, MATMUL, UNKNOWN)

    assert checked(text.format(1), *facts, counts_float_ops=True).is_met
    assert not checked(text.format(0), *facts, counts_float_ops=True).is_met


def test_a_number_that_is_too_large_without_unknown_ops_is_not_met():
    found = verdict("[model]\nfloat_ops = 40", *INPUTS, MATMUL, UNKNOWN, counts_float_ops=True)

    assert found.status == "not met"


# Changes.


def test_a_relative_budget_is_compared_with_the_base():
    larger = (*NET, op("more", "VariableV2", shape=(1,)))

    assert verdict('[model]\nparams = "+4 %"', *larger, base=NET).status == "met"
    assert verdict('[model]\nparams = "+3 %"', *larger, base=NET).status == "not met"
    assert verdict('[model]\nparams = "+1"', *larger, base=NET).status == "met"
    assert verdict('[model]\nparams = "-1 %"', *NET, base=NET).status == "not met"


def test_a_relative_budget_requires_a_base():
    with pytest.raises(OptionError, match=r"\[model\] params is relative to a base .*: name its"):
        checked('[model]\nparams = "+3 %"', *NET)


def test_a_part_that_the_base_lacks_is_missing():
    found = verdict('[scope.head]\nparams = "+3 %"', *NET, base=NET[:2])

    assert found.status == "missing"
    assert found.remark.startswith("the base has no scope `head`; give it an absolute budget")


def test_a_number_that_only_the_base_lacks_is_missing():
    found = verdict('[model]\nparams = "+3 %"', *NET, base=NET[:1])

    assert found.status == "missing"
    assert found.remark.startswith("in the base, the files contain none")


# Times.


def steps(times, **more):
    """Runs of one op that takes these times, a step each."""
    facts = [
        run("net/mul", micros=time, step=number, start=1000 + 10_000 * number, **more)
        for number, time in enumerate(times)
    ]
    return [op("net/mul", "MatMul"), *facts]


def timed(seed, scale=1.0, count=30, spread=0.02):
    random = np.random.default_rng(seed)
    return steps((1000 * scale * (1 + spread * random.standard_normal(count))).tolist())


@pytest.mark.parametrize("budget", ['[model]\nstep_time = "+3 %"', '[scope.net]\nmicros = "+3 %"'])
def test_a_clear_slowdown_is_not_met(budget):
    found = verdict(budget, *timed(1, 1.2), base=timed(2))

    assert found.status == "not met"
    low, high = found.interval
    assert 0 < low < found.measured - found.base < high
    assert 1.1 < found.measured / found.base < 1.3


@pytest.mark.parametrize("scale", [1.0, 0.8])
def test_the_same_or_a_shorter_time_is_met(scale):
    assert verdict('[model]\nstep_time = "+3 %"', *timed(1, scale), base=timed(2)).status == "met"


def test_a_slowdown_within_the_budget_is_met_even_if_it_is_certain():
    assert verdict('[model]\nstep_time = "+30 %"', *timed(1, 1.2), base=timed(2)).status == "met"


def test_a_change_that_may_be_chance_is_inconclusive_and_does_not_fail():
    text = '[model]\nstep_time = "+0.1 %"'
    noisy, base = (timed(seed, count=5, spread=0.5) for seed in (4, 5))
    pairs = [(noisy, base), (base, noisy)]  # one of them is the slower one

    found = [checked(text, *new, base=old) for new, old in pairs]

    assert {one.verdicts[0].status for one in found} == {"met", "inconclusive"}
    assert all(one.is_met for one in found)
    (open_one,) = (one for one in found if one.verdicts[0].status == "inconclusive")
    assert open_one.summary == "0 of 1 budget met, 1 inconclusive."
    assert "record more steps" in open_one.verdicts[0].remark


def test_one_step_cannot_be_compared_and_fails():
    found = verdict('[model]\nstep_time = "+3 %"', *timed(1, count=1), base=timed(2))

    assert found.status == "missing"
    assert found.remark.startswith("only 1 step on one side, so nothing can be concluded; record")


def test_the_same_program_rarely_fails():
    text = '[model]\nstep_time = "+3 %"'
    pairs = [(timed(2 * seed), timed(2 * seed + 1)) for seed in range(40)]

    fails = [not checked(text, *new, base=old).is_met for new, old in pairs]

    assert sum(fails) <= 2


def test_a_change_in_units_of_time_is_a_budget_too():
    text = '[model]\nstep_time = "+{}"'

    assert verdict(text.format("100 us"), *timed(1, 1.2), base=timed(2)).status == "not met"
    assert verdict(text.format("1 ms"), *timed(1, 1.2), base=timed(2)).status == "met"


def recorded(*speeds, label="run-{}"):
    """Recordings of one op, with the factor by which each is slower."""
    facts = [op("net/mul", "MatMul")]
    for place, speed in enumerate(speeds):
        times = 1000 * speed * (1 + 0.02 * np.random.default_rng(place).standard_normal(20))
        facts += [
            run("net/mul", time, step, 1000 + 10_000 * step, recording=label.format(place))
            for step, time in enumerate(times.tolist())
        ]
    return facts


@pytest.mark.parametrize(
    ("base", "new", "status"),
    [
        ([1, 1], [1.2, 1.2], "not met"),
        ([1, 1], [1.0, 1.5], "inconclusive"),  # one recording was disturbed
        ([1, 1.2], [1.1, 1.3], "inconclusive"),  # the machine became slower all the time
        ([1], [1.2, 1.3], "inconclusive"),  # these two differ by nearly as much
        ([1], [1.2, 1.2, 1.21], "not met"),
        ([1, 1], [1.0, 1.01], "met"),
    ],
)
def test_all_recordings_of_both_sides_must_agree(base, new, status):
    found = verdict('[model]\nstep_time = "+5 %"', *recorded(*new), base=recorded(*base))

    assert found.status == status
    if status == "inconclusive":
        assert found.remark.startswith("the recordings do not agree, so this may be chance")


def test_a_note_says_once_that_variation_between_runs_is_unknown():
    text = '[model]\nstep_time = "+5 %"\n[scope.net]\nmicros = "+5 %"'
    once = checked(text, *recorded(1), base=recorded(1))
    often = checked(text, *recorded(1, 1, 1), base=recorded(1, 1, 1))

    assert [note for note in once.notes if "variation between runs is unknown" in note] == [
        once.notes[-1]
    ]
    assert not often.notes


def test_workers_need_not_be_equally_fast():
    base, new = (recorded(*speeds, label="worker:{}") for speeds in ((1, 1.5), (1.2, 1.8)))

    assert verdict('[model]\nstep_time = "+5 %"', *new, base=base).status == "not met"


def test_a_base_of_another_machine_is_remarked_on():
    def times(host):
        return Times(np.ones(3), *np.zeros((2, 3), np.int64), ((host, -1),))

    assert time_verdicts._hosts(times("a"), times("a")) == ""
    assert time_verdicts._hosts(times(""), times("a")) == ""
    assert time_verdicts._hosts(times("a"), times("b")).startswith(
        "the base was recorded on another host (a, not b)"
    )


def test_a_part_that_takes_no_time_in_the_base_is_missing():
    new = [op("net/mul", "MatMul"), op("a", "Add"), run("a"), run("net/mul")]
    base = [op("net/mul", "MatMul"), op("a", "Add"), run("a"), run("net/mul", micros=0)]

    found = verdict('[scope.net]\nmicros = "+3 %"', *new, base=base)

    assert found.status == "missing"
    assert found.remark.startswith("in the base, ")


# Steps and memory.


def test_runs_per_step_are_those_of_the_median_step():
    facts = [op("a/x", "Add"), op("b/x", "Add")]
    for step, count in enumerate((1, 3, 2)):
        facts += [run("a/x", step=step, start=1000 + 10 * number) for number in range(count)]
        facts.append(run("b/x", step=step))

    found = checked("[model]\nop_runs = 3\n[scope.a]\nop_runs = 2", *facts)

    assert [one.measured for one in found.verdicts] == [3, 2]
    assert found.is_met


def test_kernels_are_runs_on_accelerators():
    facts = [op("a/x", "Add"), op("b/x", "Add"), run("a/x"), run("b/x")]
    facts += [run("a/x", device=GPU_STREAM, start=1000 + number) for number in range(3)]
    facts.append(run("b/x", device=GPU_STREAM))

    found = checked("[model]\nkernels = 9\n[scope.a]\nkernels = 9", *facts)

    assert [one.measured for one in found.verdicts] == [4, 3]


def test_without_an_accelerator_there_are_no_kernels():
    found = verdict("[model]\nkernels = 9", op("a", "Add"), run("a"))

    assert found.status == "missing"
    assert "limit `op_runs`" in found.remark


def test_the_peak_is_the_most_memory_held_at_one_time():
    def held(name, *events):
        return run(name, allocators=[allocator("cpu", events)])

    facts = [op("a/x", "Add"), op("b/x", "Add")]
    facts += [held("a/x", (1, 100), (3, -100)), held("b/x", (2, 50), (4, -50))]

    found = checked(
        '[model]\npeak_bytes = "150 B"\n[scope.a]\npeak_bytes = 100\n[scope.b]\npeak_bytes = 50',
        *facts,
    )

    assert [one.measured for one in found.verdicts] == [150, 100, 50]
    assert found.is_met


def test_a_part_without_allocations_has_no_peak():
    facts = [op("a/x", "Add"), op("b/x", "Add"), run("b/x")]
    facts.append(run("a/x", allocators=[allocator("cpu", [(1, 100)])]))

    found = verdict("[scope.b]\npeak_bytes = 1", *facts)

    assert (found.status, found.remark) == ("missing", "no allocation of its ops was recorded.")


def test_ops_are_those_of_the_graph_and_not_others_that_ran():
    found = verdict("[model]\nops = 4", *NET, run("elsewhere"))

    assert (found.status, found.measured) == ("met", 4)


# Remarks.


def test_a_number_far_below_its_budget_suggests_an_update():
    assert "--update" in verdict("[model]\nparams = 100", *NET).remark
    assert verdict("[model]\nparams = 26", *NET).remark == ""
    assert verdict("[model]\nparams = { max = 100, min = 1 }", *NET).remark == ""


def test_the_summary_counts_budgets():
    text = "[model]\nparams = {}\nops = 4\nslots = 1"

    assert checked("[model]\nops = 4\nparams = 25", *NET).summary == "All 2 budgets met."
    assert checked(text.format(25), *NET).summary == "2 of 3 budgets met, 1 missing."
    assert checked(text.format(1), *NET).summary == "1 of 3 budgets met, 1 not met, 1 missing."

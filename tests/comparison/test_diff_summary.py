"""What changed as a whole, and where."""

from dataclasses import replace

import numpy as np

from build import layer, op, profile, run
from tfprof.columns import ints
from tfprof.comparison.pair import Pair
from tfprof.comparison.summary import build_summary
from tfprof.model.executions import Waits
from tfprof.model.recordings import Chosen
from tfprof.outputs.diff_sentences import sentences

MAIN = "train.py:9:main"


def model(attention, *, kinds=("MatMul",), types="float16"):
    """Two layers; attention takes `attention` microseconds in each of seven steps."""
    noise = (0, 2, 1, 3, 0, 2, 1)
    ops = [
        layer("net", "Model"),
        layer("net/attention", "Attention"),
        layer("net/dense", "Dense"),
        op("net/dense/MatMul", "MatMul", code=[MAIN, "net.py:20:call"], layer="net/dense"),
        *(
            op(
                f"net/attention/{kind}",
                kind,
                code=[MAIN, "net.py:12:call"],
                layer="net/attention",
                attributes={"T": types},
            )
            for kind in kinds
        ),
    ]
    runs = [
        run(name, micros + noise[(step + place) % 7], step, start=1 + step * 10_000 + place * 400)
        for step in range(7)
        for place, (name, micros) in enumerate(
            [("net/dense/MatMul", 300), ("net/attention/MatMul", attention)]
        )
    ]
    return profile(*ops, *runs)


def summary(base, new):
    return build_summary(Pair(base, new))


def test_the_layer_and_line_that_got_slower_are_named():
    found = summary(model(100), model(180))

    assert found.cause.name == "net/attention"
    assert found.cause.line == "net.py:12"
    assert found.cause.phase == "forward"
    assert 79_000 <= found.cause.change_ns <= 81_000
    assert found.steps == (7, 7)
    assert sentences(found)[1] == (
        "`net/attention` takes 80us more per step, 100% of the additional time of all ops: "
        "forward pass, net.py:12."
    )


def test_the_layer_that_got_faster_is_named():
    found = summary(model(180), model(100))

    assert found.cause.name == "net/attention"
    assert "takes 80us less per step, 100% of the saved time" in sentences(found)[1]


def test_an_op_that_runs_in_another_type_is_mentioned():
    found = summary(model(100), model(180, types="float32"))

    assert "`MatMul` now runs in float32 instead of float16" in sentences(found)[2]


def test_equal_profiles_are_said_to_be_equal():
    found = summary(model(100), model(100))

    assert found.cause is None
    assert "no difference shown by 7 steps each" in sentences(found)[0]
    assert sentences(found)[2] == "Op runs and ops did not change."


def test_what_a_single_recording_of_each_side_leaves_unknown_is_said_once():
    found = sentences(summary(model(100), model(180)))

    (text,) = (text for text in found if "variation between runs" in text)
    assert text == (
        "Each side was recorded once, so variation between runs is unknown: record each side at "
        "least three times."
    )


def test_one_step_allows_no_conclusion_about_times():
    base, new = (profile(op("a"), run("a", micros, start=1)) for micros in (10, 99))
    found = summary(base, new)

    assert found.cause is None
    assert sentences(found)[0] == (
        "Step 10us → 99us (1 step each): nothing can be concluded about times; record at least "
        "4 steps on each side."
    )


def test_the_summary_covers_the_steps_that_are_asked_for():
    pair = Pair(model(100), model(180))
    found = build_summary(pair, Chosen(step=3))

    assert found.steps == (1, 1)
    assert not found.step.is_conclusive


def test_totals_are_compared_without_a_run():
    base, new = (profile(op("a", "Var", shape=(size,))) for size in (3, 5))
    found = summary(base, new)

    assert found.step is None
    assert [(total.number.key, total.before, total.after) for total in found.totals] == [
        ("params", 3, 5),
        ("definitions", 1, 1),
    ]
    assert sentences(found) == ["Parameters 3 → 5 (+66.7%)."]


def paused(pause, *, is_input_wait=False):
    """Two ops per step with a pause between them, in each of seven steps."""
    random, facts, waits = np.random.default_rng(pause), [op("net/a"), op("net/b")], []
    for step in range(7):
        first, second = random.integers(300, 310, 2).tolist()
        start = 1 + 10_000 * step
        facts += [
            run("net/a", first, step, start=start),
            run("net/b", second, step, start=start + first + pause),
        ]
        waits.append((step, 1_000 * (start + first), 1_000 * pause))
    columns = zip(*waits, strict=True) if is_input_wait else ((), (), ())
    return replace(profile(*facts), waits=Waits(*(ints(column) for column in columns)))


def test_a_longer_pause_between_ops_is_named():
    found = summary(paused(20), paused(800))

    assert found.step.is_shown[0]
    assert found.idle == (False, 20_000, 800_000)
    assert sentences(found)[1] == (
        "The time in which no op runs, such as that of Python, changes most: 20us → 800us per "
        f"step, {100 * 780_000 / float(found.step.change[0]):.0f}% of the change of the step."
    )


def test_a_short_pause_is_not_claimed_because_a_busy_machine_makes_some():
    found = summary(paused(20), paused(300))

    assert found.idle is None
    assert not found.step.is_shown[0]


def test_a_longer_wait_for_input_is_named():
    base, new = (paused(pause, is_input_wait=True) for pause in (20, 400))
    found = summary(base, new)

    assert found.idle == (True, 20_000, 400_000)
    assert sentences(found)[1].startswith("The time waiting for input changes most: 20us → 400us")

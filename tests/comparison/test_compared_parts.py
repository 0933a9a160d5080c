"""Parts of a model are compared with the rest of it, so that a busy machine is not taken for them.

The noise is that of recordings on a busy machine: a pace for each recording, which may switch in
the middle of it, steps that are disturbed, and ops that feel the pace more or less than others.
"""

import numpy as np
import pytest

from build import layer, op, profile, run
from tfprof.comparison.pair import Pair
from tfprof.comparison.summary import build_summary
from tfprof.outputs.diff_sentences import sentences

LAYERS = {"embed": 900, "local": 3_500, "attention": 12_000, "dense": 14_000, "head": 2_000}
STEPS = 20


def recorded(seed, slowed="", factor=1.0, kind="MatMul", pace=None, *, runs=1, first_line=20):
    """A recording of a program; `slowed` takes `factor` times as long, and `kind` are its ops.

    In each step they run `runs` times.
    """
    random = np.random.default_rng(seed)
    paces = np.full(STEPS, pace or np.exp(random.normal(0, 0.3)))
    if pace is None and random.random() < 0.3:
        paces[random.integers(STEPS) :] *= 1.8
    paces *= np.where(random.random(STEPS) < 0.1, 1.5, 1.0)
    times = {
        name: micros
        * (factor if name == slowed else 1.0)
        * paces ** (1 + random.normal(0, 0.08))
        * np.exp(random.normal(0, 0.06, STEPS))
        for name, micros in LAYERS.items()
    }
    facts, start = [layer("net", "Model")], 1 + 500_000 * np.arange(STEPS)
    for line, (name, taken) in enumerate(times.items(), first_line):
        kinds, count = (kind, runs) if name == slowed else ("MatMul", 1)
        code = ["net.py:9:main", f"net.py:{line}:call"]
        facts += [
            layer(f"net/{name}", "Layer"),
            op(f"net/{name}/op", kinds, code=code, layer=f"net/{name}"),
        ]
        facts += [
            run(
                *(f"net/{name}/op", float(taken[step] / count), step),
                start=float(start[step] + one * taken[step] / count),
            )
            for step in range(STEPS)
            for one in range(count)
        ]
        start = start + taken
    return profile(*facts, counts_whole_micros=False)


def compared(base, new):
    return build_summary(Pair(base, new))


def claims(found):
    return found.cause is not None or bool(found.step.is_shown[0])


def test_nothing_is_claimed_in_49_of_50_pairs_of_the_same_program():
    found = [compared(recorded(2 * seed), recorded(2 * seed + 1)) for seed in range(50)]

    assert sum(map(claims, found)) <= 1


@pytest.mark.parametrize(
    ("slowed", "factor", "kind", "pace"),
    [
        ("local", 2.5, "Einsum", None),
        ("attention", 1.6, "Einsum", None),
        ("dense", 1.5, "Einsum", None),
        # Where all ops are the same, a busy machine may hide the change.
        ("local", 3.0, "MatMul", 1.0),
        ("attention", 1.5, "MatMul", 1.0),
    ],
)
def test_a_slowed_layer_and_its_line_are_named_in_nine_of_ten_pairs(slowed, factor, kind, pace):
    found = [
        compared(recorded(seed, pace=pace), recorded(seed + 500, slowed, factor, kind, pace)).cause
        for seed in range(10)
    ]
    named = [(cause.name, cause.line) for cause in found if cause is not None]

    assert named.count((f"net/{slowed}", f"net.py:{20 + [*LAYERS].index(slowed)}")) >= 9


def test_a_layer_whose_ops_run_more_often_is_named_in_nine_of_ten_pairs():
    found = [
        compared(recorded(seed), recorded(seed + 500, "local", factor=2.5, runs=2)).cause
        for seed in range(10)
    ]

    assert [cause is not None and cause.name for cause in found].count("net/local") >= 9


def test_a_busy_machine_is_named_instead_of_a_part():
    found = compared(recorded(2, pace=1.0), recorded(4, pace=1.9))

    assert not claims(found)
    assert 1.7 < found.pace < 2.1
    assert "the same on both sides take" in sentences(found)[0]
    assert "the machine was slower or busier" in sentences(found)[0]


def test_a_layer_that_got_slower_is_found_although_the_machine_got_faster():
    found = compared(recorded(2, pace=1.5), recorded(4, "local", 2.5, "Einsum", pace=1.0))

    assert found.cause.name == "net/local"
    assert 2 < found.cause.ratio < 3
    assert not found.step.is_shown[0]
    assert "times as long compared with the rest of the model" in sentences(found)[1]


def test_if_all_ops_changed_the_interval_decides():
    def model(kind, factor):
        return profile(
            *(op(f"{name}", kind) for name in LAYERS),
            *(
                run(name, factor * micros + step % 3, step, start=1 + step * 400_000)
                for name, micros in LAYERS.items()
                for step in range(STEPS)
            ),
        )

    found = compared(model("MatMul", 2), model("Einsum", 1))

    assert found.pace is None
    assert found.step.is_shown[0]


def test_comparing_in_the_other_direction_names_the_same_part():
    base, new = recorded(2), recorded(4, "local", 2.5, "Einsum")
    there, back = compared(base, new), compared(new, base)

    assert (there.cause.name, there.cause.line) == (back.cause.name, back.cause.line)
    assert there.pace == pytest.approx(1 / back.pace)
    assert there.cause.ratio == pytest.approx(1 / back.cause.ratio)


def test_time_that_is_saved_was_spent_at_a_line_of_the_base():
    found = compared(recorded(2, "local", 2.5, "Einsum"), recorded(4, first_line=40))

    assert (found.cause.name, found.cause.line) == ("net/local", "net.py:21")

"""Shape inference of random programs, valid or not, ends with an answer or an error of ours."""

import random
import sys

import pytest

from sources.shape_programs import const, loaded, op
from sources.test_tf_functions import function
from sources.tf_files import shape
from tfprof.api import Profile
from tfprof.errors import TfprofError
from tfprof.sources.tf_shapes.registry import HELD, SHAPES, VALUES

SEEDS = range(60)
_CALLS = ("While", "StatelessWhile", "If", "Case", "PartitionedCall")
_FRAMES = ("Enter", "Exit", "NextIteration", "LoopCond", "Switch", "Merge")
KINDS = (*sorted({*SHAPES, *VALUES, *HELD}), *_CALLS * 4, *_FRAMES, "MatMul", "Conv2D")
FUNCTIONS = ("f0", "f1", "f2")
NUMBERS = (0, 1, -1, 2, 3, 7, 513, 10**6, 2**31 - 1, -(2**31), 2**62, 2**63 - 1, -(2**63))
DIMS = (-1, -1, 0, 1, 2, 8, 2**31, 2**62)
NAMES = (
    *("axis", "num_split", "num", "strides", "padding", "explicit_paddings", "dilations", "ksize"),
    *("data_format", "squeeze_dims", "keep_dims", "begin_mask", "end_mask", "ellipsis_mask"),
    *("new_axis_mask", "shrink_axis_mask", "equation", "transpose_a", "adj_y", "batch_dims"),
    *("block_size", "DstT", "shape", "num_elements", "num_sampled", "rates", "method"),
)
TEXTS = (
    b"SAME",
    b"VALID",
    b"EXPLICIT",
    b"NCHW",
    b"",
    b"ab,bc->ac",
    b"...a,ab->b...",
    b"->",
    b"\xff",
)


class Programs:
    """Makes random programs."""

    def __init__(self, seed):
        self.chance = random.Random(seed)  # noqa: S311 -- no secret

    def profile(self):
        pick = self.chance.choice
        names = [f"n{at}" for at in range(pick((4, 12, 30)))]
        nodes = [self.node(name, names) for name in names]
        functions = [self.function(name) for name in FUNCTIONS]
        return loaded(*nodes, functions=functions, batch_size=pick((0, 1, 32, 2**62)))

    def function(self, name):
        pick = self.chance.choice
        arguments = [f"a{at}" for at in range(pick((0, 1, 2, 3)))]
        names = [f"m{at}" for at in range(pick((1, 4, 9)))]
        outputs = [*arguments, *(f"{one}:{end}:0" for one in names for end in ("output", "z"))]
        results = {f"r{at}": pick(outputs) for at in range(pick((0, 1, 2, 3)))}
        return function(name, [self.node(one, outputs) for one in names], arguments, results)

    def node(self, name, sources):
        pick = self.chance.choice
        if pick((True, False, False)):
            rows = [pick(NUMBERS) for _ in range(pick((1, 2, 4)))]
            return const(name, pick((rows[0], rows, [rows, rows], [])), "i8")
        inputs = [self.input(pick(sources)) for _ in range(pick((0, 1, 1, 2, 2, 3, 4)))]
        attributes = {pick(NAMES): self.attribute() for _ in range(pick((0, 1, 3)))}
        kind = pick(KINDS)
        if kind in _CALLS:
            called = ("cond", "body", "then_branch", "else_branch", "f")
            attributes |= {key: {"func": {"name": pick(FUNCTIONS)}} for key in called}
        shapes = [self.shape() for _ in range(pick((0, 0, 1, 2)))]
        return op(name, kind, inputs, *shapes, **attributes)

    def input(self, source):
        return self.chance.choice(
            (*[source] * 8, f"^{source.partition(':')[0]}", "gone", f"{source}:1")
        )

    def shape(self):
        return tuple(self.chance.choice(DIMS) for _ in range(self.chance.choice((0, 1, 2, 4, 5))))

    def attribute(self):
        pick = self.chance.choice
        return pick(
            (
                {"i": pick(NUMBERS)},
                {"s": pick(TEXTS)},
                {"b": True},
                {"f": float("nan")},
                {"type": pick((0, 1, 3, 9, 10, 20))},
                {"shape": shape(*self.shape())},
                {"list": {"i": [pick(NUMBERS) for _ in range(4)]}},
                {"func": {"name": "gone"}},
            )
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_program_is_answered_or_refused(seed):
    try:
        profile = Profile(Programs(seed).profile())
        _ = profile.flops().report
        _ = profile.scope(select=["params", "float_ops", "macs"]).table
    except TfprofError as error:
        assert "fails on op" not in str(error)  # noqa: PT017 -- answers are fine as well


def test_most_random_programs_are_answered():
    answered = 0
    for seed in SEEDS:
        try:
            Programs(seed).profile()
            answered += 1
        except TfprofError:
            continue
    assert answered > 40


def instructions_of(count):
    """How many instructions of Python it takes to load a chain of ops."""
    nodes = [op(f"n{at}", "AddV2", [f"n{at - 1}" if at else "c", "c"]) for at in range(count)]
    executed = 0

    def trace(frame, event, _):
        nonlocal executed
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        executed += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        loaded(const("c", 1), *nodes)
    finally:
        sys.settrace(before)
    return executed


def test_the_work_for_a_long_chain_is_linear():
    instructions_of(1)  # imports modules

    assert instructions_of(800) < 4 * instructions_of(200)

"""Traces of different programs are not mixed."""

import pytest

import tfprof
from h200 import GPT, RANKS
from kineto_programs import loaded, module, op


@pytest.fixture
def written(tmp_path):
    """A function that writes a trace in which these modules are called, and returns its path."""

    def write(name, *modules, **header):
        folder = tmp_path / name
        folder.mkdir()
        calls = [module(one, 10 * place, 5) for place, one in enumerate(modules)]
        loaded(folder, *calls, op("aten::relu", 1, 2), **header)
        return folder / "trace.json"

    return write


def rank(number, ranks=2):
    return {"distributedInfo": {"rank": number, "world_size": ranks}}


def test_traces_of_programs_with_other_numbers_of_ranks_are_refused():
    with pytest.raises(tfprof.OptionError) as caught:
        tfprof.load(GPT, RANKS[0])

    assert str(caught.value) == (
        f"{GPT} and {RANKS[0]} are traces of different programs: the first has 1 rank and the "
        "second 4; ask about one at a time, or compare them with `tfprof diff`."
    )


def test_traces_whose_modules_differ_are_refused(written):
    paths = [written("one", "A_0", "Loss_0", "C_0"), written("two", "D_0", "E_0", "Loss_0")]

    with pytest.raises(tfprof.OptionError, match="share 1 of 3 and 3 kinds of modules; ask"):
        tfprof.load(*paths)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ((("A_0", "B_0"), {}), (("A_1", "A_2", "C_0"), {})),  # another branch
        ((("A_0",), {}), ((), {})),  # recorded without stacks
        ((("A_0",), rank(0)), (("B_0",), rank(1))),  # the stages of a pipeline
        ((("A_0",), rank(0)), (("A_0",), rank(0))),
    ],
)
def test_traces_of_one_program_may_be_given_together(written, one, two):
    paths = [
        written(name, *modules, **header)
        for name, (modules, header) in zip(("one", "two"), (one, two), strict=True)
    ]

    assert len(tfprof.load(*paths).recordings) == 2

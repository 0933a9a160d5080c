"""The recordings of an NVIDIA H200 in `tests/samples/h200`, and what PyTorch counts in them."""

import json
from functools import cache
from pathlib import Path

import tfprof

FOLDER = Path(__file__).parent / "samples" / "h200"
GPT = str(FOLDER / "gpt.json.gz")
EXECUTION = str(FOLDER / "gpt_execution.json.gz")
SNAPSHOT = str(FOLDER / "gpt_memory.pickle.gz")
RANKS = [str(FOLDER / f"ddp_rank{rank}.json.gz") for rank in range(4)]
FACTS = json.loads((FOLDER / "gpt_facts.json").read_text())


@cache
def gpt():
    """The profile of two training steps of a GPT."""
    return tfprof.load(GPT)


@cache
def ddp():
    """The profile of four ranks."""
    return tfprof.load(*RANKS)


@cache
def gpt_with_edges():
    """The same profile with the edges between ops."""
    return tfprof.load(GPT, EXECUTION)

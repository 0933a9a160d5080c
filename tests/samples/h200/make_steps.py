"""Writes `steps` and `steps_facts.json`: the recording of a program on a GPU, and PyTorch's counts.

    python make_steps.py FOLDER

The program has what real ones have: a block that runs as it is, one that a checkpoint computes
again, and one that is compiled; a loss that each step creates; a CUDA graph; and a kernel of Triton
that no op launches.
"""

import gzip
import json
import re
import sys
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

import tfprof

FIRST, END = 10, 12  # the recorded steps
WIDTH, HEADS, WORDS = 128, 4, 1000


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        batch, length, _ = values.shape
        heads = self.qkv(self.norm(values)).view(batch, length, 3, HEADS, -1)
        query, key, value = heads.permute(2, 0, 3, 1, 4).unbind(0)
        found = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return values + self.mlp(found.transpose(1, 2).reshape(values.shape))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.plain, self.again, self.fused = Block(), Block(), Block()
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        values = self.plain(self.words(ids[:, :-1]))
        values = self.fused(checkpoint(self.again, values, use_reentrant=False))
        logits = self.head(values).flatten(0, 1)
        return nn.CrossEntropyLoss()(logits, ids[:, 1:].flatten())


@triton.jit
def add_one(values, count, size: tl.constexpr):
    places = tl.program_id(0) * size + tl.arange(0, size)
    mask = places < count
    tl.store(values + places, tl.load(values + places, mask=mask) + 1, mask=mask)


def graph_of(mlp: nn.Module, given: torch.Tensor) -> torch.cuda.CUDAGraph:
    with torch.no_grad():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            mlp(given)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            mlp(given)
    return graph


def record(folder: Path) -> None:
    torch.manual_seed(0)
    model = Net().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    ids = torch.randint(0, WORDS, (8, 129), device="cuda")
    given = torch.ones(64, 256, device="cuda")
    graph = graph_of(nn.Sequential(nn.Linear(256, 256), nn.ReLU()).cuda(), given)
    facts: dict[str, Any] = {"parameters": sum(one.numel() for one in model.parameters())}

    def step() -> float:
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(ids)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        graph.replay()
        add_one[(given.numel() // 1024,)](given, given.numel(), size=1024)
        return loss.item()

    step()
    with FlopCounterMode(display=False) as counter:
        step()
    facts["flops"] = counter.get_total_flops()
    model.fused.compile()
    step()
    held = [one for state in optimizer.state.values() for one in state.values()]
    facts["parameter_bytes"] = blocks(model.parameters())
    facts["optimizer_bytes"] = blocks(held)
    callback = tfprof.TorchCallback(folder / "steps", steps=(FIRST, END))
    for number in range(END):
        if number == FIRST - 1:
            torch.cuda.reset_peak_memory_stats()
        step()
        callback.step()
    facts["peak_bytes"] = torch.cuda.max_memory_allocated()
    facts["device"], facts["torch"] = torch.cuda.get_device_name(), torch.__version__
    (folder / "steps_facts.json").write_text(json.dumps(facts, indent=1) + "\n")


def blocks(tensors: Any) -> int:
    """The bytes of the blocks of an allocator that have these tensors."""
    return sum(-(-one.untyped_storage().nbytes() // 512) * 512 for one in tensors if one.is_cuda)


def is_kept(event: dict[str, Any]) -> bool:
    """Whether an event is none of the calls inside PyTorch, which are most of a trace."""
    is_call = event.get("cat") == "python_function"
    inside = ("nn.Module", Path(__file__).name, "torch/utils/checkpoint.py", "torch/_tensor.py")
    return not is_call or event["name"].startswith(inside)


def shorten(path: Path) -> None:
    """Leave out what is not needed from a trace, as text, so that numbers stay as they are."""
    trace = gzip.decompress(path.read_bytes()).decode()
    start = trace.index('"traceEvents": [') + len('"traceEvents": [')
    end = trace.rindex("],")
    events = [f"{{{text}" for text in trace[start:end].split("\n  {")[1:]]
    kept = [text.rstrip().rstrip(",") for text in events]
    kept = [text for text in kept if is_kept(json.loads(text))]
    rest = re.sub(r'"traceName": ".*"', '"traceName": "trace.json"', trace[end:])
    short = f"{trace[:start]}\n{','.join(kept)}\n{rest}"
    path.write_bytes(gzip.compress(without_folders(short).encode(), 9, mtime=0))


def without_folders(text: str) -> str:
    """The same with the names of the compiler's files in any folder."""
    return re.sub(r"/\w+/torchinductor_\w+", "cache", text)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    record(target)
    shorten(target / "steps" / "trace.json.gz")
    modules = target / "steps" / "modules.json"
    modules.write_text(without_folders(modules.read_text()))

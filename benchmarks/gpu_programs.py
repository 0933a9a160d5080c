"""Ten programs on a GPU: how long each step takes by events of the GPU, and its trace.

    python benchmarks/gpu_programs.py OUT_DIR [NAME…]

Each program runs twice, without and with torch.profiler. In both runs an event of the GPU
(`torch.cuda.Event`) is recorded on the main stream where a step begins, so the time between two
events is the time of a step on the GPU, measured independently of the trace. Packs a folder of each
program into programs.tar: trace.json.gz and facts.json.
"""

from __future__ import annotations

import gzip
import json
import random
import shutil
import sys
import tarfile
import time
from itertools import pairwise
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

WAIT, WARMUP, ACTIVE = 2, 2, 5
TOTAL = WAIT + WARMUP + ACTIVE
DEVICE = "cuda"


def mlp(width, depth):
    layers = [part for _ in range(depth) for part in (nn.Linear(width, width), nn.GELU())]
    return nn.Sequential(*layers, nn.Linear(width, 10)).to(DEVICE)


class Block(nn.Module):
    """A layer of a transformer."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        shape = batch, length, self.heads, width // self.heads
        q, k, v = (
            part.view(shape).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1)
        )
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


def training(model, batch, target, *, reads_loss, optimizer=torch.optim.SGD, **options):
    """One step of training."""
    update = optimizer(model.parameters(), lr=1e-4, **options)

    def step():
        loss = nn.functional.cross_entropy(model(batch).float(), target)
        loss.backward()
        update.step()
        update.zero_grad()
        return loss.item() if reads_loss else None

    return step


def item_each_step():
    """The host reads the loss in each step."""
    batch, target = torch.randn(2048, 1024, device=DEVICE), torch.zeros(2048, device=DEVICE).long()
    return training(mlp(1024, 8), batch, target, reads_loss=True)


def no_wait():
    """Small kernels; the host never waits."""
    batch, target = torch.randn(64, 512, device=DEVICE), torch.zeros(64, device=DEVICE).long()
    return training(mlp(512, 16), batch, target, reads_loss=False)


def big_matmuls():
    """The host is far ahead."""
    a, b = (torch.randn(8192, 8192, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))

    def step():
        c = a
        for _ in range(12):
            c = torch.relu(c @ b) * 0.01
        return c

    return step


def side_stream_copies():
    """Results are copied to the host on another stream, while the next ones are computed."""
    side = torch.cuda.Stream()
    a = torch.randn(4096, 4096, device=DEVICE)
    kept = [torch.empty(4096, 4096).pin_memory() for _ in range(4)]

    def step():
        for place in kept:
            result = a @ a
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                place.copy_(result, non_blocking=True)
            result.record_stream(side)

    return step


def graph_replay():
    """Many small kernels in a graph."""
    x = torch.randn(256, 256, device=DEVICE)
    weight = torch.randn(256, 256, device=DEVICE)

    def compute():
        y = x
        for _ in range(60):
            y = torch.tanh(y @ weight) + 1
        return y

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            compute()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        compute()

    def step():
        for _ in range(4):
            graph.replay()
            x.mul_(0.5)

    return step


class Slow(torch.utils.data.Dataset):
    """Samples that take the host some time."""

    def __len__(self):
        return 1 << 20

    def __getitem__(self, place):
        rng = random.Random(place)  # noqa: S311 -- data
        return torch.tensor([rng.random() for _ in range(1024)]), place % 10


def host_bound():
    """A DataLoader without workers, and a copy that waits."""
    model = mlp(1024, 2)
    update = torch.optim.SGD(model.parameters(), lr=1e-4)
    loader = iter(torch.utils.data.DataLoader(Slow(), batch_size=64))

    def step():
        batch, target = next(loader)
        loss = nn.functional.cross_entropy(model(batch.to(DEVICE)), target.to(DEVICE))
        loss.backward()
        update.step()
        update.zero_grad()

    return step


def two_compute_streams():
    """Two streams compute at the same time, and meet at the end of each step."""
    other = torch.cuda.Stream()
    a = torch.randn(2048, 2048, device=DEVICE)
    b = torch.randn(1024, 1024, device=DEVICE)

    def step():
        other.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(other):
            c = b
            for _ in range(20):
                c = torch.tanh(c @ b)
        d = a
        for _ in range(12):
            d = torch.tanh(d @ a)
        torch.cuda.current_stream().wait_stream(other)
        c.record_stream(torch.cuda.current_stream())
        return d.sum() + c.sum()

    return step


def pinned_prefetch():
    """The next batch is copied on another stream, from pinned memory."""
    side = torch.cuda.Stream()
    batches = [torch.randn(8192, 2048).pin_memory() for _ in range(2)]
    model = mlp(2048, 4)
    target = torch.zeros(8192, device=DEVICE).long()
    update = torch.optim.SGD(model.parameters(), lr=1e-4)
    state = {"step": 0}

    def fetch():
        with torch.cuda.stream(side):
            state["next"] = batches[state["step"] % 2].to(DEVICE, non_blocking=True)
        state["step"] += 1

    fetch()

    def step():
        torch.cuda.current_stream().wait_stream(side)
        batch = state["next"]
        batch.record_stream(torch.cuda.current_stream())
        fetch()
        loss = nn.functional.cross_entropy(model(batch), target)
        loss.backward()
        update.step()
        update.zero_grad()

    return step


def optimizer_foreach():
    """Most of the time is the update of many small parameters."""
    batch, target = torch.randn(32, 256, device=DEVICE), torch.zeros(32, device=DEVICE).long()
    options = {"optimizer": torch.optim.AdamW, "foreach": True}
    return training(mlp(256, 40), batch, target, reads_loss=False, **options)


def gpt_scheduled():
    """A small transformer, recorded with stacks and modules; some steps read the loss."""
    length, width, words = 512, 768, 8192
    model = nn.Sequential(
        nn.Embedding(words, width), *(Block(width, 12) for _ in range(6)), nn.Linear(width, words)
    ).to(DEVICE, torch.bfloat16)
    tokens = torch.randint(words, (16, length), device=DEVICE)
    update = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    state = {"step": 0}

    def step():
        logits = model(tokens)
        loss = nn.functional.cross_entropy(logits.view(-1, words).float(), tokens.view(-1))
        loss.backward()
        update.step()
        update.zero_grad()
        state["step"] += 1
        return loss.item() if state["step"] % 3 == 0 else None

    return step


PROGRAMS = {
    one.__name__: one
    for one in (
        *(item_each_step, no_wait, big_matmuls, side_stream_copies, graph_replay),
        *(host_bound, two_compute_streams, pinned_prefetch, optimizer_foreach, gpt_scheduled),
    )
}


class Clock:
    """An event of the GPU and the time of the host where each step begins."""

    def __init__(self):
        self.events, self.host = [], []

    def mark(self):
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        self.events.append(event)
        self.host.append(time.perf_counter_ns())

    def facts(self):
        torch.cuda.synchronize()
        return {"event_ms": elapsed(self.events), "host_ms": waited(self.host)}


def elapsed(events):
    """The milliseconds between events that follow each other."""
    return [first.elapsed_time(second) for first, second in pairwise(events)]


def waited(times):
    return [(second - first) / 1e6 for first, second in pairwise(times)]


def unprofiled(step):
    torch.cuda.synchronize()
    clock = Clock()
    for _ in range(TOTAL):
        clock.mark()
        step()
    clock.mark()
    return clock.facts()


def profiled(step, trace, **options):
    """The times of the recorded steps; the last one ends before the profiler stops."""
    clock, ends = Clock(), Clock()
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    torch.cuda.synchronize()
    with profile(
        activities=activities,
        schedule=schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=1),
        on_trace_ready=lambda recorded: recorded.export_chrome_trace(str(trace)),
        **options,
    ) as recording:
        for _ in range(TOTAL):
            clock.mark()
            step()
            ends.mark()
            recording.step()
    torch.cuda.synchronize()
    first = WAIT + WARMUP
    starts, finished = clock.events[first:], ends.events[first:]
    return {
        "numbers": list(range(first, TOTAL)),  # of ProfilerStep#
        "event_ms": elapsed([*starts, finished[-1]]),
        "host_ms": waited([*clock.host[first:], ends.host[-1]]),
        # From the begin of each step to the end of what it launched on the main stream.
        "to_end_ms": [begin.elapsed_time(end) for begin, end in zip(starts, finished, strict=True)],
    }


def run(name, folder):
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    step = PROGRAMS[name]()
    for _ in range(5):
        step()
    options = {"record_shapes": True}
    if name == "gpt_scheduled":
        options |= {"with_stack": True, "with_modules": True}
    trace = folder / "trace.json"
    facts = {
        "program": name,
        "what": PROGRAMS[name].__doc__,
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "unprofiled": unprofiled(step),
        "profiled": profiled(step, trace, **options),
    }
    (folder / "trace.json.gz").write_bytes(gzip.compress(trace.read_bytes(), 6, mtime=0))
    trace.unlink()
    (folder / "facts.json").write_text(json.dumps(facts, indent=1) + "\n")
    return facts


def main():
    out, *names = sys.argv[1:]
    out = Path(out)
    for name in names or PROGRAMS:
        start = time.perf_counter()
        try:
            facts = run(name, out / name)
        except Exception as error:  # noqa: BLE001 -- the other programs still run
            print(f"{name}: {type(error).__name__}: {error}", flush=True)
            continue
        shown = [round(ms, 3) for ms in facts["profiled"]["event_ms"]]
        size = (out / name / "trace.json.gz").stat().st_size
        took = time.perf_counter() - start
        print(f"{name}: {shown} ms, {size:,} bytes, {took:.1f} s", flush=True)
        torch.cuda.empty_cache()
    with tarfile.open(out / "programs.tar", "w") as packed:
        for name in names or PROGRAMS:
            if (out / name / "facts.json").exists():
                packed.add(out / name, name)
                shutil.rmtree(out / name)


if __name__ == "__main__":
    main()

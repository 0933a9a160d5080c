"""What ran inside of what on the threads of a Kineto trace, computed from its JSON alone."""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from independent.device_timeline import LAUNCHES, OPS, read, span

GRADIENT = re.compile(r"autograd::engine::evaluate_function|torch::autograd::|\w+Backward\d*$")
# PyTorch 1.8 recorded annotations as ops.
ANNOTATION = re.compile(r"ProfilerStep|Optimizer\.|enumerate\(DataLoader\)")
MODULE = "nn.Module: "
BACKWARD_CALL = re.compile(
    r"torch/(_tensor|autograd/__init__)\.py\(\d+\): (backward|grad)$|.*run_backward"
)
COLLECTIVE_OP = re.compile(r"c10d::|_c10d_functional|nccl:|gloo:|record_param_comms")
KINDS = {**dict.fromkeys(OPS, "op"), "user_annotation": "annotation", "python_function": "python"}


class Call:
    """An op, an annotation, a Python call or a launch on the host."""

    def __init__(self, kind, event):
        self.name = str(event["name"])
        self.kind = "annotation" if kind == "op" and ANNOTATION.match(self.name) else kind
        self.begin, self.end = span(event)
        self.thread = (event["pid"], event["tid"])
        args = event.get("args") or {}
        self.number, forward_thread = (
            int(args.get(key, -1)) for key in ("Sequence number", "Fwd thread id")
        )
        self.forward_thread = max(forward_thread, 0)  # of gradients
        self.id = args.get("External id")
        self.chain = [self]  # what is around the call, outermost first, and the call itself
        self.children = []

    @property
    def is_gradient(self):
        return self.kind == "op" and bool(self.forward_thread or GRADIENT.match(self.name))

    @property
    def is_backward(self):
        """Whether it is part of the backward pass: a gradient, or a call of `backward`."""
        return self.is_gradient or (self.kind == "python" and not self.module)

    @property
    def is_collective(self):
        return self.kind != "python" and bool(COLLECTIVE_OP.match(self.name))

    @property
    def module(self):
        """The name of the module's class and its number, if the call is that of a module."""
        is_module = self.kind == "python" and self.name.startswith(MODULE)
        return self.name.removeprefix(MODULE) if is_module else None


class Program:
    """The calls of all threads, and which of them launched each kernel."""

    def __init__(self, path):
        events, _ = read(path)
        launched, self.threads, self.kernels = {}, defaultdict(list), []
        self.device_annotations = defaultdict(list)  # by stream: begin, end, name
        for event in events:
            kind = str(event.get("cat", "")).lower()
            number = (event.get("args") or {}).get("correlation")
            if LAUNCHES.search(kind) and number is not None:
                call = launched[number] = Call("launch", event)
                self.threads[call.thread].append(call)
            elif kind in KINDS and _matters(kind, str(event["name"])):
                call = Call(KINDS[kind], event)
                self.threads[call.thread].append(call)
            elif kind == "gpu_user_annotation":
                stream = (event["pid"], event["tid"])
                self.device_annotations[stream].append((*span(event), str(event["name"])))
        self.calls = [call for calls in self.threads.values() for call in _nested(calls)]
        ids = {call.id: call for call in self.calls if call.kind == "op"}
        for event in events:
            if str(event.get("cat", "")).lower() == "kernel":
                args = event.get("args") or {}
                launch = launched.get(args.get("correlation"))
                self.kernels.append((event, launch or ids.get(args.get("External id"))))

    def forward_of(self):
        """The forward op of each backward op: the last op before it that has the same number."""
        ops, found = defaultdict(list), {}
        for call in self.calls:
            if call.kind == "op" and call.number >= 0 and not call.forward_thread:
                ops[call.number].append(call)
        votes = defaultdict(Counter)  # PyTorch has numbers of its own for threads
        gradients = [call for call in self.calls if call.kind == "op" and call.forward_thread]
        for call in gradients:
            for thread in {op.thread for op in ops[call.number]}:
                votes[call.forward_thread][thread] += 1
        threads = {number: votes[number].most_common(1)[0][0] for number in votes}
        for call in gradients:
            thread = threads.get(call.forward_thread)
            before = [
                op for op in ops[call.number] if op.thread == thread and op.begin < call.begin
            ]
            if before:
                found[call] = max(before, key=lambda op: op.begin)
        return self._with_sums(found)

    def _with_sums(self, forward):
        """The forward ops, also of what adds a gradient to that of a parameter.

        PyTorch does so directly after the backward op that computed the gradient.
        """
        found = dict(forward)
        for calls in self.threads.values():
            last = None
            for call in (call for call in calls if call.is_gradient):
                if call.name.endswith("::AccumulateGrad") and last:
                    found[call] = last
                last = found.get(call)
        return found


def _matters(kind, name):
    return kind != "python_function" or name.startswith(MODULE) or BACKWARD_CALL.match(name)


def _nested(calls):
    """The calls of a thread in the order of time, each with what is around and in it."""
    calls.sort(key=lambda call: (call.begin, -call.end))
    around = []
    for call in calls:
        # Times can be rounded to microseconds; what ends later than that is not inside.
        around = [one for one in around if one.end > call.begin]
        call.chain = [one for one in around if one.end >= call.end - 1000] + [call]
        if len(call.chain) > 1:
            call.chain[-2].children.append(call)
        around.append(call)
    return calls

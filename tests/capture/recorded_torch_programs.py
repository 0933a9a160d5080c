"""Records the programs of `torch_programs.py`, for `test_torch_programs.py`.

`python recorded_torch_programs.py FOLDER` records each program with `tfprof.capture` and with
PyTorch's profiler, saves its parameters, and writes what PyTorch knows about it to
FOLDER/live.json.
"""

import json
import sys
from collections import Counter, defaultdict
from math import prod
from pathlib import Path

import torch
from torch.utils._pytree import tree_map_only
from torch.utils.flop_counter import FlopCounterMode

import tfprof

sys.path.append(str(Path(__file__).parents[1]))

from capture.torch_programs import PROGRAMS
from formats.test_safetensors import written

STEPS = 2
SKIPPED = 3  # before each trace
FILES = {sys.modules[name].__file__ for name in ("capture.torch_models", "capture.torch_programs")}
TYPES = {torch.float32: "F32", torch.int64: "I64"}
aten = torch.ops.aten


# PyTorch's counter does not know these kernels of the CPU. Attention has two products, and five
# in the backward pass, which computes the scores again. A recurrent layer has a product with each
# weight for each row, and two for their gradients.


def attention(query, key, *_, **__):
    return 2 * 2 * prod(query) * key[-2]


def attention_gradient(_, query, key, *__, **___):
    return 2 * 5 * prod(query) * key[-2]


def recurrent(rows, *weights, **_):
    return 2 * prod(rows[:-1]) * (prod(weights[0]) + prod(weights[1]))


def recurrent_gradient(rows, *weights, **_):
    return 2 * recurrent(rows, *weights)


FORMULAS = {
    aten._scaled_dot_product_flash_attention_for_cpu: attention,
    aten._scaled_dot_product_flash_attention_for_cpu_backward: attention_gradient,
    aten.mkldnn_rnn_layer: recurrent,
    aten.mkldnn_rnn_layer_backward: recurrent_gradient,
}


def counter():
    return FlopCounterMode(display=False, custom_mapping=FORMULAS)


class Calls:
    """The calls of PyTorch's own modules in a step: their lines, and the float ops of each alone.

    The counter itself attributes gradients only roughly: what is computed between the gradients of
    the output and the input of a module, also in modules beside it, counts for that module.
    """

    def __init__(self, program):
        self.float_ops = Counter()
        self.lines = defaultdict(set)
        self._calls = []
        hooks = [
            module.register_forward_hook(self._hook(path), with_kwargs=True)
            for path, module in own_modules(program)
        ]
        program.counted()
        for hook in hooks:
            hook.remove()
        self._count(program)

    def _hook(self, path):
        def hook(module, given, keywords, _):
            is_again = torch._C._current_graph_task_id() >= 0  # by a checkpoint
            arguments = _copied((given, keywords))
            self._calls.append((path, module, arguments, torch.is_grad_enabled(), is_again))
            frame = sys._getframe()
            while frame.f_code.co_filename not in FILES:
                frame = frame.f_back
            self.lines[path].add((frame.f_lineno, frame.f_code.co_firstlineno))

        return hook

    def _count(self, program):
        """Call each again, alone; what a checkpoint called twice has its gradients once."""
        is_counted = set()
        for path, module, (given, keywords), is_differentiable, is_again in self._calls:
            has_gradient = is_differentiable and not (is_again and path in is_counted)
            is_counted |= {path} if has_gradient else set()
            with counter() as counted, torch.set_grad_enabled(has_gradient):
                with program.around():
                    found = module(*given, **keywords)
                found = found[0] if isinstance(found, tuple) else found
                if found.requires_grad:
                    found.sum().backward()
            self.float_ops[path] += counted.get_total_flops()


def own_modules(program):
    """The modules of PyTorch itself that have parameters, by path."""
    for model in program.models:
        for path, one in model.named_modules():
            is_own = type(one).__module__.startswith("torch.")
            if is_own and list(one.parameters(recurse=False)):
                yield f"{type(model).__name__}/{path.replace('.', '/')}", one


def _copied(value):
    """The same arguments, with gradients where they had some; equal ones stay equal."""
    copies = {}

    def copy(tensor):
        kept = tensor.detach().clone()
        kept = kept.float() if kept.is_floating_point() else kept
        return copies.setdefault(id(tensor), kept.requires_grad_(tensor.requires_grad))

    return tree_map_only(torch.Tensor, copy, value)


def facts(program):
    """What PyTorch knows about a program."""
    calls = Calls(program)
    with counter() as counted:
        program.counted()
    found = [one for model in program.models for one in model.parameters()]
    parameters = {id(one): one for one in found}.values()
    kept = [
        value
        for optimizer in program.optimizers
        for state in optimizer.state.values()
        for value in state.values()
        if isinstance(value, torch.Tensor)
    ]
    return {
        "params": sum(one.numel() for one in parameters),
        "trainable": sum(one.numel() for one in parameters if one.requires_grad),
        "slots": sum(one.numel() for one in kept),
        "float_ops": counted.get_total_flops(),
        "alone": calls.float_ops,
        "lines": {
            path: sorted(calls.lines[path])
            for path, one in own_modules(program)
            if path in calls.lines and all(weight.requires_grad for weight in one.parameters())
        },
    }


def captured(program, folder):
    with tfprof.capture(folder, framework="torch", all_threads=program.all_threads) as capture:
        for _ in range(STEPS):
            program.step()
            capture.step()


def traced(program, folder):
    """Write two traces of `STEPS` steps each."""

    def write(profiler):
        profiler.export_chrome_trace(str(folder / f"{profiler.step_num}.pt.trace.json"))

    with torch.profiler.profile(
        schedule=torch.profiler.schedule(wait=SKIPPED - 1, warmup=1, active=STEPS, repeat=2),
        on_trace_ready=write,
        record_shapes=True,
        with_stack=True,
        profile_memory=True,
        acc_events=False,
        experimental_config=torch._C._profiler._ExperimentalConfig(
            profile_all_threads=program.all_threads
        ),
    ) as profiler:
        for _ in range(2 * (SKIPPED + STEPS)):
            program.step()
            profiler.step()


def saved(program, folder):
    """Write a single model: with the state of its optimizer, as a module, and as safetensors."""
    if len(program.models) > 1:
        return
    torch.save(program.models[0], folder / "module.pt")
    state, optimizer = program.models[0].state_dict(), program.optimizers[0].state_dict()
    torch.save({"model": state, "optimizer": optimizer}, folder / "model.pt")
    entries, start, seen = {}, 0, set()
    for name in sorted(state):  # as the library writes it, each tensor once
        if state[name].data_ptr() not in seen:
            end = start + state[name].nbytes
            dtype, shape = TYPES[state[name].dtype], list(state[name].shape)
            entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}
            seen.add(state[name].data_ptr())
            start = end
    written(folder / "model.safetensors", entries, bytes(start))


def main(folder):
    live = {}
    for name, make in PROGRAMS.items():
        torch.manual_seed(0)
        program = make()
        program.step()  # makes the state of the optimizer
        captured(program, folder / name / "capture")
        traced(program, folder / name)
        saved(program, folder / name)
        live[name] = facts(program)
    (folder / "live.json").write_text(json.dumps(live))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

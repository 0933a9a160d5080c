"""Trains a compiled model, which `test_torch_programs.py` records with `tfprof run`.

`python compiled_torch_program.py FILE` also writes to FILE what PyTorch knows about the model.
"""

import json
import sys
from pathlib import Path

import torch
from torch.utils.flop_counter import FlopCounterMode

sys.path.append(str(Path(__file__).parents[1]))

from capture.torch_programs import Perceptron


def step(model, optimizer, rows):
    optimizer.zero_grad()
    model(rows).square().mean().backward()
    optimizer.step()


def main(file):
    model = Perceptron()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    rows = torch.randn(8, 16)
    compiled = torch.compile(model)
    for _ in range(4):
        step(compiled, optimizer, rows)
    with FlopCounterMode(display=False) as counted:
        step(model, optimizer, rows)
    parameters = sum(one.numel() for one in model.parameters())
    facts = {"params": parameters, "float_ops": counted.get_total_flops()}
    file.write_text(json.dumps(facts))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Records a training step of two layers without biases, for `test_torch_programs.py`.

`python torch_memory_program.py FOLDER ROWS WIDE NARROW`, where the outputs of the layers have the
sizes WIDE and NARROW, and the batch ROWS rows.
"""

import sys

import torch
from torch import nn

import tfprof


def main(folder, rows, wide, narrow):
    model = nn.Sequential(
        nn.Linear(100, wide, bias=False), nn.ReLU(), nn.Linear(wide, narrow, bias=False)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs = torch.ones(rows, 100)

    def step():
        optimizer.zero_grad()
        model(inputs).sum().backward()
        optimizer.step()

    step()
    with tfprof.capture(folder, framework="torch"):
        step()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))

"""Trains a compiled model, and records its last step to the folder that is given."""

import sys

import torch
from torch import nn

import tfprof


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(4, 8), nn.Linear(8, 4)

    def forward(self, x):
        x = self.inner(x)  # inner
        x = x.relu()
        return self.outer(x)  # outer


def main(folder):
    net = torch.compile(Net())
    net(torch.ones(3, 4)).sum().backward()
    with tfprof.capture(folder, framework="torch"):
        net(torch.ones(3, 4)).sum().backward()  # step


if __name__ == "__main__":
    main(sys.argv[1])

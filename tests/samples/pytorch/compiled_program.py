"""Trains a model and a loss that are compiled, and records the second step."""

import torch
from torch import nn
from torch.nn import functional
from torch.profiler import profile


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = functional.gelu(self.inner(x))
        return x + self.outer(hidden)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def loss(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.mm(x, y.T).square().sum()


def main() -> None:
    compiled, compiled_loss = torch.compile(Net()), torch.compile(loss)
    compiled_loss(compiled(torch.ones(6, 8)), torch.ones(3, 4)).backward()
    with profile(record_shapes=True, with_stack=True) as recorded:
        compiled_loss(compiled(torch.ones(6, 8)), torch.ones(3, 4)).backward()
    recorded.export_chrome_trace("trace.json")


if __name__ == "__main__":
    main()

"""Trains a small model of PyTorch, for `test_torch_smoke.py`.

`tfprof run --skip_steps 2 --steps 2 -o FOLDER/run torch_smoke_program.py FOLDER` records its
training. The program itself counts the model in FOLDER/counted, and records a second training in
FOLDER/callback, as the second of two ranks, while a thread trains a third model.
"""

import os
import sys
import threading
from pathlib import Path

import torch
from torch import nn

import tfprof


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 8)
        self.outer = nn.Linear(8, 4)

    def forward(self, x):
        hidden = torch.relu(self.inner(x))  # inner
        return self.outer(hidden)


class Tagger(nn.Module):
    """A weight that two layers share, a block that is called twice, a frozen bias."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(6, 4)
        self.block = Block()
        self.head = nn.Linear(4, 6, bias=False)
        self.head.weight = self.embed.weight
        self.scales = nn.ParameterList(nn.Parameter(torch.ones(())) for _ in range(30))
        self.block.outer.bias.requires_grad_(False)

    def forward(self, tokens):
        x = self.embed(tokens)
        x = self.block(self.block(x))
        return self.head(x) * torch.stack(list(self.scales)).sum()


def train(model, steps, after_step=lambda: None):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=True)
    tokens = torch.arange(5)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.CrossEntropyLoss()(model(tokens), tokens).backward()
        optimizer.step()
        after_step()


def main(folder):
    tfprof.load(Tagger(), torch.arange(5), backward=True).save(folder / "counted")
    train(Tagger(), steps=5)
    os.environ |= {"WORLD_SIZE": "2", "RANK": "1"}
    with tfprof.TorchCallback(folder / "callback", steps=(1, 3)) as callback:
        train(Tagger(), steps=2, after_step=callback.step)  # deletes the model
        worker = threading.Thread(target=train, args=(Tagger(), 1))
        worker.start()
        worker.join()
    print("trained")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Records three training steps of a PyTorch model with `tfprof.capture(FOLDER)`."""

import sys

import torch
from torch import nn

import tfprof

model = nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
images, labels = torch.randn(64, 256), torch.arange(64) % 10


def train_step():
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()


train_step()  # the first step allocates memory

folder = sys.argv[1] if len(sys.argv) > 1 else "runs/step"
with tfprof.capture(folder) as capture:
    for _ in range(3):
        train_step()
        capture.step()

print(tfprof.load(folder).layers(select=["params", "float_ops", "micros"]))

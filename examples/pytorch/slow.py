"""Trains a small transformer that classifies signals, in a way that is slower than it could be."""

import math

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

LENGTH, WINDOW, WIDTH, HEADS, BLOCKS, CLASSES = 32, 16, 64, 8, 2, 4


class Signals(Dataset):
    """Noisy waves of four kinds, averaged over windows."""

    def __len__(self):
        return 8 * 12

    def __getitem__(self, index):
        label = index % CLASSES
        time = torch.linspace(0, 6 * math.pi, LENGTH * WINDOW)
        noisy = torch.sin((label + 1) * time) + 0.5 * torch.randn(LENGTH * WINDOW)
        smooth = torch.empty(LENGTH, 1)
        for place in range(LENGTH):
            smooth[place] = noisy[WINDOW * place : WINDOW * (place + 1)].mean()
        return smooth, label


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.proj = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        parts = self.qkv(x).chunk(3, dim=-1)
        queries, keys, values = (part.chunk(HEADS, dim=-1) for part in parts)
        heads = []
        for query, key, value in zip(queries, keys, values, strict=True):
            scores = torch.matmul(query, key.transpose(1, 2)) / math.sqrt(query.shape[-1])
            weights = torch.softmax(scores, dim=-1)
            heads.append(torch.matmul(weights, value))
        return self.proj(torch.cat(heads, dim=-1))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1 = nn.LayerNorm(WIDTH)
        self.attn = Attention()
        self.norm_2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x):
        x = x + self.attn(self.norm_1(x))
        return x + self.mlp(self.norm_2(x))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(1, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        return self.head(self.blocks(self.embed(x)).mean(dim=1))


def main():
    torch.manual_seed(0)
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for signals, labels in DataLoader(Signals(), batch_size=8, shuffle=True):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(signals), labels)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()

"""Modules of PyTorch for tests; PyTorch must be installed."""

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


class Convolutional(nn.Module):
    """A network with strides, groups, dilation and a transposed convolution."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU()
        )
        self.depthwise = nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=8)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(4, 10)

    def forward(self, images):
        """The scores of classes."""
        found = self.up(functional.max_pool2d(self.depthwise(self.first(images)), 2))
        return self.head(self.pool(found).flatten(1))


class Recurrent(nn.Module):
    """An LSTM of two layers, and a GRU in both directions."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 5, num_layers=2, batch_first=True)
        self.gru = nn.GRU(5, 4, bidirectional=True, batch_first=True)

    def forward(self, sequences):
        """The last states."""
        return self.gru(self.lstm(sequences)[0])[0][:, -1]


class Attention(nn.Module):
    """Attention with several heads."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, hidden):
        """Mix the rows."""
        batch, length, width = hidden.shape
        parts = self.qkv(hidden).chunk(3, -1)
        shape = (batch, length, self.heads, width // self.heads)
        query, key, value = (part.view(shape).transpose(1, 2) for part in parts)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.proj(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """A layer of a transformer."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.mlp = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, hidden):
        """The next hidden states."""
        hidden = hidden + self.attn(self.norm(hidden))
        return hidden + self.mlp(hidden)


class Language(nn.Module):
    """A transformer whose input and output share their weight, called as those of libraries."""

    def __init__(self, words=50, width=16, heads=2, layers=2, *, is_checkpointed=False):
        super().__init__()
        self.is_checkpointed = is_checkpointed
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.register_buffer("positions", torch.arange(64), persistent=False)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, input_ids, labels=None):
        """The loss and the scores, as a mapping."""
        hidden = self.embed(input_ids)
        for block in self.blocks:
            if self.is_checkpointed:
                hidden = checkpoint(block, hidden, use_reentrant=False)
            else:
                hidden = block(hidden)
        scores = self.head(hidden)
        if labels is None:
            return {"logits": scores}
        loss = functional.cross_entropy(scores.flatten(0, 1), labels.flatten())
        return {"loss": loss, "logits": scores.detach()}

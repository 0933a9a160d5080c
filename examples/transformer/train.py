"""Trains a small transformer for a few steps to predict the next token of random sequences."""

import keras
import numpy as np
from keras import layers

VOCABULARY, LENGTH, WIDTH, HEADS, BLOCKS = 2000, 64, 128, 4, 3
BATCH, STEPS = 16, 8


class Block(layers.Layer):
    """Self-attention and two dense layers, each added to its input."""

    def __init__(self, **options):
        super().__init__(**options)
        self.attention_norm = layers.LayerNormalization(name="attention_norm")
        self.attention = layers.MultiHeadAttention(HEADS, WIDTH // HEADS, name="attention")
        self.dense_norm = layers.LayerNormalization(name="dense_norm")
        self.expand = layers.Dense(4 * WIDTH, activation="gelu", name="expand")
        self.contract = layers.Dense(WIDTH, name="contract")

    def call(self, x):
        normal = self.attention_norm(x)
        x = x + self.attention(normal, normal, use_causal_mask=True)
        return x + self.contract(self.expand(self.dense_norm(x)))


tokens = keras.Input((LENGTH,), dtype="int32", name="tokens")
x = layers.Embedding(VOCABULARY, WIDTH, name="embedding")(tokens)
for number in range(1, BLOCKS + 1):
    x = Block(name=f"block_{number}")(x)
x = layers.LayerNormalization(name="norm")(x)
logits = layers.Dense(VOCABULARY, name="logits")(x)
model = keras.Model(tokens, logits, name="transformer")

loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer="adam", loss=loss)
sequences = np.random.default_rng(0).integers(0, VOCABULARY, (BATCH * STEPS, LENGTH + 1))
model.fit(sequences[:, :-1], sequences[:, 1:], batch_size=BATCH, epochs=1)

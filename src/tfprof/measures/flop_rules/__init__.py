"""Rules that count an op's float operations from its shapes, one module per family of kinds."""

from tfprof.measures.flop_rules import (
    activations,
    convolutions,
    einsum,
    elementwise,
    generators,
    losses,
    movement,
    normalisation,
    optimisers,
    pooling,
    products,
    recurrent,
    reductions,
)

# Importing a module adds its rules to the table.
__all__ = [
    "activations",
    "convolutions",
    "einsum",
    "elementwise",
    "generators",
    "losses",
    "movement",
    "normalisation",
    "optimisers",
    "pooling",
    "products",
    "recurrent",
    "reductions",
]

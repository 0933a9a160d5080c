"""Rules that count an op's float operations from its shapes, one module per family of kinds."""

from tfprof.measures.flop_rules import (
    activations,
    convolutions,
    einsum,
    elementwise,
    generators,
    losses,
    matrices,
    movement,
    normalisation,
    optimizers,
    pooling,
    products,
    recurrent,
    reductions,
    selection,
    transforms,
)

# Importing a module adds its rules to the table.
__all__ = [
    "activations",
    "convolutions",
    "einsum",
    "elementwise",
    "generators",
    "losses",
    "matrices",
    "movement",
    "normalisation",
    "optimizers",
    "pooling",
    "products",
    "recurrent",
    "reductions",
    "selection",
    "transforms",
]

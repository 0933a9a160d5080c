"""How many float operations an op does, from its shapes: one module a family of kinds."""

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

# Importing a family is what puts its rules into the table.
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

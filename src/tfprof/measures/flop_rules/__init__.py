"""How many float operations an op does, from its shapes: one module a family of kinds."""

from tfprof.measures.flop_rules import (
    convolutions,
    elementwise,
    movement,
    pooling,
    products,
    reductions,
)

# Importing a family is what puts its rules into the table.
__all__ = ["convolutions", "elementwise", "movement", "pooling", "products", "reductions"]

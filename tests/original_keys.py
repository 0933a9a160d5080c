"""The keys that the original tfprof knows, for questions that both are asked."""

from tfprof.dialects import DIALECTS

THRESHOLD_KEYS = tuple(
    name.removeprefix("min_") for name in DIALECTS["core"].options if name.startswith("min_")
)

ORDER_KEYS = ("name", *THRESHOLD_KEYS)

SELECTABLE = (*THRESHOLD_KEYS, "device", "op_types", "input_shapes", "tensor_value")

"""Registry of metrics, which defines what can be selected, ordered by and used as a threshold."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import NamedTuple

from tfprof.units import Unit


class Need(StrEnum):
    """What a metric or view requires; sources declare which files provide it."""

    DEFINITIONS = "definitions"
    RUNS = "runs"
    CODE = "code"
    LAYERS = "layers"  # with their classes
    VALUES = "values"


class Metric(NamedTuple):
    """A metric or fact that `-select` accepts."""

    key: str
    label: str
    sentence: str
    needs: Need
    unit: Unit | None = None  # set for numbers, which are summed
    exact: str = ""  # the key of the same time in nanoseconds
    fact: str = (
        ""  # the function in `views/facts.py` that provides what is shown besides the number
    )
    is_of_answer: bool = False  # describes the omitted rows, not the model
    is_of_single_ops: bool = False  # tables of nested rows that group ops show `N/A`
    gathered_label: str = ""  # the heading in views whose rows group ops, if different
    part_of: str = ""  # the number of which it counts only some ops; has no threshold
    heading: str = ""  # the heading in aligned tables

    @property
    def is_number(self) -> bool:
        return self.unit is not None

    @property
    def meaning(self) -> str:
        """The sentence without the heading that it starts with."""
        return self.sentence.partition(": ")[2]


_MICROS = Metric(
    "micros",
    "total execution time",
    "total execution time: accelerator and cpu time added up.",
    Need.RUNS,
    Unit.MICROS,
    exact="nanos",
    heading="time",
)
_CPU_MICROS = Metric(
    "cpu_micros",
    "cpu execution time",
    "cpu execution time: time on the op's own device, dispatching and waiting included.",
    Need.RUNS,
    Unit.MICROS,
    exact="cpu_nanos",
)
_ACCELERATOR_MICROS = Metric(
    "accelerator_micros",
    "accelerator execution time",
    "accelerator execution time: time the kernels took on the accelerator's streams.",
    Need.RUNS,
    Unit.MICROS,
    exact="accelerator_nanos",
    heading="accelerator time",
)
_TRANSFER_MICROS = Metric(
    "transfer_micros",
    "transfer time",
    "transfer time: copies and fills of an accelerator that the op launched; not execution time.",
    Need.RUNS,
    Unit.MICROS,
    exact="transfer_nanos",
    heading="transfer time",
)

# The order is that of the columns in the scope and graph views.
_ROWS: tuple[Metric, ...] = (
    Metric(
        "layer_class",
        "layer class",
        "layer class: the class of the layer that the op belongs to, such as Conv2D.",
        Need.LAYERS,
        fact="layer_class",
        heading="class",
    ),
    Metric(
        "output_shape",
        "output shape",
        "output shape: the shape of the first output of the op, or of the output of the layer.",
        Need.DEFINITIONS,
        fact="output_shape",
        heading="output shape",
    ),
    Metric(
        "params",
        "# parameters",
        "# parameters: the elements of each op's `shape`, variables and placeholders alike.",
        Need.DEFINITIONS,
        Unit.COUNT,
        fact="shape",
        heading="parameters",
    ),
    Metric(
        "trainable_params",
        "# trainable parameters",
        "# trainable parameters: the parameters that training changes.",
        Need.DEFINITIONS,
        Unit.COUNT,
        part_of="params",
        heading="trainable",
    ),
    Metric(
        "other_params",
        "# other parameters",
        "# other parameters: those that are not trainable, such as moving averages.",
        Need.DEFINITIONS,
        Unit.COUNT,
        part_of="params",
        heading="other",
    ),
    Metric(
        "slots",
        "# slots",
        "# slots: values that the optimizer keeps besides the parameters, such as moments.",
        Need.DEFINITIONS,
        Unit.COUNT,
    ),
    Metric(
        "float_ops",
        "# float_ops",
        "# float_ops: float operations of each op times its runs; a multiply and an add are two.",
        Need.DEFINITIONS,
        Unit.COUNT,
        heading="FLOPs",
    ),
    Metric(
        "forward_float_ops",
        "# forward float_ops",
        "# forward float_ops: float operations of the forward pass.",
        Need.DEFINITIONS,
        Unit.COUNT,
        part_of="float_ops",
        heading="forward",
    ),
    Metric(
        "backward_float_ops",
        "# backward float_ops",
        "# backward float_ops: float operations of the gradients.",
        Need.DEFINITIONS,
        Unit.COUNT,
        part_of="float_ops",
        heading="backward",
    ),
    Metric(
        "macs",
        "# macs",
        "# macs: multiply-accumulates of products and convolutions times their runs.",
        Need.DEFINITIONS,
        Unit.COUNT,
        heading="MACs",
    ),
    Metric(
        "forward_macs",
        "# forward macs",
        "# forward macs: multiply-accumulates of the forward pass.",
        Need.DEFINITIONS,
        Unit.COUNT,
        part_of="macs",
        heading="forward",
    ),
    Metric(
        "backward_macs",
        "# backward macs",
        "# backward macs: multiply-accumulates of the gradients.",
        Need.DEFINITIONS,
        Unit.COUNT,
        part_of="macs",
        heading="backward",
    ),
    Metric(
        "bytes",
        "requested bytes",
        "requested bytes: all memory the op asked for while it ran.",
        Need.RUNS,
        Unit.BYTES,
    ),
    Metric(
        "peak_bytes",
        "peak bytes",
        "peak bytes: the most memory the op held at one time.",
        Need.RUNS,
        Unit.BYTES,
    ),
    Metric(
        "residual_bytes",
        "residual bytes",
        "residual bytes: memory still held when the op had finished.",
        Need.RUNS,
        Unit.BYTES,
    ),
    Metric(
        "output_bytes",
        "output bytes",
        "output bytes: memory of the op's outputs, even if another op allocated it.",
        Need.RUNS,
        Unit.BYTES,
    ),
    Metric(
        "held_bytes",
        "",
        "held_bytes: the most memory that a layer's ops held at one time in a step (layers view).",
        Need.RUNS,
        fact="held_bytes",
        heading="peak memory",
    ),
    _MICROS,
    Metric(
        "forward_micros",
        "forward execution time",
        "forward execution time: total execution time of the forward pass.",
        Need.RUNS,
        Unit.MICROS,
        exact="forward_nanos",
        part_of="micros",
        heading="forward",
    ),
    Metric(
        "backward_micros",
        "backward execution time",
        "backward execution time: total execution time of the gradients.",
        Need.RUNS,
        Unit.MICROS,
        exact="backward_nanos",
        part_of="micros",
        heading="backward",
    ),
    _ACCELERATOR_MICROS,
    Metric(
        "forward_accelerator_micros",
        "forward accelerator time",
        "forward accelerator time: accelerator execution time of the forward pass.",
        Need.RUNS,
        Unit.MICROS,
        exact="forward_accelerator_nanos",
        part_of="accelerator_micros",
        heading="forward",
    ),
    Metric(
        "backward_accelerator_micros",
        "backward accelerator time",
        "backward accelerator time: accelerator execution time of the gradients.",
        Need.RUNS,
        Unit.MICROS,
        exact="backward_accelerator_nanos",
        part_of="accelerator_micros",
        heading="backward",
    ),
    _CPU_MICROS,
    _TRANSFER_MICROS,
    Metric(
        "device",
        "assigned devices",
        "assigned devices: where the op ran.",
        Need.RUNS,
        fact="devices",
    ),
    Metric(
        "op_types",
        "op types",
        "op types: all types of the op: its kind, its device, and types assigned by an op log.",
        Need.DEFINITIONS,
        fact="op_types",
    ),
    Metric(
        "occurrence",
        "op count (run|defined)",
        "op count: how often the op ran, and how many ops there are.",
        Need.DEFINITIONS,
        fact="occurrence",
        is_of_single_ops=True,
        gathered_label="op occurrence (run|defined)",
    ),
    Metric(
        "input_shapes",
        "input shapes",
        "input shapes: the shape of each input, by position.",
        Need.DEFINITIONS,
        fact="input_shapes",
        is_of_single_ops=True,
    ),
    Metric(
        "tensor_value",
        "",
        "tensor value: the value stored in the checkpoint under the op's name.",
        Need.VALUES,
        fact="tensor_value",
    ),
    Metric(
        "num_hidden_ops",
        "",
        "num_hidden_ops: how many hidden ops lie between a row and the one above it (graph view).",
        Need.DEFINITIONS,
        fact="num_hidden_ops",
        is_of_answer=True,
    ),
)

# The value of `select` and `order_by` that lets tfprof choose; see `views/defaults.py`.
AUTO = "auto"

# A row added to `_ROWS` is available everywhere.
BY_KEY: dict[str, Metric] = {metric.key: metric for metric in _ROWS}

METRICS: Collection[Metric] = BY_KEY.values()

# The numbers that are summed over a subtree: every number that can be selected, the exact times
# from which microseconds are rounded, and the two counts of `occurrence`.
NUMBERS: tuple[str, ...] = (
    *(metric.key for metric in METRICS if metric.is_number),
    *(metric.exact for metric in METRICS if metric.exact),
    "runs",
    "definitions",
)

# Keys that select several columns; all others select their own column.
EXPANSIONS: dict[str, tuple[Metric, ...]] = {"micros": (_MICROS, _ACCELERATOR_MICROS, _CPU_MICROS)}

# The explanations of `micros` come in this order, its columns in the order above.
EXPLANATIONS: dict[str, tuple[Metric, ...]] = {
    "micros": (_MICROS, _CPU_MICROS, _ACCELERATOR_MICROS)
}

# The numbers that are measured at run time.
RUN_NUMBERS: tuple[str, ...] = tuple(
    metric.key
    for metric in METRICS
    if metric.is_number and metric.needs is Need.RUNS and not metric.part_of
)

# The numbers that follow from the definition of an op.
DEFINED_NUMBERS: tuple[str, ...] = tuple(
    metric.key
    for metric in METRICS
    if metric.is_number and metric.needs is Need.DEFINITIONS and not metric.part_of
)

# Numbers that count only some ops of another number.
PARTS: tuple[str, ...] = tuple(metric.key for metric in METRICS if metric.part_of)

# Views that group many ops in a row show memory and time first.
GATHERED_ORDER: tuple[str, ...] = (*RUN_NUMBERS, *DEFINED_NUMBERS)

ORDER_KEYS: tuple[str, ...] = ("name", *GATHERED_ORDER, *PARTS, "occurrence")

# Each of these has a threshold option named `min_` + key.
THRESHOLD_KEYS: tuple[str, ...] = (*GATHERED_ORDER, "occurrence")


def selected_columns(
    select: tuple[str, ...], *, gathered: bool, splits_micros: bool = True
) -> list[Metric]:
    """The columns for `select`, in the order in which a view of that kind shows them."""
    expansions = EXPANSIONS if splits_micros else {}
    chosen: dict[str, Metric] = {}
    for key in select:
        for metric in expansions.get(key, (BY_KEY[key],)):
            chosen[metric.key] = metric
    rank = {metric.key: place for place, metric in enumerate(METRICS)}
    if gathered:
        rank |= {key: place - len(GATHERED_ORDER) for place, key in enumerate(GATHERED_ORDER)}
    return sorted(chosen.values(), key=lambda metric: rank[metric.key])

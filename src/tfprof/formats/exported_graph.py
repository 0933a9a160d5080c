"""The graph of an exported program of PyTorch, from its JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tfprof.formats.weights import is_size

# The names of types, by their numbers in the files, and the bytes of a value.
_TYPES: Final = {
    1: ("uint8", 1),
    2: ("int8", 1),
    3: ("int16", 2),
    4: ("int32", 4),
    5: ("int64", 8),
    6: ("float16", 2),
    7: ("float32", 4),
    8: ("float64", 8),
    9: ("complex32", 4),
    10: ("complex64", 8),
    11: ("complex128", 16),
    12: ("bool", 1),
    13: ("bfloat16", 2),
    28: ("uint16", 2),
    29: ("float8_e4m3fn", 1),
    30: ("float8_e5m2", 1),
    31: ("float8_e4m3fnuz", 1),
    32: ("float8_e5m2fnuz", 1),
    33: ("float8_e8m0fnu", 1),
    34: ("uint32", 4),
    35: ("uint64", 8),
}


class OpenSize(NamedTuple):
    """A size that is an expression of symbols, and its value in the example at export."""

    text: str
    hint: int | None


class Described(NamedTuple):
    """The type and shape of a tensor."""

    dtype: str
    sizes: tuple[int | OpenSize, ...]
    is_trained: bool


class Argument(NamedTuple):
    """An argument of an op: tensors by name (None for a missing one), or another value."""

    name: str
    tensors: tuple[str | None, ...] | None = None
    value: object = None  # as JSON has it; names of sizes are `OpenSize`


class Node(NamedTuple):
    """An op of the program."""

    target: str  # such as `torch.ops.aten.mm.default`
    arguments: Sequence[Argument]
    outputs: Sequence[str]  # the names of its tensors
    has_graphs: bool  # whether it runs graphs of its own, whose ops come before it
    stack: str  # of Python, as text
    modules: str  # around it: `key,path,class` joined by semicolons
    # How often the loops around it run, outermost first; None for one that depends on data.
    repeats: tuple[int | OpenSize | None, ...] = ()


class Entry(NamedTuple):
    """An input of the program: a tensor and what it is."""

    tensor: str
    kind: str  # `parameter`, `buffer`, `constant` or `input`
    name: str


class Graph(NamedTuple):
    """The ops of a program in their order, its tensors by name, and its inputs.

    The ops of the graphs inside of ops, such as the branches of a condition, are among them.
    """

    nodes: Sequence[Node]
    tensors: Mapping[str, Described]
    entries: Sequence[Entry]
    passed: Mapping[str, str] = {}  # the inputs of inner graphs, and the tensors that they are


def parsed(program: Any) -> Graph:
    """The graph of a program; raises exceptions of all kinds if its JSON is not one."""
    module = program["graph_module"]
    graph = module["graph"]
    reader = _Reader()
    reader.add(graph, _Around())
    entries = list(_entries(module["signature"]["input_specs"]))
    if not all(entry.tensor in reader.tensors for entry in entries):
        raise LookupError("an input without a shape")
    return Graph(reader.nodes, reader.tensors, entries, reader.passed)


class _Around(NamedTuple):
    """What is around a graph: the start of its names, its modules, and the loops."""

    start: str = ""
    modules: str = ""
    repeats: tuple[int | OpenSize | None, ...] = ()


class _Reader:
    """Collects the ops and tensors of a graph and of those inside of it."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.tensors: dict[str, Described] = {}
        self.passed: dict[str, str] = {}
        self._graphs = 0
        self._examples: dict[str, dict[int, int | OpenSize]] = {}  # see `_for_all_examples`

    def add(self, graph: Any, around: _Around) -> None:
        """Add a graph; the names of its tensors get a start that no other graph has."""
        sizes = {name: _size(value) for name, value in graph["sym_int_values"].items()}
        for name, value in graph["tensor_values"].items():
            self.tensors[around.start + name] = described(value)
        for one in graph["nodes"]:
            node = self._for_all_examples(_node(one, sizes, around))
            if node.has_graphs:
                results = [name for inner in _graphs_in(one) for name in self._inside(inner, node)]
                node = node._replace(arguments=[*node.arguments, Argument("", tuple(results))])
            self.nodes.append(node)

    def _for_all_examples(self, node: Node) -> Node:
        """The op, which runs for each example if `vmap` has split a tensor that it uses into them.

        `_examples` has the number of examples of such tensors, for each `vmap` around them.
        """
        used = [name for argument in node.arguments for name in argument.tensors or () if name]
        examples = {
            level: count for name in used for level, count in self._examples.get(name, {}).items()
        }
        numbers = [argument.value for argument in node.arguments if argument.tensors is None]
        match node.target.removeprefix(TRANSFORMS), numbers:
            case "_add_batch_dim", [int(dim), int(level)]:
                inside = examples | {level: self.tensors[used[0]].sizes[dim]}
            case "_remove_batch_dim", [int(level), *_]:
                inside = {key: count for key, count in examples.items() if key != level}
            case _:
                inside = examples
        if len(inside) > _MOST_TRANSFORMS:
            raise ValueError("too many transforms in each other")
        if inside:
            self._examples |= dict.fromkeys(node.outputs, inside)
        return node._replace(repeats=(*node.repeats, *examples.values()))

    def _inside(self, graph: Any, node: Node) -> list[str]:
        """Add a graph that an op runs; returns the names of its results."""
        self._graphs += 1
        start = f"{self._graphs}:"
        given = [name for argument in node.arguments for name in argument.tensors or () if name]
        inputs = [start + name for one in graph["inputs"] for name in _tensors(one) or () if name]
        # A condition has one more tensor than its graphs, which comes first.
        for one, outside in zip(inputs, given[len(given) - len(inputs) :], strict=False):
            self.passed[one] = self.passed.get(outside, outside)
        repeats = (*node.repeats, *self._trips(node))
        self.add(graph, _Around(start, node.modules, repeats))
        return [start + name for one in graph["outputs"] for name in _tensors(one) or () if name]

    def _trips(self, node: Node) -> Iterator[int | OpenSize | None]:
        """How often an op runs its graphs, if that is not once."""
        kind = node.target.removeprefix(_HIGHER)
        if kind == "while_loop":
            yield None
        elif kind in _ROWS_OF:
            lists = [one.tensors for one in node.arguments if one.tensors]
            place = _ROWS_OF[kind]
            rows = lists[place][0] if place < len(lists) else None
            shape = self.tensors[rows].sizes if rows in self.tensors else ()
            yield shape[0] if shape else None


# How the names of the ops start that `vmap` adds around those that it calls for one example.
TRANSFORMS: Final = "torch._functorch.predispatch."
_MOST_TRANSFORMS: Final = 32
_HIGHER: Final = "torch.ops.higher_order."
# The lists of tensors over whose rows the graphs of some ops run.
_ROWS_OF: Final = {"map_impl": 0, "scan": 1}


def _graphs_in(node: Any) -> Iterator[Any]:
    return (one["arg"]["as_graph"]["graph"] for one in node["inputs"] if "as_graph" in one["arg"])


def described(value: Any) -> Described:
    """The type and shape of a tensor."""
    dtype, _ = type_of(value)
    sizes = tuple(_size(size) for size in value["sizes"])
    if any(size < 0 for size in sizes if isinstance(size, int)):
        raise ValueError(sizes)
    return Described(dtype, sizes, bool(value.get("requires_grad")))


def type_of(value: Any) -> tuple[str, int]:
    """The type of a tensor, and the bytes of a value."""
    return _TYPES.get(value["dtype"], ("unknown", 1))


def _size(value: Any) -> int | OpenSize:
    """A size, which is a number or an expression."""
    if "as_int" in value:
        return _checked_size(value["as_int"])
    expression = value["as_expr"]
    hint = expression.get("hint")
    number = _checked_size(hint["as_int"]) if hint and "as_int" in hint else None
    return OpenSize(str(expression["expr_str"]), number)


def _checked_size(size: Any) -> int:
    if not is_size(abs(size)):
        raise ValueError(size)
    return int(size)


def _node(node: Any, sizes: Mapping[str, int | OpenSize], around: _Around) -> Node:
    metadata = node.get("metadata") or {}
    start = around.start
    arguments = [_argument(one["name"], one["arg"], sizes, start) for one in node["inputs"]]
    outputs = [start + name for one in node["outputs"] for name in _tensors(one) or () if name]
    return Node(
        target=_text(node["target"]),
        arguments=arguments,
        outputs=outputs,
        has_graphs=any("as_graph" in one["arg"] for one in node["inputs"]),
        stack=_text(metadata.get("stack_trace") or ""),
        modules=_text(metadata.get("nn_module_stack") or around.modules),
        repeats=around.repeats,
    )


def _argument(
    name: str, value: Any, sizes: Mapping[str, int | OpenSize], start: str = ""
) -> Argument:
    tensors = _tensors(value)
    if tensors is not None:
        return Argument(_text(name), tuple(one and start + one for one in tensors))
    ((kind, found),) = value.items()
    if kind in _VALUES:
        return Argument(_text(name), None, found)
    if kind == "as_sym_int":
        return Argument(_text(name), None, _symbol(found, sizes))
    if kind == "as_sym_ints":
        return Argument(_text(name), None, [_symbol(one, sizes) for one in found])
    return Argument(_text(name))


# Arguments that are kept as they are.
_VALUES: Final = {
    "as_int",
    "as_ints",
    "as_float",
    "as_floats",
    "as_bool",
    "as_bools",
    "as_string",
}


def _tensors(value: Any) -> list[str | None] | None:
    """The names of the tensors of an argument or a result; None if it has none."""
    ((kind, found),) = value.items()
    match kind:
        case "as_tensor":
            return [_text(found["name"])]
        case "as_tensors":
            return [_text(one["name"]) for one in found]
        case "as_optional_tensor":
            return _tensors(found) or [None]
        case "as_optional_tensors":
            return [name for one in found for name in _tensors(one) or [None]]
    return None


def _symbol(value: Any, sizes: Mapping[str, int | OpenSize]) -> int | OpenSize:
    """A number, or the size that a name stands for."""
    if "as_int" in value:
        return _checked_size(value["as_int"])
    return sizes.get(value["as_name"]) or OpenSize(_text(value["as_name"]), None)


def _entries(specs: Any) -> Iterator[Entry]:
    """The inputs of a program that are tensors."""
    for spec in specs:
        ((kind, found),) = spec.items()
        if kind in _ENTRIES:
            label, key = _ENTRIES[kind]
            yield Entry(_text(found["arg"]["name"]), label, _text(found[key]))
        elif kind == "user_input":
            yield from (Entry(name, "input", name) for name in _tensors(found["arg"]) or () if name)


# What an input is, and the key of its name.
_ENTRIES: Final = {
    "parameter": ("parameter", "parameter_name"),
    "buffer": ("buffer", "buffer_name"),
    "tensor_constant": ("constant", "tensor_constant_name"),
}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value

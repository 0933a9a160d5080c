"""The graph of the functions that a recording saw running, and the code lines of their ops.

Ops of a function that was called run under the name of the call. So the functions are laid out
flat, from those that the program called itself on: an op has the name here that it has in the
recording, which is how the two are joined.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfprof.capture.kept_functions import KeptFunctions
from tfprof.formats import xplane
from tfprof.formats.messages import message_class
from tfprof.formats.recognise import FileKind
from tfprof.sources.capture_folder import GRAPH, OP_LOG
from tfprof.sources.registry import InputFile, read_records
from tfprof.sources.xplane_events import Recording, op_name

# Functions that call functions, deeper than anybody writes.
_DEEPEST = 60
_LARGEST_VALUE = 4096  # bytes of a constant that are kept: axes and shapes, not tables

_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
# Attributes that hold functions, what their ops' names have before them, and the inputs left out.
_BRANCHES = {
    "If": {"then_branch": ("then", 1), "else_branch": ("else", 1)},
    "While": {"cond": ("cond", 0), "body": ("body", 0)},
}
_BRANCHES |= {f"Stateless{kind}": branches for kind, branches in _BRANCHES.items()}


def write(folder: Path, kept: KeptFunctions) -> tuple[str, ...]:
    """Write graph and op log of what was recorded in `folder`; what they lack, in sentences.

    A recording is of use without them, so trouble with TensorFlow's insides is no error.
    """
    try:
        flat = _Flat(kept)
        for name in _called(folder):
            flat.add(name)
    except Exception as error:  # noqa: BLE001 -- these are not interfaces that TensorFlow promises
        trouble = f"{type(error).__name__}: {error}"
        return (f"the graph of the traced functions could not be had ({trouble}).",)
    if not flat.nodes:
        return ("no traced function ran, so there is no graph of what did.",)
    (folder / GRAPH).write_bytes(flat.graph())
    (folder / OP_LOG).write_bytes(flat.log())
    return ()


def _called(folder: Path) -> Iterator[str]:
    """The functions that ran, those that took longest first."""
    for path in map(str, sorted(folder.rglob("*.xplane.pb"))):
        space = xplane.decode(read_records(InputFile(path, FileKind.XSPACE)))
        yield from Recording(path, space).functions()


@dataclass(slots=True)
class _Flat:
    """Nodes of all functions under the names they run by."""

    kept: KeptFunctions
    functions: dict[str, _Function | None] = field(default_factory=dict)
    nodes: dict[str, Any] = field(default_factory=dict)
    stacks: dict[str, Sequence[tuple[str, int, str]]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)  # of variables, by the argument's name

    def add(self, function: str) -> None:
        """Lay out a function that the program called."""
        self._lay_out(function, "", None, _DEEPEST)

    def _lay_out(
        self, function: str, prefix: str, inputs: Sequence[str] | None, depth: int
    ) -> list[str]:
        """Add the nodes of a function, called with `inputs`; what its outputs are called then."""
        if function not in self.functions:
            self.functions[function] = _function(function, self.kept)
        known = self.functions[function]
        if known is None or not depth:
            return []
        meant = {}  # what a tensor of the function is called outside
        for place, arg in enumerate(known.args):
            given = inputs[place] if inputs is not None and place < len(inputs) else None
            meant[arg] = given or op_name(prefix + arg)
        for node in known.nodes:
            if node.name in meant and inputs is not None:
                continue
            flat = type(node)()
            flat.CopyFrom(node)
            flat.name = op_name(prefix + node.name)
            del flat.input[:]
            flat.input.extend(_renamed(tensor, prefix, meant) for tensor in node.input)
            if node.name in meant:
                _make_argument(flat, known.variables.get(node.name))
            self._keep(flat, known.stacks.get(node.name))
            self._name_variable(flat)
            self._lay_out_called(node, flat, prefix, meant, depth)
        return [_renamed(tensor, prefix, meant) for tensor in known.outputs]

    def _lay_out_called(
        self, node: Any, flat: Any, prefix: str, meant: dict[str, str], depth: int
    ) -> None:
        """Lay out the functions that a node calls; of a plain call nothing else is left."""
        within = f"{prefix}{node.name}/"
        if node.op in _CALLS:
            outputs = self._lay_out(node.attr["f"].func.name, within, flat.input, depth - 1)
            meant[node.name] = outputs[0] if outputs else flat.name
            meant.update({f"{node.name}:{slot}": name for slot, name in enumerate(outputs)})
        for attribute, (label, left_out) in _BRANCHES.get(node.op, {}).items():
            called = node.attr[attribute].func.name
            self._lay_out(called, f"{within}{label}/", flat.input[left_out:], depth - 1)

    def _name_variable(self, reader: Any) -> None:
        """Name a variable after the op that is first to read it: an argument has a number alone."""
        source = reader.input[0] if reader.op == "ReadVariableOp" and reader.input else ""
        scope, slash, _ = reader.name.rpartition("/")
        node = self.nodes.get(source)
        if node is None or node.op != "VarHandleOp" or not slash or source in self.names:
            return
        name = f"{scope}/variable"
        if name not in self.nodes:
            self.names[source] = name
            self.nodes[name] = node

    def _keep(self, node: Any, stack: Sequence[tuple[str, int, str]] | None) -> None:
        """Keep the first node of its name."""
        if node.name not in self.nodes:
            self.nodes[node.name] = node
            if stack:
                self.stacks[node.name] = stack

    def graph(self) -> bytes:
        """All nodes as a GraphDef."""
        from tensorflow.core.framework import graph_pb2  # noqa: PLC0415 -- see the package

        graph = graph_pb2.GraphDef()
        for name, node in self.nodes.items():
            if name in self.names:
                continue
            node.name = name
            inputs = [self.names.get(tensor, tensor) for tensor in node.input]
            del node.input[:]
            node.input.extend(inputs)
            graph.node.append(node)
        return bytes(graph.SerializeToString())

    def log(self) -> bytes:
        """The calls that made the nodes, as an OpLogProto."""
        log = message_class("tensorflow.tfprof.OpLogProto")()
        ids: dict[str, int] = {}

        def id_of(text: str) -> int:
            return ids.setdefault(text, len(ids) + 1)

        for name, stack in self.stacks.items():
            traces = log.log_entries.add(name=self.names.get(name, name)).code_def.traces
            for file, line, function in stack:
                traces.add(
                    lineno=line,
                    file_id=id_of(file),
                    function_id=id_of(function),
                    line_id=id_of(linecache.getline(file, line).strip()),
                )
        log.id_to_string.update({place: text for text, place in ids.items()})
        return bytes(log.SerializeToString())


def _renamed(tensor: str, prefix: str, meant: dict[str, str]) -> str:
    """What an input is called outside of its function; `^` before it is kept."""
    waits = tensor.startswith("^")
    name = tensor.lstrip("^").removesuffix(":0")
    if name in meant:
        found = meant[name]
    else:
        node, colon, slot = name.partition(":")
        found = f"{op_name(prefix + node)}{colon}{slot}"
    return f"^{found.lstrip('^').partition(':')[0]}" if waits else found


def _make_argument(node: Any, variable: _Variable | None) -> None:
    """Make a function's argument what it stands for: a variable, or a value from outside."""
    dtype = node.attr["dtype"].type
    if variable is not None:
        node.op = "VarHandleOp"
        node.attr["shape"].shape.CopyFrom(variable.shape)
        node.attr["dtype"].type = variable.dtype
        return
    node.op = "_Arg"  # and no Placeholder: those count as parameters
    if "shape" in node.attr:
        del node.attr["shape"]
    node.attr["T"].type = dtype


@dataclass(frozen=True, slots=True)
class _Variable:
    """What a variable holds."""

    shape: Any
    dtype: int


@dataclass(frozen=True, slots=True)
class _Function:
    """A traced function: its nodes with shapes, the names of its arguments and outputs."""

    nodes: Sequence[Any]
    args: Sequence[str]
    outputs: Sequence[str]
    stacks: dict[str, Sequence[tuple[str, int, str]]]
    variables: dict[str, _Variable]  # by the argument that stands for one


def _function(name: str, kept: KeptFunctions) -> _Function | None:
    """The function of that name, or None where there is none any longer."""
    from tensorflow.python.eager import context  # noqa: PLC0415 -- see the package

    eager = context.context()
    if name not in eager.list_function_names():
        return None
    graph = kept.graph(name)
    if graph is None:
        from tensorflow.python.framework import function_def_to_graph  # noqa: PLC0415

        # It knows no shapes of variables, which are not written down with a function.
        graph = function_def_to_graph.function_def_to_graph(eager.get_function_def(name))
    nodes = list(graph.as_graph_def(add_shapes=True).node)
    for node in nodes:
        if "value" in node.attr and node.attr["value"].ByteSize() > _LARGEST_VALUE:
            del node.attr["value"]
    return _Function(
        nodes,
        [tensor.op.name for tensor in graph.inputs],
        [tensor.name for tensor in graph.outputs],
        _stacks(eager.get_graph_debug_info(name)),
        dict(_variables(graph.inputs)),
    )


def _variables(inputs: Sequence[Any]) -> Iterator[tuple[str, _Variable]]:
    """The arguments that are variables, and what they hold."""
    from tensorflow.python.ops import handle_data_util  # noqa: PLC0415 -- see the package

    for tensor in inputs:
        data = handle_data_util.get_resource_handle_data(tensor)
        if data is not None and data.is_set and len(data.shape_and_type) == 1:
            held = data.shape_and_type[0]
            yield tensor.op.name, _Variable(held.shape, held.dtype)


def _stacks(info: Any) -> dict[str, Sequence[tuple[str, int, str]]]:
    """The calls that made each node, outermost first."""
    frames = {
        key: (info.files[frame.file_index], frame.line, frame.func)
        for key, frame in info.frames_by_id.items()
    }
    stacks = {
        key: [frames[frame] for frame in trace.frame_id] for key, trace in info.traces_by_id.items()
    }
    return {name: stacks[trace] for name, trace in info.name_to_trace_id.items()}

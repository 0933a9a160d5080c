"""Valid files with hostile content: cycles, colliding names, impossible sizes and times.

`Hostile(data).files()` makes the files of a model from any bytes, so that a fuzzer can choose them;
`from_seed(5)` makes those of a fixed seed. Everything is a valid message, and the files may or may
not belong together.
"""

from __future__ import annotations

import hashlib
import json
import random
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from formats.bundle_builder import entry, header
from formats.table_builder import message, table
from fuzz.mutations import changed_message
from sources.tf_files import content
from tfprof.formats.messages import message_class
from tfprof.model.ops import TRAINABLE_VARIABLE
from tfprof.sources.tf_shapes.registry import HELD, SHAPES, VALUES

T = TypeVar("T")

# Stands for bytes that are not UTF-8, which no builder of messages accepts.
_INVALID = "\u07ff\u07ff"
_INVALID_BYTES = b"\xff\xfe\xed\xa0"

NAMES = (
    *("a", "a/b", "a/b/c", "a/b/d", "net/w", "net/w/read", "net/MatMul", "b", "w", "x/y/z"),
    *("", "/", "//", "a//b", "/a", "a/", "_TFProfRoot", "_kTFScopeParent", "^a", "a:0", ":", "."),
    *("gradients/a_grad/b", "gradients/a/b_grad/c", "a_grad/MatMul", "while/a", "save/a"),
    *("x" * 300, "s/" * 25 + "w", "é/ü", "\x1b[31m", "a\nb", "a\tb", "\x00", "\u202e/b", "a,b"),
    *(_INVALID, f"{_INVALID}/b", "<b>&'\"", "%s{0}", "\\", "a b", "Adam/m/a", "a/Adam_1"),
)
CALLS = ("While", "StatelessWhile", "If", "Case", "PartitionedCall", "StatefulPartitionedCall")
FRAMES = ("Enter", "Exit", "NextIteration", "LoopCond", "Switch", "Merge")
COMPUTED = (
    *("MatMul", "Conv2D", "BiasAdd", "Relu", "Add", "BatchMatMulV2", "Einsum", "MaxPool", "Mean"),
    *("DepthwiseConv2dNative", "Conv2DBackpropFilter", "AddN", "Softmax", "FusedBatchNormV3"),
)
HELD_KINDS = ("VariableV2", "Variable", "VarHandleOp", "Const", "Placeholder", "NoOp", "")
KINDS = (
    *(COMPUTED * 3 + HELD_KINDS * 2 + CALLS + FRAMES),
    *sorted({*SHAPES, *VALUES, *HELD}),
    *("_Fused", "gone", _INVALID, "\x1b[0m", "k" * 200),
)
FUNCTIONS = ("f0", "f1", "f2", "f3")
DIMS = (1, 2, 3, 8, 64, -1, 0, -2, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63))
NUMBERS = (
    *(0, 1, 2, 3, 7, 100, 1000, 10**6, 10**9, 10**12, 10**15, 10**18, -1, -5, -(10**15)),
    *(2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**62, 2**63 - 1, -(2**31), -(2**62), -(2**63)),
)
MILD_DIMS = (1, 2, 3, 8, 64, -1, 0, 10**6)
MILD_NUMBERS = (0, 1, 2, 3, 7, 100, 1000, 10**6, 10**9, -1, -5)
FLOATS = (0.0, -0.0, 1.5, float("nan"), float("inf"), float("-inf"), 1e308, 5e-324)
TEXTS = (b"SAME", b"VALID", b"NHWC", b"NCHW", b"", b"ab,bc->ac", b"...a,ab->b...", b"->", b"\xff")
DEVICES = (
    "/job:localhost/replica:0/task:0/device:CPU:0",
    "/job:localhost/replica:0/task:0/device:GPU:0",
    "/device:GPU:0/stream:all",
    "/device:GPU:0/stream:7",
    "/device:GPU:0/memcpy",
    "/job:worker/task:1/device:GPU:99999999999999999999",
    *("", "/", _INVALID, "cpu:0", "GPU", "\x1b]0;x\x07"),
)
ALLOCATORS = ("cpu", "GPU_0_bfc", "gpu_host_bfc", "", _INVALID)
TYPES = (TRAINABLE_VARIABLE, "_checkpoint_variables", "t", "", "a,b", _INVALID, "MatMul")
ATTRIBUTES = (
    *("T", "shape", "dtype", "strides", "padding", "data_format", "transpose_a", "transpose_b"),
    *("ksize", "dilations", "explicit_paddings", "equation", "value", "axis", "keep_dims", "N"),
    *("shared_name", "container", "_class", "frame_name", "body", "cond", "num_split", ""),
)


class File(NamedTuple):
    """A file to load: the name of its source, its content and its step."""

    source: str
    content: bytes
    step: int | None = None


class Choices:
    """Choices that the bytes of an input make; after its end, they follow from all of it."""

    def __init__(self, data: bytes) -> None:
        self._bytes = iter(data)
        self.rest = random.Random(zlib.crc32(data))  # noqa: S311 -- no secret

    def below(self, limit: int) -> int:
        """A number from 0 up to a small limit."""
        byte = next(self._bytes, None)
        return int(self.rest.random() * limit) if byte is None else byte % limit

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(min(len(options), 256))]

    def some(self, options: Sequence[T], counts: Sequence[int]) -> list[T]:
        """As many of the options as one of the counts says, possibly the same ones."""
        return [self.pick(options) for _ in range(self.pick(counts))]

    def is_one_in(self, count: int) -> bool:
        return self.below(count) == 0


def from_seed(seed: int) -> Hostile:
    """The model of a seed."""
    return Hostile(hashlib.sha256(b"%d" % seed).digest())


def saved_model(graph: bytes, outputs: Sequence[str]) -> bytes:
    """A SavedModel with this graph, and one signature with these outputs."""
    tensor = message_class("tensorflow.TensorInfo")
    signature = message_class("tensorflow.MetaGraphDef.SignatureDefEntry")(
        key="serving_default",
        value={"outputs": {str(at): tensor(name=name) for at, name in enumerate(outputs)}},
    )
    return message((1, 1), (2, message((2, graph), (5, signature.SerializeToString()))))


class Hostile:
    """Makes the files of one model."""

    def __init__(self, data: bytes) -> None:
        self._choices = Choices(data)
        self._pick, self._some = self._choices.pick, self._choices.some
        self._is_one_in = self._choices.is_one_in
        self._is_invalid = self._is_one_in(16)
        self._dims, self._numbers = self._pick(((DIMS, NUMBERS), (MILD_DIMS, MILD_NUMBERS)))
        self._names = [self._name(place) for place in range(self._pick((0, 1, 2, 3, 5, 9)))]

    def files(self) -> list[File]:
        """The files, in an order in which they can be added."""
        if self._is_one_in(8):
            return [File("profile_proto", self._saved()), *self._annotations()]
        kind = self._pick(("graph", "graph", "graph", "graph", "saved_model", ""))
        found = [File("graph", self._graph())] if kind == "graph" else []
        if kind == "saved_model":
            outputs = [self._any_name() for _ in range(self._pick((1, 2, 4)))]
            found = [File("saved_model", saved_model(self._graph(), outputs))]
        found += [File("run_meta", self._run(), step) for step in self._steps()]
        if self._is_one_in(6):
            found.append(File("xspace", self._recording()))
        return found + self._annotations()

    def checkpoint(self) -> tuple[bytes, bytes] | None:
        """The index and the values of a checkpoint, or None."""
        if not self._is_one_in(4):
            return None
        values = bytes(self._pick((0, 4, 24, 40)))
        entries = {
            self._encoded(name): entry(
                self._pick((1, 2, 3, 7, 9, 14, 99, 0)),
                self._shape(),
                values,
                offset=self._pick((0, 0, 8, 2**62)),
                size=self._pick((None, None, 0, 2**40, 2**63)),
            )
            for name in self._some([*self._names, *NAMES], (1, 4))
            if name
        }
        return table({b"": header(self._pick((1, 1, 1, 2, 2**31 - 1))), **entries}), values

    def _encoded(self, built: Any) -> bytes:
        """A message or a text; in some models invalid UTF-8 replaces `_INVALID`."""
        data = built.encode() if isinstance(built, str) else built.SerializeToString()
        return data.replace(_INVALID.encode(), _INVALID_BYTES) if self._is_invalid else data

    def _annotations(self) -> list[File]:
        found = [] if self._is_one_in(3) else [File("op_log", self._log())]
        return [*found, File("layers", self._layers())] if self._is_one_in(4) else found

    def _name(self, place: int) -> str:
        return self._pick((f"n{place}", f"net/n{place}", f"net/a/n{place}", *NAMES))

    def _any_name(self) -> str:
        is_known = self._names and not self._is_one_in(6)
        return self._pick(self._names) if is_known else self._pick(NAMES)

    def _steps(self) -> list[int | None]:
        return self._pick(([], [None], [None, None], [0, 1], [5, 5], [-(2**63), 2**63 - 1], [3]))

    # The graph.

    def _graph(self) -> bytes:
        nodes = [self._node(name) for name in self._names]
        functions = [self._function(name) for name in self._some(FUNCTIONS, (0, 0, 1, 3))]
        library = {"function": functions} if functions else None
        graph = message_class("tensorflow.GraphDef")(node=nodes, library=library)
        return self._encoded(graph)

    def _node(self, name: str, sources: Sequence[str] = ()) -> Any:
        inputs = [self._input(sources) for _ in range(self._pick((0, 1, 1, 2, 2, 3)))]
        inputs *= 200 if self._is_one_in(20) else 1
        kind = self._pick(KINDS)
        attributes = {
            self._pick(ATTRIBUTES): self._attribute() for _ in range(self._pick((0, 1, 2, 4)))
        }
        if not self._is_one_in(3):
            shapes = [self._shape_proto() for _ in range(self._pick((1, 1, 2, 0)))]
            attributes["_output_shapes"] = {"list": {"shape": shapes}}
        if kind in ("VariableV2", "Variable", "VarHandleOp", "Placeholder"):
            attributes["shape"] = {"shape": self._shape_proto()}
        if kind in CALLS:
            called = {"func": {"name": self._pick((*FUNCTIONS, "gone", ""))}}
            attributes |= dict.fromkeys(("f", "cond", "body", "then_branch", "else_branch"), called)
        value = message_class("tensorflow.AttrValue")
        return message_class("tensorflow.NodeDef")(
            name=name,
            op=kind,
            input=inputs,
            device=self._pick(("", *DEVICES)),
            attr={key: value(**fields) for key, fields in attributes.items()},
        )

    def _input(self, sources: Sequence[str]) -> str:
        name = self._pick(sources) if sources else self._any_name()
        return self._pick(
            (name, name, name, f"{name}:1", f"^{name}", f"{name}:99999999999", "gone")
        )

    def _function(self, name: str) -> dict[str, Any]:
        arguments = [f"a{place}" for place in range(self._pick((0, 1, 2)))]
        nodes = [f"m{place}" for place in range(self._pick((1, 2, 5)))]
        outputs = [*arguments, *(f"{one}:{end}:0" for one in nodes for end in ("output", "z"))]
        signature = {
            "name": name,
            "input_arg": [{"name": one} for one in arguments],
            "output_arg": [{"name": "r0"}],
        }
        body = [self._node(one, outputs) for one in nodes]
        return {"signature": signature, "node_def": body, "ret": {"r0": self._pick(outputs)}}

    def _shape(self) -> tuple[int, ...]:
        return tuple(self._pick(self._dims) for _ in range(self._pick((0, 1, 2, 2, 4, 9))))

    def _shape_proto(self) -> dict[str, Any]:
        if self._is_one_in(12):
            return {"unknown_rank": True, "dim": [{"size": 3}]}
        return {"dim": [{"size": size} for size in self._shape()]}

    def _attribute(self) -> dict[str, Any]:
        number = self._pick(self._numbers)
        return self._pick(
            (
                {"i": number},
                {"s": self._pick(TEXTS)},
                {"b": True},
                {"f": self._pick(FLOATS)},
                {"type": self._pick((0, 1, 3, 9, 20, 101, 9999, -1))},
                {"shape": self._shape_proto()},
                {"list": {"i": [number, 1, 1, number], "s": [b"a"], "type": [1, 77]}},
                {"func": {"name": self._pick(FUNCTIONS)}},
                {"tensor": self._tensor()},
            )
        )

    def _tensor(self) -> Any:
        """A constant; the schema does not have its values, which are read from the bytes."""
        tensor = message_class("tensorflow.TensorProto")(
            dtype=self._pick((1, 3, 9, 7, 99)), tensor_shape=self._shape_proto()
        )
        values = self._pick(
            ((4, bytes(self._pick((0, 1, 8, 24)))), (10, self._pick(self._numbers)))
        )
        tensor.MergeFromString(message(values))
        return tensor

    # Runs.

    def _run(self) -> bytes:
        devices = [
            {"device": device, "node_stats": [self._stats() for _ in range(self._pick((0, 1, 4)))]}
            for device in self._some(DEVICES, (0, 1, 2, 4))
        ]
        return self._encoded(
            message_class("tensorflow.RunMetadata")(step_stats={"dev_stats": devices})
        )

    def _stats(self) -> dict[str, Any]:
        pick = self._pick
        start = pick((10**15, 10**15 + 50, pick(self._numbers)))
        return {
            "node_name": self._any_name(),
            "timeline_label": pick(("", "a = MatMul(b, c)", f"{_INVALID}(", "MEMCPYHtoD", "[x")),
            "all_start_micros": start,
            "op_start_rel_micros": pick((0, 1, pick(self._numbers))),
            "op_end_rel_micros": pick((5, 90, pick(self._numbers))),
            "all_end_rel_micros": pick((6, 100, pick(self._numbers))),
            "scheduled_micros": pick((start, pick(self._numbers))),
            "thread_id": pick((0, 7, 2**32 - 1)),
            "output": [self._output() for _ in range(pick((0, 0, 1, 3)))],
            "memory": [self._memory() for _ in range(pick((0, 0, 1, 2)))],
        }

    def _output(self) -> dict[str, Any]:
        pick = self._pick
        described = {
            "dtype": pick((1, 3, 99)),
            "shape": self._shape_proto(),
            "allocation_description": {
                "requested_bytes": pick(self._numbers),
                "allocated_bytes": pick(self._numbers),
                "allocator_name": pick(ALLOCATORS),
                "allocation_id": pick(self._numbers),
                "ptr": pick((0, 1, 2**64 - 1)),
            },
        }
        return {"slot": pick((0, 1, 2**31 - 1, -1)), "tensor_description": described}

    def _memory(self) -> dict[str, Any]:
        pick = self._pick
        records = [
            {"alloc_micros": pick(self._numbers), "alloc_bytes": pick(self._numbers)}
            for _ in range(pick((0, 1, 2, 5)))
        ]
        return {
            "allocator_name": pick(ALLOCATORS),
            "total_bytes": pick(self._numbers),
            "peak_bytes": pick(self._numbers),
            "live_bytes": pick(self._numbers),
            "allocation_records": records,
            "allocator_bytes_in_use": pick(self._numbers),
        }

    def _recording(self) -> bytes:
        data = content("../capture/plugins/profile/sample/host.xplane.pb")
        for _ in range(self._pick((1, 3, 10))):
            data = changed_message(data, self._choices.rest)
        return data

    # Annotations.

    def _log(self) -> bytes:
        entries = [
            {
                "name": self._any_name(),
                "float_ops": self._pick((0, 10, self._pick(self._numbers))),
                "types": self._some(TYPES, (0, 1, 3)),
                "code_def": {"traces": self._stack()},
            }
            for _ in range(self._pick((0, 1, 4, 9)))
        ]
        strings = {self._pick((1, 2, 3, -1, 2**62)): text for text in self._some(NAMES, (0, 1, 5))}
        log = message_class("tensorflow.tfprof.OpLogProto")
        return self._encoded(log(log_entries=entries, id_to_string=strings))

    def _stack(self) -> list[dict[str, Any]]:
        return [self._trace() for _ in range(self._pick((0, 1, 2, 3)))] * self._pick((1, 1, 1, 100))

    def _trace(self) -> dict[str, Any]:
        pick = self._pick
        return {
            "file": pick(("", "/usr/lib/python3/site-packages/x.py", "m.py", _INVALID)),
            "file_id": pick((0, 1, 2, -1, 2**62)),
            "lineno": pick((1, 2, 0, -1, 2**31 - 1)),
            "function": pick(("", "f", "<lambda>")),
            "function_id": pick((0, 1, 3)),
            "line_id": pick((0, 1, 2, 2**62)),
            "func_start_line": pick((0, -1, 2**31 - 1)),
        }

    def _layers(self) -> bytes:
        pick = self._pick
        layers = [
            {
                "name": pick(NAMES).replace(_INVALID, "\udcff"),
                "parent": pick((-1, -1, 0, place - 1)),
                "class": pick(("Dense", "", "<b>")),
                "shape": pick((None, [], [-1, 3], [2**61, 2**61])),
            }
            for place in range(pick((0, 1, 4)))
        ]
        content_ = {
            "format": "tfprof layers",
            "version": 1,
            "layers": layers,
            "weights": {self._any_name(): 0} if layers else {},
            "unread": [],
            "repeats": {self._any_name(): pick((0, 1, -1, 2**40, 7))},
            "notes": [{"text": "a\x1b[31m\nb", "about": pick(("", "TIME|CODE", "x"))}],
        }
        return json.dumps(content_, indent=1).encode()

    # Saved profiles.

    def _saved(self) -> bytes:
        pick = self._pick
        number = pick((0, 1, 7))
        nodes = {
            pick((place, place, pick(self._numbers))): self._saved_node(place)
            for place in range(len(self._names))
        }
        strings = {pick((1, 2, 3, 2**62)): text for text in self._some(NAMES, (0, 1, 5))}
        return self._encoded(
            message_class("tensorflow.tfprof.ProfileProto")(
                nodes=nodes,
                has_trace=pick((True, False)),
                miss_accelerator_stream=pick((True, False)),
                steps=[number, pick(self._numbers)],
                id_to_string=strings,
            )
        )

    def _saved_node(self, place: int) -> Any:
        pick, some = self._pick, self._some
        numbers = (0, 1, 2, pick(self._numbers))
        execs = {
            pick((0, 1, 7, pick(self._numbers))): self._execs() for _ in range(pick((0, 1, 2)))
        }
        return message_class("tensorflow.tfprof.ProfileNode")(
            name=self._names[place],
            op=pick(KINDS),
            id=pick((place, place, pick(self._numbers))),
            inputs={slot % 2**31: pick(numbers) % 2**31 for slot in some((0, 1, 5), (0, 1, 2))},
            shape=self._shape(),
            op_types=some(TYPES, (0, 1, 2)),
            canonical_device=pick(DEVICES),
            float_ops=pick(numbers),
            trace={"traces": self._stack()},
            execs=execs,
        )

    def _execs(self) -> Any:
        pick = self._pick

        def times() -> Any:
            pairs = [self._some(self._numbers, (0, 1, 2, 2, 2, 3)) for _ in range(pick((0, 1, 2)))]
            timed = message_class("tensorflow.tfprof.ExecTime")
            return timed(times=[{"int64_values": pair} for pair in pairs])

        return message_class("tensorflow.tfprof.ExecProfile")(
            run_count=pick(self._numbers),
            all_start_micros=pick(self._numbers),
            latest_end_micros=pick(self._numbers),
            accelerator_execs={pick(DEVICES): times()},
            cpu_execs={pick(DEVICES): times()},
            memory_execs=[
                {
                    "memory_micros": pick(self._numbers),
                    "host_temp_bytes": pick(self._numbers),
                    "output_memory": {
                        pick((0, 1, -1)): message_class("tensorflow.tfprof.Memory")(
                            bytes=pick(self._numbers), ptr=pick((0, 2**64 - 1))
                        )
                    },
                }
            ],
            allocations=[{"alloc_micros": pick(self._numbers), "alloc_bytes": pick(self._numbers)}],
            devices=self._some(DEVICES, (0, 1, 2)),
        )

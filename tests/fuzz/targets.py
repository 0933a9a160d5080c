"""The fuzz targets: one small function for each reader and parser.

A target answers or raises an error of tfprof (see `contract`). Cheap steps run for every input,
expensive ones for a fixed share of the inputs. Add a row to `TARGETS` for a new reader.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

import re2

from build import op, profile
from formats.kineto_traces import plainly, scanned
from formats.scan_agreement import plain
from fuzz import seeds
from fuzz.contract import BrokenError, file, folder, is_chosen
from fuzz.hostile import Hostile
from fuzz.questions import ask_some, profile_from, profile_of
from sources.tf_files import MESSAGES
from tfprof.api import Profile
from tfprof.budgets import file as budget_file
from tfprof.budgets import outputs, updating
from tfprof.budgets.check import check
from tfprof.budgets.measuring import Measured
from tfprof.cli import command_line
from tfprof.columns import Strings
from tfprof.errors import InputError
from tfprof.formats import (
    checkpoint,
    crc32c,
    foreign,
    graph_def,
    intact,
    object_graph,
    op_log,
    parquet,
    profile_proto,
    run_metadata,
    snappy,
    step_stats,
    text,
    text_records,
    xplane,
)
from tfprof.formats.content import Content
from tfprof.formats.graph_debug_info import DebugInfo
from tfprof.formats.kineto import reading as trace_reading
from tfprof.formats.messages import DecodeError, TextError, message_class, parse_text
from tfprof.formats.parquet import ParquetError
from tfprof.formats.profile_tables import TABLES
from tfprof.formats.recognise import recognise
from tfprof.formats.records import Records
from tfprof.formats.text import TextFormatError
from tfprof.formats.wire import WireError
from tfprof.outputs import step_timeline
from tfprof.patterns import Patterns
from tfprof.sources.registry import BY_NAME
from tfprof.sources.source import InputFile, Reading

Run = Callable[[bytes], object]

PLAIN = Reading()

# One in this many inputs becomes a profile, about which questions are asked.
BUILT = 64
ASKED = 8  # of those that become a profile


class Target(NamedTuple):
    """A function under test, the inputs to start from, and how to change an input."""

    run: Run
    seeds: Callable[[], Iterable[bytes]]
    longest: int = 4096  # bytes
    is_message: bool = False  # whether its inputs are protobuf messages
    is_guided: bool = True  # by coverage; otherwise inputs are random, which takes half the time
    words: Callable[[], Iterable[bytes]] = tuple  # for inputs that are text


# Protobuf files.


def _message(source: str, decoder: object, data: bytes) -> None:
    """Decode a file, as a scan and as protobuf reads it."""
    recognise(data)
    _ = decoder.decode(Records("file", data))
    scanned = decoder._scanned(data)
    if scanned is not None and is_chosen(data, 4):
        _require_same(decoder, data, scanned)
    if is_chosen(data, BUILT):
        _built(source, data)


def _require_same(decoder: object, data: bytes, scanned: object) -> None:
    try:
        parsed = decoder._parsed(Records("file", data))
    except InputError as error:
        raise BrokenError(f"a scan reads what protobuf refuses: {error}") from error
    if plain(scanned) != plain(parsed):
        raise BrokenError("a scan reads the file differently from protobuf")


def _built(source: str, data: bytes, path: str = "file", reading: Reading = PLAIN) -> None:
    """Make a profile of a file, and ask some questions about some of them."""
    if not data:
        return
    content = Content.of_bytes(path, data)
    if not BY_NAME[source].looks_like(content):
        return
    profile = profile_from([InputFile(content, BY_NAME[source], reading=reading)])
    if is_chosen(data, BUILT * ASKED):
        ask_some(profile, zlib.crc32(data) // (BUILT * ASKED))


def _text(name: str, data: bytes) -> None:
    """Convert a text with our own reader, compiled or not, and some also as tfprof does."""
    try:
        binary = text.to_wire(text_records._text_schema(name), data)
    except TextFormatError:
        binary = None
    if binary is not None and is_chosen(data, 8):
        _require_same_text(name, data, bytes(binary))
    if is_chosen(data, BUILT):
        text_records.to_binary("file", data, name)


def _require_same_text(name: str, data: bytes, binary: bytes) -> None:
    try:
        expected = parse_text(name, data.decode()).SerializeToString(deterministic=True)
    except (TextError, ValueError) as error:
        raise BrokenError(f"accepts what protobuf refuses: {error}") from error
    found = message_class(name).FromString(binary)
    if found.SerializeToString(deterministic=True) != expected:
        raise BrokenError("reads a text differently from protobuf")


def _step(data: bytes) -> None:
    step = step_stats.decode(Records("file", data))
    if is_chosen(data, 16):
        for _ in step_timeline.encode(step, show_dataflow=True, show_memory=True):
            pass


def _functions(data: bytes) -> None:
    _built("graph", data, reading=Reading(functions=True, batch_size=is_chosen(data, 2)))


def _saved_model(data: bytes) -> None:
    recognise(data)
    _built("saved_model", data)


def _debug_info(data: bytes) -> None:
    info = DebugInfo(file("debug_info.pb", data))
    for name in ("a", "b@f", "dense/MatMul"):
        stack = info.stack_of(name, "f")
        if stack is not None:
            list(info.lines(stack))


def _objects(data: bytes) -> None:
    object_graph.object_keys("file", data)
    list(object_graph.object_variables("file", data))


def _intact(data: bytes) -> None:
    """The intact part of a damaged file; the first byte says which kind of message it is."""
    if not data:
        return
    name = list(MESSAGES.values())[data[0] % len(MESSAGES)]
    found = intact.of_binary(name, data[1:])
    if found.read > len(data) - 1:
        raise BrokenError("more is intact than the file has")
    if is_chosen(data, 4):
        with suppress(DecodeError):  # a whole record of the file may be damaged inside
            message_class(name).FromString(found.data)


# Checkpoints, whose checksums are not compared, because a fuzzer could not compute them.


def _unchecked(run: Run, data: bytes) -> None:
    checksum, unmasked = crc32c.checksum, crc32c.unmasked
    crc32c.checksum, crc32c.unmasked = lambda *_: 0, lambda _: 0
    try:
        run(data)
    finally:
        crc32c.checksum, crc32c.unmasked = checksum, unmasked


def _checkpoint(path: str) -> None:
    if checkpoint.find(path) is None:
        return
    saved = checkpoint.open_checkpoint(path)
    for tensor in saved.tensors[:20]:
        try:
            saved.read(tensor.name)
        except InputError:
            continue


def _checkpoint_v1(data: bytes) -> None:
    _checkpoint(file("v1.ckpt", data))
    if is_chosen(data, BUILT):
        profile_from([InputFile(Content(str(folder() / "v1.ckpt")), BY_NAME["checkpoint"])])


def _checkpoint_v2(data: bytes) -> None:
    """A checkpoint of one shard; the first two bytes say how long its index is."""
    size = int.from_bytes(data[:2], "little")
    file("v2.index", data[2 : 2 + size])
    file("v2.data-00000-of-00001", data[2 + size :])
    _checkpoint(str(folder() / "v2"))
    if is_chosen(data, BUILT):
        profile_from([InputFile(Content(str(folder() / "v2")), BY_NAME["checkpoint"])])


# Saved profiles.


def _parquet(data: bytes) -> None:
    try:
        parquet.read(data)
    except ParquetError:
        return


def _saved_profile(data: bytes) -> None:
    """A saved profile of which one table or the manifest is replaced; the first byte says which."""
    if not data:
        return
    number = data[0] % (len(TABLES) + 1)
    if number:
        try:
            parquet.read(data[1:])
        except ParquetError:
            if not is_chosen(data, BUILT):  # the rest of the file is valid
                return
    _built("tfprof", seeds.with_member(number, data[1:]))


# Keras files.


def _keras(data: bytes) -> None:
    content = Content(file("model.keras", data))
    if BY_NAME["keras"].looks_like(content):
        profile_from([InputFile(content, BY_NAME["keras"])])


def _config(data: bytes) -> None:
    """The configuration in an archive, which must be valid JSON."""
    _keras(seeds.archive(data))


def _layers(data: bytes) -> None:
    _built("layers", data)


def _modules(data: bytes) -> None:
    _built("modules", data)


# PyTorch files.


def _weights(name: str, data: bytes) -> None:
    """A file of weights, or an index beside a file of that name."""
    _read_file("safetensors", name, data)
    _read_file("weights_index", name, data)


def _pickle(data: bytes) -> None:
    """The structure of a checkpoint."""
    _read_file("torch_checkpoint", "model.pt", seeds.checkpoint_archive(data))


def _read_file(source: str, name: str, data: bytes) -> None:
    content = Content(file(name, data))
    if BY_NAME[source].looks_like(content):
        profile_from([InputFile(content, BY_NAME[source])])


def _exported(data: bytes) -> None:
    """The graph of an exported program, which must be valid JSON."""
    _read_file("torch_export", "model.pt2", seeds.exported_archive(data))


def _trace(data: bytes) -> None:
    """A Kineto trace, as both readers read it."""
    found = plainly(data)
    if trace_reading.streaming is not None and scanned(data, 1 + zlib.crc32(data) % 99) != found:
        raise BrokenError("the scanner reads a trace differently")
    if is_chosen(data, BUILT):
        _built("kineto", data)


def _snapshot(data: bytes) -> None:
    _built("torch_snapshot", data)


def _provenance(data: bytes) -> None:
    """The log of a compiled program, some of them with its trace."""
    content = Content.of_bytes("a.log", data)
    source = BY_NAME["inductor_provenance"]
    if not data or not source.looks_like(content):
        return
    trace = InputFile(Content(seeds.COMPILED_TRACE), BY_NAME["kineto"])
    files = [InputFile(content, source), *([trace] if is_chosen(data, BUILT) else [])]
    profile_from(files)


# Containers and formats.


def _gzip(data: bytes) -> None:
    content = Content(file("packed.gz", data))
    _ = content.head
    content.read(1 << 24)


def _zip(data: bytes) -> None:
    _built("tfprof", data)


def _snappy(data: bytes) -> None:
    try:
        found = snappy.unpacked(data)
    except WireError:
        return
    if len(found) > 22 * len(data):
        raise BrokenError("unpacks to more than Snappy can")


def _recognise(data: bytes) -> None:
    """What any file is, for the error message of files that tfprof does not read."""
    content = Content.of_bytes("file", data)
    for source in BY_NAME.values():
        source.looks_like(content)
    for path in ("file", "a.onnx", "b.tflite", "c.meta"):
        foreign.trouble(path, data)


# What users type.


def _options(data: bytes) -> None:
    """A command line; each line is a word."""
    call = command_line.parse(data.decode("utf-8", "surrogateescape").split("\n"))
    command_line._validate(call)
    if call.front.place and call.command.name in ("scope", "graph", "code", "op", "layers"):
        _ = call.view_options().destination


def _regexes(data: bytes) -> None:
    """A pattern in the first line, and names in the others."""
    pattern, *names = data.decode("utf-8", "surrogateescape").split("\n")
    if is_chosen(data, 64):
        re2.purge()  # it keeps the last 128 patterns, each with up to 8 MB
    patterns = Patterns((pattern,))
    valid = [name for name in names if name.isascii()]
    matched = patterns.match_column(Strings(valid)).tolist()
    if matched != [patterns.matches(name) for name in valid]:
        raise BrokenError("a list of names is matched differently from each name")


def _budgets(data: bytes) -> None:
    """A budget file, which is checked and, if it can be, updated."""
    path = file("tfprof.toml", data)
    budgets = [budget for budget in budget_file.read(path) if not budget.is_relative]
    outputs.text(check(_SMALL, budgets))
    if find_spec("tomlkit") is not None:
        text, _ = updating.update(path, Measured(_SMALL))
        budget_file.budgets_in(path, text)


_SMALL = Profile(
    profile(
        op("net/w", "VariableV2", shape=(3, 4)),
        op("net/mul", "MatMul", float_ops=7),
        op("head/w", "VariableV2", shape=(5,)),
    )
)


# Whole models.


def _hostile(data: bytes) -> None:
    profile = profile_of(Hostile(data), Reading(functions=is_chosen(data, 3)))
    ask_some(profile, zlib.crc32(data))


def _of_message(source: str, decoder: object) -> Target:
    run = partial(_message, source, decoder)
    return Target(run, partial(seeds.messages, source), is_message=True)


def _of_text(source: str) -> Target:
    return Target(partial(_text, seeds.type_of(source)), partial(seeds.texts, source))


TARGETS: dict[str, Target] = {
    "graph": _of_message("graph", graph_def),
    "graph_text": _of_text("graph"),
    "run_meta": _of_message("run_meta", run_metadata),
    "run_meta_text": _of_text("run_meta"),
    "step": Target(_step, partial(seeds.messages, "run_meta"), is_message=True),
    "op_log": _of_message("op_log", op_log),
    "op_log_text": _of_text("op_log"),
    "profile_proto": _of_message("profile_proto", profile_proto),
    "profile_proto_text": _of_text("profile_proto"),
    "xspace": Target(
        partial(_message, "xspace", xplane), seeds.recordings, 20_000, is_message=True
    ),
    "functions": Target(_functions, seeds.functions, is_message=True),
    "saved_model": Target(_saved_model, seeds.saved_models, 40_000, is_message=True),
    "debug_info": Target(_debug_info, seeds.debug_infos, 12_000, is_message=True),
    "object_graph": Target(_objects, seeds.objects, 6000, is_message=True),
    "checkpoint_v1": Target(partial(_unchecked, _checkpoint_v1), seeds.checkpoints_v1, 6000),
    "checkpoint_v2": Target(partial(_unchecked, _checkpoint_v2), seeds.checkpoints_v2, 8000),
    "parquet": Target(_parquet, seeds.tables),
    "saved_profile": Target(_saved_profile, seeds.members),
    "intact": Target(_intact, seeds.numbered),
    "layers_file": Target(_layers, seeds.layers),
    "modules_file": Target(_modules, seeds.modules),
    "keras": Target(_keras, seeds.archives, 20_000),
    "keras_config": Target(_config, seeds.configs, 10_000),
    "hdf5": Target(_keras, seeds.weights, 20_000),
    "safetensors": Target(partial(_weights, "w"), seeds.safetensors),
    "pickle": Target(_pickle, seeds.structures),
    "torch_checkpoint": Target(
        partial(_read_file, "torch_checkpoint", "old.pt"), seeds.torch_checkpoints, 20_000
    ),
    "distributed_checkpoint": Target(
        partial(_read_file, "torch_checkpoint", "m"), seeds.distributed_checkpoints, 10_000
    ),
    "exported_graph": Target(_exported, seeds.graphs_in_json, 40_000),
    "pt2": Target(partial(_read_file, "torch_export", "m.pt2"), seeds.exported_programs, 40_000),
    "kineto": Target(_trace, seeds.traces, words=seeds.trace_words),
    "memory_snapshot": Target(_snapshot, seeds.snapshots),
    "inductor_provenance": Target(_provenance, seeds.compile_logs, 12_000),
    "gzip": Target(_gzip, seeds.gzipped),
    "zip": Target(_zip, seeds.saved_profiles, 40_000),
    "snappy": Target(_snappy, seeds.snappy),
    "recognise": Target(_recognise, seeds.starts),
    "options": Target(_options, seeds.lines, 300, words=seeds.words),
    "regexes": Target(_regexes, seeds.patterns, 200, words=seeds.pieces),
    "budgets": Target(_budgets, seeds.budgets, 2000, words=seeds.budget_words),
    "hostile": Target(_hostile, seeds.numbers, 2000),
    "models": Target(_hostile, seeds.numbers, 32, is_guided=False),
}

"""Recognise the files of PyTorch programs by their content."""

from __future__ import annotations

import re

from tfprof.formats.content import Content

# The file in an archive that has the structure of what `torch.save` wrote.
STRUCTURE = re.compile(r"(?:[^/]+/)?data\.pkl")
# Files in the archive of an exported program.
_EXPORTED = re.compile(r"(?:[^/]+/)?archive_format|serialized_exported_program\.json")
# How an older file of `torch.save` starts: a pickle of the number 0x1950a86a20f9469cfc6c.
_OLD = re.compile(rb"\x80[\x02-\x05]\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\.")
_INDEX = re.compile(rb'\s*\{.*?"weight_map"\s*:\s*\{', re.DOTALL)
_SCHEMA = re.compile(rb'\s*\{\s*"schema"\s*:\s*"(?:[^"]*chakra|[0-9.]+"\s*,\s*"pid"\s*:)')
# How a memory snapshot starts: a pickle of a table with the key `segments`.
_SNAPSHOT = re.compile(
    rb"\x80[\x02-\x05](?:\x95.{8})?\}(?:\x94|q.)\(?(?:\x8c\x08|X\x08\0\0\0)segments", re.DOTALL
)
DISTRIBUTED_METADATA = ".metadata"  # the name of the table of a distributed checkpoint
# How the table of a distributed checkpoint starts: a pickle of an object of this class.
_DISTRIBUTED = re.compile(
    rb"\x80[\x02-\x05](?:\x95.{8})?(?:\x8c.|X.{4}|c)torch\.distributed\.checkpoint\.metadata"
    rb"(?:\x94\x8c\x08|\n)Metadata",
    re.DOTALL,
)
# How the log of `torch.compile` starts: a line of the logger with a table in JSON.
_LOG = re.compile(
    rb"V[0-9]{4} [0-9:]{8}\.[0-9]{1,9} [0-9]{1,20} torch[/\\][^\n]{1,200}?:[0-9]{1,9}\] \{"
)
# How a table of kernels starts: numbered names with lists of stacks, the first of them empty.
_KERNEL = rb'\s*"[^"\\]{1,4000}:[0-9]{1,9}"\s*:\s*\['
_KERNELS = re.compile(rb"\s*\{(?:" + _KERNEL + rb"\s*\]\s*,)*" + _KERNEL + rb'\s*"\s*File \\"')
_LONGEST_HEADER = 1 << 32


def is_safetensors(head: bytes) -> bool:
    """Whether a file starts with the length of a header and a table in JSON."""
    is_short = int.from_bytes(head[:8], "little") < _LONGEST_HEADER
    return is_short and re.match(rb"\s*\{\s*[\"}]", head[8:200]) is not None


def is_execution_trace(head: bytes) -> bool:
    """Whether a file is a trace of the tensors that ops made and used."""
    return head[:1] in b" \t\r\n{" and _SCHEMA.match(head) is not None


def is_weights_index(head: bytes) -> bool:
    """Whether a file is an index of weights in several files."""
    return head[:1] in b" \t\r\n{" and _INDEX.match(head) is not None


def is_old_checkpoint(head: bytes) -> bool:
    """Whether a file is one that `torch.save` wrote before it wrote archives."""
    return _OLD.match(head) is not None


def is_checkpoint(content: Content) -> bool:
    """Whether this is what `torch.save` or `torch.distributed.checkpoint` wrote, or TorchScript."""
    if is_old_checkpoint(content.head) or is_distributed_checkpoint(content):
        return True
    return any(STRUCTURE.fullmatch(name) for name in content.members)


def is_distributed_checkpoint(content: Content) -> bool:
    """Whether this is a folder that `torch.distributed.checkpoint` wrote, or the table in it."""
    return _DISTRIBUTED.match(content.first_inside([DISTRIBUTED_METADATA]).head) is not None


def is_exported_program(content: Content) -> bool:
    """Whether a file is one that `torch.export.save` wrote."""
    return any(_EXPORTED.fullmatch(name) for name in content.members)


def is_memory_snapshot(head: bytes) -> bool:
    """Whether a file is one that `torch.cuda.memory._dump_snapshot` wrote."""
    return _SNAPSHOT.match(head) is not None


def is_compile_log(head: bytes) -> bool:
    """Whether a file is a log that `torch.compile` wrote to the folder `TORCH_TRACE`."""
    return head[:1] == b"V" and _LOG.match(head) is not None


def is_provenance(head: bytes) -> bool:
    """Whether a file says from which Python code kernels were generated: a log, or a table."""
    is_table = head[:1] in b" \t\r\n{" and _KERNELS.match(head) is not None
    return is_table or is_compile_log(head)

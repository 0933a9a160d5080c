"""Builders of small programs for tests of shape inference."""

import numpy as np

from sources.test_tf_functions import add, node, program
from sources.tf_files import row, shape
from tfprof.model.builder import ProfileBuilder
from tfprof.sources.source import Reading

_DTYPES = {"i4": 3, "i8": 9, "?": 10, "f4": 1}


def stated(*shapes):
    return {"list": {"shape": [shape(*dims) for dims in shapes]}}


def op(name, kind, inputs=(), *shapes, **attributes):
    """A node that states these output shapes, or none."""
    known = {"_output_shapes": stated(*shapes)} if shapes else {}
    return node(name, kind, inputs, **known, **attributes)


def const(name, values, kind="i4"):
    """A constant, encoded as bytes because our graph schema omits tensor values."""
    array = np.array(values, f"={kind}")
    content = array.tobytes()
    dims = b"".join(field(2, b"\x08" + varint(size)) for size in array.shape)
    tensor = b"\x08" + bytes([_DTYPES[kind]]) + field(2, dims) + field(4, content)
    found = node(name, "Const")
    found.attr["value"].MergeFromString(field(8, tensor))
    return found


def field(number, content):
    return bytes([number << 3 | 2]) + varint(len(content)) + content


def varint(number):
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def loaded(*nodes, functions=(), batch_size=7, notes=None, includes_functions=True):
    """The profile of a program."""
    builder = ProfileBuilder()
    reading = Reading(functions=includes_functions, batch_size=batch_size)
    add("graph", "graph.pb", program(nodes, *functions), builder, reading=reading)
    if notes is not None:
        notes += builder.notes
    profile = builder.build()
    profile.check()
    return profile


def inferred(*nodes, **options):
    """The output shapes of each op: one shape, or a list of several."""
    outputs = {}
    profile = loaded(*nodes, **options)
    for name in profile.ops.name:
        place = row(profile, name)
        count = profile.ops.outputs.count(place)
        found = [profile.ops.outputs.of(place, slot) for slot in range(count)]
        outputs[name] = found[0] if count == 1 else found
    return outputs


def repeats(*nodes, **options):
    """How often each op runs."""
    profile = loaded(*nodes, **options)
    return dict(zip(profile.ops.name, profile.ops.repeats.tolist(), strict=True))

"""The text reader gives the same message as protobuf's own reader, or both refuse the text."""

import gzip
import importlib.util
import sys
import warnings
from pathlib import Path

import pytest
from google.protobuf import __version__ as protobuf_version
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st

from floors import checked, floor
from sources.tf_files import content
from tfprof.errors import InputError
from tfprof.formats import text, text_records
from tfprof.formats.messages import TextError, decode, message_class, parse_text
from tfprof.formats.records import Records
from tfprof.formats.text import Schema, TextFormatError, is_compiled, to_wire
from tfprof.formats.text_records import to_binary
from tfprof.formats.text_schema import is_repeated

GRAPH = "tensorflow.GraphDef"
PROFILE = "tensorflow.tfprof.ProfileProto"
NAMES = [
    *(GRAPH, PROFILE, "tensorflow.RunMetadata", "tensorflow.tfprof.OpLogProto"),
    *("tensorflow.AttrValue", "tensorflow.tfprof.TFProfTensorProto"),
]
SCHEMAS = {name: Schema(message_class(name).DESCRIPTOR) for name in NAMES}

EXAMPLE = Path(__file__).parents[2] / "examples" / "resnet32" / "graph.pbtxt.gz"
if_compiled = pytest.mark.skipif(
    not is_compiled(), reason="the reader of texts was not compiled, and is slow as plain Python"
)

SMALL = b"""node {
  name: "a\\n\\303\\251" 'b' # of two pieces
  op: "Conv2D"; input: ["x", "y"],
  attr { key: "l" value { list { i: [1, -2, 0x1F] i: 3 f: 1.5 type: 1 b: true s: "\\377" } } }
  attr: < key: 'f' value { f: -1e-3f } >
  attr { key: "t" value { tensor { dtype: DT_INT8 float_val: [1, 2.5] } } }
  attr { key: 's' value { shape { dim { size: 017 } } } }
  debug { original: "\\000" [type.googleapis.com/x.Y] { b: c } [a.b]: -inf } more: [{ a: 1 }, <>]
}
versions { producer: 21 }
"""

# Values that older versions of protobuf read differently, and the version since which both readers
# agree.
AGREED_SINCE = {
    r's: "\u20ac\U0001F600\u00e9"': (5, 26),
    **dict.fromkeys((r's: "\400"', r's: "\ud800"', r's: "\U0000d800"', r's: "\u005cn"'), (5, 26)),
    **dict.fromkeys(("f: 1.5F", "f: 00.5", "unknown: 08"), (6, 30)),
    "unknown: [1, 'a', {}, <>]": (6, 31),
}
PROTOBUF = tuple(map(int, protobuf_version.split(".")[:2]))
if PROTOBUF < (6, 31):
    SMALL = SMALL.replace(b" more: [{ a: 1 }, <>]", b"")


def is_comparable(value):
    """Whether the installed protobuf reads a value as newer versions do."""
    return AGREED_SINCE.get(value, (0,)) <= PROTOBUF


def ours(name, data):
    """The message that our reader gives; None if it refuses."""
    try:
        return decode(name, to_wire(SCHEMAS[name], data))
    except TextFormatError:
        return None


def theirs(name, data):
    """The message that protobuf's reader gives; None if it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # from Python, about doubtful escapes
        try:
            return parse_text(name, data.decode("utf-8"))
        except (TextError, ValueError):  # ValueError: a number is too large for an enum
            return None


def bits(message):
    """The bytes of a message, so that messages with NaNs can be compared."""
    return None if message is None else message.SerializeToString(deterministic=True)


def attr(value):
    return f'node {{ attr {{ key: "k" value {{ {value} }} }} }}'.encode()


def complaint(data, name=GRAPH):
    with pytest.raises(TextFormatError) as caught:
        to_wire(SCHEMAS[name], data)
    return str(caught.value)


def test_a_graph_in_text_gives_the_same_message_as_protobuf():
    data = content("mlp_tiny/graph.pbtxt")

    assert ours(GRAPH, data) == theirs(GRAPH, data)


@if_compiled
def test_the_example_model_gives_the_same_message_as_protobuf():
    data = gzip.decompress(EXAMPLE.read_bytes())

    assert ours(GRAPH, data) == theirs(GRAPH, data)


@pytest.mark.parametrize(
    ("sample", "name"),
    [
        ("mlp_tiny/graph.pb", GRAPH),
        ("mlp_tiny/profile.pb", PROFILE),
        ("mlp_tiny/tfprof_log", "tensorflow.tfprof.OpLogProto"),
        ("gpu_synth/run_meta_0", "tensorflow.RunMetadata"),
    ],
)
@pytest.mark.parametrize(
    "printing", [{}, {"as_one_line": True}, {"use_short_repeated_primitives": True}]
)
def test_a_sample_in_any_print_style_gives_the_same_message_as_protobuf(sample, name, printing):
    message = message_class(name).FromString(content(sample))
    printed = text_format.MessageToString(message, **printing).encode()

    assert ours(name, printed) == theirs(name, printed)


# All spellings of values: first those that both readers accept, then those that both refuse.
ACCEPTED = [
    *("i: 0", "i: -0", "i: +5", "i: 9223372036854775807", "i: -9223372036854775808"),
    *(
        "i: 0x7fffffffffffffff",
        "i: 0XaB",
        "i: -0x10",
        "i: 017",
        "i: -017",
        "i: 00",
        "i:1",
        "i :\n1",
    ),
    *("f: 1", "f: 1.", "f: .5", "f: 1.5e3", "f: -1E-3", "f: 1f", "f: 1.5F", "f: 0", "f: -0.0"),
    *("f: inf", "f: -inf", "f: Infinity", "f: inff", "f: nan", "f: -nan", "f: NaN", "f: 1e300"),
    *("f: -1e300", "f: 3.4028235e38", "f: 1e-46", "f: 123456789012345678901234567890"),
    *("b: true", "b: True", "b: t", "b: 1", "b: false", "b: False", "b: f", "b: 0"),
    *("type: DT_FLOAT", "type: 1", "type: 0x1", "type: 999", "type: -1", "type: 0"),
    *('s: ""', "s: ''", "s: 'a' \"b\" 'c'", "s: 'a'\n# c\n'b'", 's: "\'"', "s: '\"'"),
    *(r's: "\n\r\t\a\b\f\v\\\'\""', r's: "\0\12\123\377\0001"', r's: "\x4\x41\xfFf"'),
    *(r's: "\u20ac\U0001F600\u00e9"', 's: "é€😀"', 'placeholder: "é"', r'placeholder: "\303\251"'),
    *("list { i: [] }", "list { i: [1] i: 2 i: [3, 4] }", "list { i: 1 f: 1 i: 2 }", "list: {}"),
    *(
        "list <>",
        "list: < >",
        "list { s: ['a' 'b', \"c\"] }",
        "list { b: [t, f], type: [1, DT_INT8]; }",
    ),
    *("shape { dim { size: -1 } dim {} dim [{ size: 2 }, <name: 'n'>] }", "shape { dim: [] }"),
    *("unknown: 1", "unknown: -1.5e3", "unknown: word", "unknown: -inf", "unknown: 'a' 'b'"),
    *("unknown { a: 1 }", "unknown: { a < b: 'c' > }", "unknown: [1, 'a', {}, <>]", "unknown: []"),
    *("unknown { [type.googleapis.com/a.B] { c: 1 } [d.e]: 2 }", "12: 5", "a-b: 1", "1.5: 2"),
    *(
        "unknown: 0x1F",
        "unknown: 017",
        "unknown: 1f",
        "i: 1,",
        "i: 1;",
        "i: 1\r\n",
        "# nothing\n",
        "",
    ),
    *(
        "i: 5 # all\n",
        "\t\v\f i: 5",
        "tensor { dtype: DT_INT8 dtype_: 3 }",
        "func { name: '' name: 'b' }",
    ),
]
REFUSED = [
    *("i: 9223372036854775808", "i: -9223372036854775809", "i: 99999999999999999999", "i: 08"),
    *(
        "i: 1.0",
        "i: 1f",
        "i: 0x",
        "i: -",
        "i: - 1",
        "i: 'a'",
        "i: true",
        "i: {}",
        "i: [1]",
        "i: 1 2",
    ),
    *(
        "i: 18446744073709551616",
        "i: 0x10000000000000000",
        "i 1",
        "i",
        "i:",
        "i: 1,,",
        "i: 1;;",
        ", i: 1",
    ),
    *("f: 0x1", "f: 00.5", "f: 1e", "f: .", "f: 1.2.3", "f: infinit", "f: 'a'", "f: e5"),
    *(
        "b: 2",
        "b: TRUE",
        "b: tru",
        "b: -1",
        "b: 'true'",
        "b: 01",
        "type: DT_NONE",
        "type: dt_float",
    ),
    *(
        "type: 2147483648",
        "type: -2147483649",
        "type: 1.5",
        "type: 'DT_FLOAT'",
        "type: 99999999999",
    ),
    *('s: "', "s: 'a\"", 's: "a\nb"', 's: "\\', r's: "\"', r's: "\400"', r's: "\x"', r's: "\xg"'),
    *(r's: "\u12"', r's: "\ud800"', r's: "\U00110000"', r's: "\U0000d800"', "s: word", "s: 1"),
    *(r'placeholder: "\377"', r'placeholder: "\303" "a"', "i: 1 i: 2", "i: 0 i: 0", "i: 1 f: 1"),
    *(
        "list {} list {}",
        "list { i: [1,] }",
        "list { i: [1 2] }",
        "list { i: [1 }",
        "list { i: [,] }",
    ),
    *("list [{}]", "list { >", "list < }", "list", "list 1", "list: 1", "shape { unknown_rank: t "),
    *(
        "unknown",
        "unknown 1",
        "unknown:",
        "unknown: [1,]",
        "unknown: [1 2]",
        "unknown: 1_",
        "unknown {",
    ),
    *(
        "unknown: 08",
        "unknown: 1.2.3",
        "unknown: -word",
        "unknown: +",
        "unknown { [] {} }",
        "[a.b]: 1",
    ),
    *(
        "unknown: [[1]]",
        "unknown { : }",
        "?",
        "+: 1",
        "-1: 1",
        ".5: 1",
        "func { name: 'a' name: 'b' }",
    ),
]


@pytest.mark.parametrize("value", ACCEPTED)
def test_both_readers_accept(value):
    found = ours(GRAPH, attr(value))

    assert found is not None
    assert bits(found) == bits(theirs(GRAPH, attr(value))) or not is_comparable(value)


@pytest.mark.parametrize("value", REFUSED)
def test_both_readers_refuse(value):
    assert ours(GRAPH, attr(value)) is None
    assert theirs(GRAPH, attr(value)) is None or not is_comparable(value)


# Protobuf's Python reader follows Python's rules here; ours follows the specification of the text
# format, like protobuf's C++ reader.
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (r's: "\?"', b"?"),  # Python does not know this escape and keeps the backslash
        (r's: "\u005cn"', b"\\n"),  # Python unescapes twice
        (r's: "\q"', None),  # Python keeps unknown escapes
        (r's: "\N{SPACE}"', None),  # a Python escape
        ("i: 1_000", None),  # Python spellings of numbers
        ("i: 0b11", None),
        ("i: 0o17", None),
        ("i:\u00a01", None),  # only ASCII letters and white space
        ("\u00e9: 1", None),
        ("unknown { [example.com/a.B] {} } s: ''", b""),  # any domain is accepted
        ("unknown { x: [{ [a.b.c.d/e]: 1 }] } s: ''", b""),
    ],
)
def test_the_specification_counts_where_protobuf_in_python_differs(value, expected):
    found = ours(GRAPH, attr(value))

    assert (found and found.node[0].attr["k"].s) == expected
    assert bits(found) != bits(theirs(GRAPH, attr(value))) or not is_comparable(value)


def test_enums_accept_octal_numbers_like_other_fields():
    assert ours(GRAPH, attr("type: 011")).node[0].attr["k"].type == 9


def test_both_readers_refuse_a_byte_order_mark():
    data = "\ufeffnode {}".encode()

    assert theirs(GRAPH, data) is None
    assert complaint(data).endswith(
        r"column 1: expected a field or the end of the message, found `\ufeff`"
    )


def test_a_zero_in_a_oneof_is_written():
    assert to_wire(SCHEMAS["tensorflow.AttrValue"], b"i: 0") == b"\x18\x00"
    assert to_wire(SCHEMAS["tensorflow.AttrValue"], b's: ""') == b"\x12\x00"


def test_lists_of_numbers_are_packed():
    assert to_wire(SCHEMAS[PROFILE], b"steps: 1 steps: [2, 300]") == b"\x1a\x04\x01\x02\xac\x02"


@pytest.mark.parametrize("length", [0, 1, 126, 127, 128, 129, 16383, 16384, 70_000, 2_097_152])
def test_a_length_takes_as_few_bytes_as_possible(length):
    message = message_class(GRAPH)()
    for size in (length, 3, length):
        message.node.add(name="x" * size, op="o")
    printed = text_format.MessageToString(message).encode()

    assert to_wire(SCHEMAS[GRAPH], printed) == message.SerializeToString()


def nested(depth):
    return b"x {" * depth + b"}" * depth, b"children {" * depth + b"}" * depth


@pytest.mark.parametrize("kind", [0, 1])
def test_messages_may_be_nested_a_hundred_levels_deep(kind):
    name = "tensorflow.tfprof.GraphNodeProto"
    schema = Schema(message_class(name).DESCRIPTOR)

    decode(name, to_wire(schema, nested(100)[kind]))
    with pytest.raises(TextFormatError, match="braces are nested too deeply"):
        to_wire(schema, nested(101)[kind])
    with pytest.raises(TextFormatError, match="braces are nested too deeply"):
        to_wire(schema, nested(100_000)[kind])


def values(field):
    """Values for a field that the constructor of its message accepts."""
    kinds = {
        field.TYPE_BYTES: st.binary(max_size=6),
        field.TYPE_STRING: st.text(max_size=6),
        field.TYPE_BOOL: st.booleans(),
        field.TYPE_FLOAT: st.floats(width=32, allow_nan=False),
        field.TYPE_DOUBLE: st.floats(allow_nan=False),
        field.TYPE_ENUM: st.sampled_from([0, 1, 3, 23, 101, 77, -5]),
        field.TYPE_INT32: st.integers(-(1 << 31), (1 << 31) - 1),
        field.TYPE_INT64: st.integers(-(1 << 63), (1 << 63) - 1),
        field.TYPE_UINT32: st.integers(0, (1 << 32) - 1),
        field.TYPE_UINT64: st.integers(0, (1 << 64) - 1),
    }
    return kinds[field.type]


def fill(draw, message, depth):
    """Set a few random fields of a message."""
    fields = list(message.DESCRIPTOR.fields)
    for field in draw(st.lists(st.sampled_from(fields), max_size=4, unique_by=id)):
        inner = field.message_type
        if inner is None:
            value = draw(values(field))
            if is_repeated(field):
                getattr(message, field.name).extend(
                    [value, *draw(st.lists(values(field), max_size=2))]
                )
            else:
                setattr(message, field.name, value)
        elif depth == 0:
            continue
        elif inner.GetOptions().map_entry:
            key, value = inner.fields_by_name["key"], inner.fields_by_name["value"]
            place = getattr(message, field.name)
            if value.message_type is None:
                place[draw(values(key))] = draw(values(value))
            else:
                fill(draw, place[draw(values(key))], depth - 1)
        elif is_repeated(field):
            fill(draw, getattr(message, field.name).add(), depth - 1)
        else:
            getattr(message, field.name).SetInParent()
            fill(draw, getattr(message, field.name), depth - 1)


@st.composite
def messages(draw):
    message = message_class(draw(st.sampled_from(NAMES)))()
    fill(draw, message, 5)
    return message


PRINTINGS = [
    {},
    {"as_one_line": True},
    {"as_utf8": True},
    {"pointy_brackets": True, "indent": 3},
    {"use_short_repeated_primitives": True, "force_colon": True},
]


@settings(max_examples=150)
@given(messages(), st.sampled_from(PRINTINGS))
def test_any_message_can_be_read_back_from_its_text(message, printing):
    printed = text_format.MessageToString(message, **printing).encode()

    found = ours(message.DESCRIPTOR.full_name, printed)

    assert bits(found) == bits(message)
    assert bits(theirs(message.DESCRIPTOR.full_name, printed)) == bits(message)


def test_a_cut_text_is_refused_if_protobuf_refuses_it():
    for end in range(len(SMALL)):
        assert bits(ours(GRAPH, SMALL[:end])) == bits(theirs(GRAPH, SMALL[:end])), SMALL[:end]


@floor(0.1)  # measured: 0.3
@settings(max_examples=300)
@given(st.data())
def test_a_damaged_text_is_refused_if_protobuf_refuses_it(data):
    # No `_` and no letters that occur in Python's own spellings: see above.
    junk = st.binary(max_size=3) | st.sampled_from(
        [b"{", b"}", b'"', b"\\", b"[", b"]", b"<", b":"]
    )
    junk = junk.filter(
        lambda found: found.isascii() and not set(found) & set(b"_?+/bBoO\x1c\x1d\x1e\x1f")
    )
    damaged = bytearray(SMALL)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(damaged)))
        damaged[at : at + data.draw(st.integers(0, 2))] = data.draw(junk)
    damaged = bytes(damaged)

    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always")
        expected = bits(parse_or_none(damaged))
    is_alike = not doubts and b"[type.googleapis.com/" in damaged  # we accept any domain
    checked(is_alike and expected is not None)
    if is_alike:
        assert bits(ours(GRAPH, damaged)) == expected


def parse_or_none(data):
    try:
        return parse_text(GRAPH, data.decode("utf-8"))
    except (TextError, ValueError):
        return None


@settings(max_examples=200)
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data):
    ours(GRAPH, data)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            b'node {\n  name: "a',
            "line 2, column 9: the text ends inside a string; was the program still writing it?",
        ),
        (
            b"node {",
            "line 1, column 7: the text ends inside a message; was the program still writing it?",
        ),
        (
            b"node { name:",
            "line 1, column 13: the text ends inside a message; was the program still writing it?",
        ),
        (b"\n\n  node: 3", "line 3, column 9: expected a message between `{` and `}`"),
        (
            b'node { name: "a" name: "b" }',
            "line 1, column 18: `name` is given twice in one message",
        ),
        (
            b"node { name 3 }",
            "line 1, column 13: expected a `:` between this field and its value",
        ),
        (
            "node { name: 'é' ] }".encode(),
            "line 1, column 18: expected a field or the end of the message, found `]`",
        ),
        (
            b'node { name: "\xe4" }',
            "line 1, column 15: invalid UTF-8; save the text in that encoding",
        ),
        (
            attr("i: 1 f: 2"),
            "line 1, column 37: `f` is given together with a field that excludes it",
        ),
        (attr("type: DT_NONE"), "line 1, column 38: `DT_NONE` is not a valid value for this field"),
        (attr("i: 1.5"), "line 1, column 35: `1.5` is not an integer"),
        (
            attr("i: 9999999999999999999"),
            "line 1, column 35: `9999999999999999999` is too large for this field",
        ),
        (attr("f: 0x1"), "line 1, column 35: `0x1` is not a number"),
        (
            attr(r's: "a\q"'),
            "line 1, column 37: invalid escape; write a backslash as \\\\",
        ),
        (
            attr('s: "a\n"'),
            "line 1, column 35: the line ends inside a string; write a line break as \\n",
        ),
    ],
)
def test_an_error_says_where_and_why(data, expected):
    assert complaint(data) == expected


def test_an_error_is_short_and_printable_for_any_text():
    assert len(complaint(b"node { name: " + b"x" * 10_000)) < 200
    assert complaint(b"\x00").isprintable()


def test_a_very_long_number_is_refused_quickly():
    assert complaint(attr(f"f: {'1' * 200_000}x")).endswith("is not a number")


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_a_schema_is_found(name):
    for field in message_class(name).DESCRIPTOR.fields:
        assert ours(name, f"{field.name}: []".encode()) is not None or not is_repeated(field)
        assert ours(name, f"{field.name}_: 1 x{field.name}: 1".encode()) is not None


def test_without_a_compiler_protobuf_gives_the_same_bytes(monkeypatch):
    compiled = Records("g", to_wire(SCHEMAS[GRAPH], SMALL))
    monkeypatch.setattr(text, "is_compiled", lambda: False)
    plain = Records("g", bytes(to_binary("g", SMALL, GRAPH)))

    assert decode(GRAPH, plain.data) == decode(GRAPH, compiled.data)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(
    "data",
    [
        *(b'node {\n  name: "a', b"node {", b'node { name: "\xe4" }', attr("type: 99999999999")),
        *(
            b"x " + b"{ x " * 5000,
            b"node { x: + }",
            attr("i: 'a'"),
            b"node ]",
            b'node { name: "\\q" } ]',
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid escape")
def test_errors_of_both_readers_have_the_same_form(monkeypatch, compiled, data):
    monkeypatch.setattr(text, "is_compiled", lambda: compiled)

    with pytest.raises(InputError) as caught:
        Records("graph.pbtxt", bytes(to_binary("graph.pbtxt", data, GRAPH)))

    assert caught.value.trouble.startswith("is not a complete tensorflow.GraphDef in text form: ")
    assert caught.value.trouble[-1] in ".?"
    assert len(caught.value.trouble) < 300
    assert "\n" not in caught.value.trouble


# What only protobuf's reader in Python accepts, such as a space that was copied from a web page.
DIALECT = ["i:\u00a01", "i: 1_000", "i: 0o17", "\u00e9: 1", "f: 1_0.5", "i:\x1f1", "i:\u20281"]


@pytest.mark.parametrize("value", DIALECT)
def test_a_small_text_that_only_protobuf_accepts_is_read_by_protobuf(value):
    data = attr(value)

    assert ours(GRAPH, data) is None
    assert to_binary("graph.pbtxt", data, GRAPH) == bits(theirs(GRAPH, data))


@if_compiled
def test_a_large_text_is_read_only_once():
    data = attr("i:\u00a01") + b"\n#" + b"x" * 100_000

    with pytest.raises(InputError, match=r"line 1, column 34: expected a value, found `.xa0`"):
        to_binary("graph.pbtxt", data, GRAPH)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("compiled", [True, False])
def test_a_doubtful_escape_is_refused_if_warnings_are_errors(monkeypatch, compiled):
    monkeypatch.setattr(text, "is_compiled", lambda: compiled)

    with pytest.raises(InputError, match="escape"):
        to_binary("graph.pbtxt", attr(r's: "\q"'), GRAPH)


@if_compiled
def test_the_error_is_that_of_the_compiled_reader_if_both_refuse():
    with pytest.raises(InputError, match="line 1, column 1: expected a field or the end of the me"):
        to_binary("graph.pbtxt", b"?", GRAPH)


def test_the_source_runs_as_plain_python_without_cython(monkeypatch):
    monkeypatch.setitem(sys.modules, "cython", None)
    path = Path(text_records.__file__).with_name("text.py")
    spec = importlib.util.spec_from_file_location("plain_text", path)
    plain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plain)

    assert not plain.is_compiled()
    assert plain.to_wire(SCHEMAS[GRAPH], SMALL) == to_wire(SCHEMAS[GRAPH], SMALL)
    for value in REFUSED:
        with pytest.raises(plain.TextFormatError) as caught:
            plain.to_wire(SCHEMAS[GRAPH], attr(value))
        assert str(caught.value) == complaint(attr(value))

"""What Inductor notes about generated kernels is read from logs and from tables."""

import gzip
import json
from pathlib import Path

import pytest

import inductor_logs
from inductor_logs import cached, metrics, record
from tfprof.errors import InputError
from tfprof.formats import inductor_provenance
from tfprof.formats.content import Content
from tfprof.formats.inductor_provenance import CompiledFunction, GeneratedKernel
from tfprof.formats.torch_files import is_compile_log, is_provenance
from tfprof.sources.registry import SOURCES, open_file

SAMPLE = Path(__file__).parents[1] / "samples" / "pytorch" / "compiled.log"
STACK = '  File "/home/a.py", line 7, in forward\n    x = block(x)\n'
TABLE = {"extern_kernels.addmm:1": [STACK], "triton_poi_fused_gelu_0:2": [STACK, STACK]}


def kernels(table=TABLE, **about):
    return inductor_logs.kernels(table, **about)


def read(text):
    data = text if isinstance(text, bytes) else text.encode()
    return inductor_provenance.read(Content.of_bytes("a.log", data))


def names(graph):
    return [kernel.name for kernel in graph.kernels]


def test_a_log_of_pytorch_has_the_graphs_of_both_passes():
    found = inductor_provenance.read(Content(str(SAMPLE)))

    assert [names(graph)[-1] for graph in found.graphs] == [
        "extern_kernels.addmm",
        "cpp_fused_pow_sum_0",
        "extern_kernels.mm",
        "extern_kernels.mm",
    ]
    assert [graph.function.name for graph in found.graphs] == [
        "forward",
        "loss",
        "loss",
        "forward",
    ]
    assert len({graph.key for graph in found.graphs}) == 4
    assert found.damaged == 0


def test_a_kernel_has_the_stacks_of_everything_in_it():
    [graph] = read(kernels()).graphs

    assert graph.kernels == [
        GeneratedKernel("extern_kernels.addmm", (STACK,)),
        GeneratedKernel("triton_poi_fused_gelu_0", (STACK, STACK)),
    ]


def test_kernels_are_in_the_order_of_their_calls():
    [graph] = read(kernels({"b:10": [], "a:9": [STACK], "b:2": []})).graphs

    assert names(graph) == ["b", "a", "b"]


def test_a_table_may_be_a_file_of_its_own():
    [graph] = read(json.dumps(TABLE)).graphs

    assert names(graph) == ["extern_kernels.addmm", "triton_poi_fused_gelu_0"]
    assert (graph.key, graph.function) == ("", None)


def test_a_graph_has_the_key_that_follows_it():
    found = read(kernels() + cached("fa1") + kernels() + cached("fb2", "hit") + cached("fc3"))

    assert [graph.key for graph in found.graphs] == ["fa1", "fb2"]


def test_a_key_of_another_compilation_is_not_that_of_the_graph():
    found = read(kernels(frame=1) + cached("fa1", frame=2))

    assert [graph.key for graph in found.graphs] == [""]


def test_a_graph_has_the_function_that_was_compiled():
    log = kernels(frame=0) + metrics("forward", 5, frame=0) + kernels(frame=1)

    assert [graph.function for graph in read(log).graphs] == [
        CompiledFunction(inductor_logs.FILE, "forward", 5),
        None,
    ]


def test_a_graph_that_was_compiled_without_provenance_is_left_out():
    assert read(kernels("x").replace('"x"', "null")) == ([], 0)


def test_a_graph_without_its_table_is_counted():
    assert read(kernels(None)) == ([], 1)


def test_other_records_are_skipped():
    other = record(["x"], artifact={"name": "inductor_output_code"})
    nested = record({"name": "fx_graph_cache_hit"}, chromium_event={})

    assert read(other + nested + "a line without a record\n") == ([], 0)


def test_a_log_that_is_cut_short_has_the_graphs_before():
    log = SAMPLE.read_bytes()
    whole = [graph.kernels for graph in read(log).graphs]
    cut = [read(log[:end]).graphs for end in range(200, len(log), 97)]

    assert {len(graphs) for graphs in cut} == {0, 1, 2, 3, 4}
    assert all([one.kernels for one in graphs] == whole[: len(graphs)] for graphs in cut)


def test_a_graph_that_is_cut_short_is_counted():
    found = read(kernels() + kernels()[:-40])

    assert (len(found.graphs), found.damaged) == (1, 1)


@pytest.mark.parametrize(
    "payload", [[], 3, {"a:1": "x"}, {"a:1": [3]}, {"a:1": None}, {"a:1": [[STACK]]}]
)
def test_a_damaged_graph_is_left_out_of_a_log_and_counted(payload):
    found = read(kernels(payload) + cached("fa1") + kernels())

    assert (len(found.graphs), found.damaged) == (1, 1)
    assert found.graphs[0].key == ""


@pytest.mark.parametrize("key", [None, 3, "", "a b", "x" * 300, ["f"], "f\n", "\ud800"])
def test_an_impossible_key_is_unknown(key):
    assert [graph.key for graph in read(kernels() + cached(key)).graphs] == [""]


@pytest.mark.parametrize(("name", "line"), [("f", -1), ("f", 1 << 40), ("f", "7"), (None, 3)])
def test_an_impossible_function_is_unknown(name, line):
    assert [graph.function for graph in read(kernels() + metrics(name, line)).graphs] == [None]


@pytest.mark.parametrize(
    ("damage", "trouble"),
    [
        (lambda text: text[:-3], "ends early or is damaged"),
        (lambda text: text.replace("[", "[3, ", 1), "is damaged (TypeError"),
        (lambda text: text.replace("\\n", "\\q"), "ends early or is damaged"),
        (lambda text: text + "[" * 100_000, "damaged"),
    ],
)
def test_a_damaged_table_is_one_line_of_error(damage, trouble):
    with pytest.raises(InputError) as caught:
        read(damage(json.dumps(TABLE)))

    assert trouble in str(caught.value)
    assert "\n" not in str(caught.value)


def test_deep_nesting_is_an_error():
    with pytest.raises(InputError, match="damaged"):
        read('{"a:1": ' + "[" * 200_000)


def test_lines_that_span_pieces_are_whole(tmp_path):
    path = tmp_path / "a.log"
    table = {f"kernel_{number}:{number}": [STACK * 40] for number in range(1500)}
    path.write_text(kernels() + kernels(table) + cached("fa1") + kernels())

    found = inductor_provenance.read(Content(str(path)))

    assert path.stat().st_size > 3 << 20
    assert [len(graph.kernels) for graph in found.graphs] == [2, 1500, 2]
    assert [graph.key for graph in found.graphs] == ["", "fa1", ""]


def test_a_line_without_end_is_cut(monkeypatch):
    monkeypatch.setattr(inductor_provenance, "_LARGEST", 1000)
    long = kernels({"a:1": ["x" * 5000]})

    found = read(kernels() + long + kernels() + long.replace("\n\t", "\n\t" + "\t\n" * 999))

    assert (len(found.graphs), found.damaged) == (2, 2)


def test_the_number_of_kernels_is_limited(monkeypatch):
    monkeypatch.setattr(inductor_provenance, "_MOST_KERNELS", 10)
    many = {f"k{number}:{number}": [STACK] for number in range(11)}

    assert read(kernels() + kernels(many)).damaged == 1
    with pytest.raises(InputError, match="too many kernels"):
        read(json.dumps(many))


def test_graphs_that_repeat_others_share_their_kernels():
    table = {f"kernel_{number}:{number}": [STACK + str(number)] for number in range(50)}
    graphs = read(kernels(table) * 20).graphs

    assert len(graphs) == 20
    assert len({id(kernel) for graph in graphs for kernel in graph.kernels}) == 50


# Recognising files.


@pytest.mark.parametrize(
    "text",
    [
        kernels(),
        json.dumps(TABLE),
        json.dumps(TABLE, indent=2),
        json.dumps({"a:1": [], "b:2": [], "c:3": [STACK]}),
        SAMPLE.read_text(),
    ],
)
def test_both_kinds_are_recognised_under_any_name(text, tmp_path):
    for name, data in (("x", text.encode()), ("y.gz", gzip.compress(text.encode()))):
        (tmp_path / name).write_bytes(data)

        assert open_file(str(tmp_path / name)).source.name == "inductor_provenance"
    content = Content(str(tmp_path / "x"))
    assert [one.name for one in SOURCES if one.looks_like(content)] == ["inductor_provenance"]


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"V",
        b"{",
        b"{}",
        b'{"a:1": []}',
        b'{"a": ["  File \\"a"]}',
        b'{"a:1": ["text"]}',
        b'{"traceEvents": []}',
        b"V1118 03:01:44.612000 9741 torch/a.py:16] [0/0] [__graph_code] text",
        b"V1118 03:01:44.612000 9741 other/a.py:16] {",
    ],
)
def test_other_files_are_not_recognised(head):
    assert not is_provenance(head)
    assert not is_compile_log(head)


def test_recognising_a_hostile_start_ends():
    for head in (b'{"' + b":1" * 32_000, b'{"a:1":[],' * 6500, b"{" + b" " * 65_000):
        assert not is_provenance(head)

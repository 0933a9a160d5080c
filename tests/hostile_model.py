"""The files of a small model in which every text tries to break a page that shows it.

The ops ran on two devices and two allocators, so that every view has something to show.
"""

from __future__ import annotations

from pathlib import Path

from model_files import GraphDef, OpLogProto, RunMetadata, add_node
from tfprof.model.layers import Layer
from tfprof.model.notes import EVERYTHING, Note
from tfprof.sources.layers_file import RecordedLayers, encoded

# If one of these ran, it would open a dialog, write to the console or request something.
TEXTS = {
    "script": "<script>alert('script')</script>",
    "end of script": "</script><script>alert('end')</script>",
    "end of style": "</style></title></textarea><img src=x onerror=alert('style')>",
    "image": "<img src=http://localhost:9/image onerror=alert('image')>",
    "svg": "<svg onload=alert('svg')><style>*{display:none}</style>",
    "comment": "<!-- <!--[if]> --!> -->",
    "cdata": "<![CDATA[ ]]>",
    "attribute": "\" onmouseover=\"alert('attribute')\" x='",
    "link": "javascript:alert('link')",
    "entity": "&lt;b&gt;&amp;#60;&#x3c;b&#x3e;",
    "backslash": "a\\b\\u003cscript\\u003e\\",
    "template": "${alert('template')}`{{1}}`",
    "prototype": "__proto__",
    "constructor": "constructor",
    "column": '{"$column": ["u1", 0, 1]}',
    "long": "long_" + "x" * 10_000,
    "words": "many words " * 300,
    "right to left": "\u202egnp.tpircs\u2067\u05d0\u05d1",
    "combining": "Z\u0351\u036b\u0343\u036a\u0302" * 40,
    "controls": "bell\x07 escape\x1b[31m tab\t line\nreturn\r delete\x7f next\x85",
    "separators": "line\u2028paragraph\u2029 zero\u200bwidth\ufeff",
    "regex": ".*[a-z]{1,9}(?:|)^$",
    "shell": "'; touch /tmp/x; $(touch x) `touch x` #",
    "url": "view=scope&metric=micros#row=1%3C%20+?",
    "emoji": "\U0001f9d1\u200d\U0001f680",
}
DEVICES = (
    "/job:localhost/replica:0/task:0/device:CPU:0",
    "/job:<script>alert('job')</script>/device:GPU:0",
)
INVALID = "/device:INVALID"  # becomes bytes that are not UTF-8
FILE_NAME = "<img src=x onerror=alert('file')>'\"&.pb"


def write(folder: Path) -> list[Path]:
    """Write the files of the model to a folder, and return their paths."""
    texts = list(TEXTS.values())
    contents = {
        FILE_NAME: _graph(texts),
        "run_meta": _runs(texts).replace(INVALID.encode(), b"/device:\xff\xfe\xed\xa0\x80\xc3("),
        "tfprof_log": _log(texts),
        "layers.json": _layers(texts),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in contents]


def op_name(text: str) -> str:
    """The name of the op that a text is part of."""
    return f"net/{text}/op"


def _graph(texts: list[str]) -> bytes:
    graph = GraphDef()
    for place, text in enumerate(texts):
        inputs = [op_name(texts[place - 1])] if place else []
        add_node(graph, f"net/{text}/w", "VariableV2", shape=(3, 4 + place))
        add_node(graph, op_name(text), text, [*inputs, f"net/{text}/w"], output=(2, place))
        graph.node[-1].device = text
    return graph.SerializeToString(deterministic=True)


def _runs(texts: list[str]) -> bytes:
    metadata = RunMetadata()
    for device in (*DEVICES, INVALID):
        entries = metadata.step_stats.dev_stats.add(device=device).node_stats
        for place, text in enumerate(texts, start=1):
            entry = entries.add(
                node_name=op_name(text),
                timeline_label=text,
                all_start_micros=1000 * place,
                op_end_rel_micros=100 * place,
                all_end_rel_micros=100 * place,
            )
            memory = entry.memory.add(allocator_name=text, total_bytes=64 * place)
            memory.allocation_records.add(alloc_micros=1000 * place, alloc_bytes=64 * place)
            memory.allocation_records.add(alloc_micros=1000 * place + 90, alloc_bytes=-32 * place)
    return metadata.SerializeToString(deterministic=True)


def _log(texts: list[str]) -> bytes:
    log = OpLogProto(id_to_string=dict(enumerate(texts, start=1)))
    for number, text in enumerate(texts, start=1):
        for name in (op_name(text), f"net/{text}/w"):
            entry = log.log_entries.add(name=name, types=[text])
            for line in (1, 2):
                entry.code_def.traces.add(
                    file_id=number, lineno=line, function_id=number, line_id=number
                )
    return log.SerializeToString(deterministic=True)


def _layers(texts: list[str]) -> bytes:
    layers = [Layer("net", kind="<b>Model</b>")]
    layers += [Layer(text, 0, text, (-1, 3)) for text in texts]
    weights = {f"net/{text}/w": place for place, text in enumerate(texts, start=1)}
    notes = [Note(text, EVERYTHING) for text in texts[:4]]
    return encoded(RecordedLayers(layers, weights, notes=notes))

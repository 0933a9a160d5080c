"""Damages the samples: cut at every percent of their length, and changed at random.

    python tests/fuzz/damage.py [--changes 1000] [--seed 0] [--recorded] [--only NAME]...

A damaged file must give a correct answer, or an error of one line. An answer is correct if protobuf
reads the same ops from the file; if protobuf refuses parts that tfprof uses, so must tfprof. For
other formats, the invariants of the profile must hold. The first wrong answer of each
sample is stored in `build/fuzz/damage`, and the status is 1.
"""

from __future__ import annotations

import argparse
import gzip
import random
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import tfprof  # noqa: E402 -- after the path is set
from formats.scan_agreement import FORMATS  # noqa: E402
from fuzz.contract import BrokenError, folder  # noqa: E402
from fuzz.mutations import changed  # noqa: E402
from fuzz.questions import ask_some  # noqa: E402
from sources.tf_files import FILES, MESSAGES, content, packed  # noqa: E402
from tfprof.errors import InputError, TfprofError, one_line  # noqa: E402
from tfprof.formats.messages import (  # noqa: E402
    DecodeError,
    Message,
    TextError,
    message_class,
    parse_text,
)
from tfprof.formats.recognise import MessageKind, recognise  # noqa: E402
from tfprof.formats.records import Records  # noqa: E402

SAMPLES = ROOT / "tests" / "samples"
RECORDED = ROOT / "tests" / "parity" / "recorded"
BUILD = ROOT / "build" / "fuzz" / "damage"
CUTS = 100

Expected = Callable[[bytes], set[str] | None]


class Sample(NamedTuple):
    """A file to damage, the files beside it, and the path to load; both relative to a folder.

    `ops` returns the names of the ops that a damaged file defines, or None if it must be refused.
    """

    file: str
    content: bytes
    beside: Mapping[str, bytes] = MappingProxyType({})
    path: str = ""
    ops: Expected | None = None


def samples() -> dict[str, Sample]:
    """All samples by name."""
    found = {
        name: Sample("file", content(name), ops=_EXPECTED.get(kind)) for name, kind in FILES.items()
    }
    text = "mlp_tiny/graph.pbtxt"
    found[text] = found[text]._replace(ops=_graph_text)
    found["packed graph"] = Sample("file.gz", gzip.compress(content("mlp_tiny/graph.pb"), mtime=0))
    found["saved profile"] = Sample("file.tfprof", _saved())
    found |= {f"checkpoint {name}": sample for name, sample in _checkpoints()}
    for file in ("small.keras", "small.h5"):
        found[file] = Sample(file, (SAMPLES / "keras" / file).read_bytes())
    for file in ("checkpoint.pt", "old.pt", "net.pt2", "compiled.log"):
        found[file] = Sample(file, (SAMPLES / "pytorch" / file).read_bytes())
    packed = (SAMPLES / "h200" / "gpt_memory.pickle.gz").read_bytes()
    found["memory snapshot"] = Sample("m.pickle", gzip.decompress(packed))
    found["safetensors"] = Sample("w", (SAMPLES / "pytorch" / "net.safetensors").read_bytes())
    return found


def recorded() -> dict[str, Sample]:
    """The files of the models whose answers were recorded."""
    found = {}
    for path in sorted(RECORDED.glob("*/inputs/*.gz")):
        data = gzip.decompress(path.read_bytes())
        kind = recognise(data).kind
        name = str(path.relative_to(RECORDED).with_suffix(""))
        found[name] = Sample("file", data, ops=_EXPECTED.get(kind))
    return found


def _saved() -> bytes:
    names = ("graph.pb", "run_meta_1", "tfprof_log")
    profile = tfprof.load(*(packed(f"mlp_tiny/{name}") for name in names))
    profile.save(folder() / "saved")
    return (folder() / "saved").read_bytes()


def _checkpoints() -> Iterator[tuple[str, Sample]]:
    """The checkpoints; each of their files is damaged while the others are intact."""
    for prefix in (
        "checkpoints/v1/model.ckpt",
        "checkpoints/v2/model.ckpt",
        "keras/training/ckpt-1",
    ):
        start = SAMPLES / prefix
        files = {
            file.name: file.read_bytes() for file in sorted(start.parent.glob(f"{start.name}*"))
        }
        for name, data in files.items():
            others = {other: files[other] for other in files if other != name}
            yield f"{prefix}: {name}", Sample(name, data, others, start.name)


# What protobuf reads.


def _reader(kind: MessageKind, names: Callable[[Message], Iterable[str]]) -> Expected:
    """The reader of the names of ops; None if the parts that tfprof uses cannot be parsed.

    Attributes and call stacks are parsed when they are used, so damage in them may go unnoticed.
    """

    def read(data: bytes) -> set[str] | None:
        with suppress(DecodeError):
            return set(names(message_class(MESSAGES[kind]).FromString(data)))
        try:
            FORMATS[kind]._parsed(Records("file", data))
        except InputError:
            return None
        return set()

    return read


def _graph_text(data: bytes) -> set[str] | None:
    try:
        parsed = parse_text(MESSAGES[MessageKind.GRAPH], data.decode())
    except (TextError, ValueError):
        return None
    return {node.name for node in parsed.node}


_EXPECTED: dict[str, Expected] = {
    MessageKind.GRAPH: _reader(MessageKind.GRAPH, lambda found: (one.name for one in found.node)),
    MessageKind.PROFILE: _reader(
        MessageKind.PROFILE, lambda found: (one.name for one in found.nodes.values())
    ),
    MessageKind.RUN_META: _reader(MessageKind.RUN_META, lambda _: ()),
    MessageKind.OP_LOG: _reader(MessageKind.OP_LOG, lambda _: ()),
}


# Damage.


def cuts(sample: Sample, count: int = CUTS) -> Iterator[bytes]:
    """The starts of a file, at every percent of its length."""
    for part in range(count):
        yield sample.content[: len(sample.content) * part // count]


def changes(sample: Sample, count: int, seed: int = 0) -> Iterator[bytes]:
    """The file with random changes."""
    chance = random.Random(seed)  # noqa: S311 -- no secret
    for _ in range(count):
        yield changed(chance, [sample.content])


class Files:
    """Writes the files of one sample to a folder in memory."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._folder = folder() / "sample"
        self._folder.mkdir(exist_ok=True)
        for old in self._folder.iterdir():
            old.unlink()
        for name, data in sample.beside.items():
            (self._folder / name).write_bytes(data)

    def check(self, data: bytes, number: int) -> str:
        """Whether a damaged file is `answered`, perhaps partly, or `refused`.

        Raises an exception if the answer is wrong.
        """
        sample = self._sample
        path = self._folder / (sample.path or sample.file)
        (self._folder / sample.file).write_bytes(data)
        try:
            profile = tfprof.load(path)
        except TfprofError as error:
            if not one_line(error):
                raise BrokenError("an error without a message") from error
            return self._check_partial(path, number)
        profile.columns.check()
        self._compare(profile, data)
        ask_some(profile, number)
        return "answered"

    def _check_partial(self, path: Path, number: int) -> str:
        """Whether a file that is refused is `partly answered` with the option for that."""
        try:
            profile = tfprof.load(path, partial=True)
        except TfprofError:
            return "refused"
        profile.columns.check()
        if not any("could be read" in note for note in profile.notes):
            raise BrokenError("a part of a file is answered without a note")
        ask_some(profile, number)
        return "partly answered"

    def _compare(self, profile: tfprof.Profile, data: bytes) -> None:
        if self._sample.ops is None:
            return
        expected = self._sample.ops(data)
        if expected is None:
            raise BrokenError("tfprof answers, but protobuf refuses parts that it uses")
        if not expected <= set(profile.columns.ops.name):
            raise BrokenError("tfprof reads other ops than protobuf")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--changes", type=int, default=1000, help="of each sample")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--recorded", action="store_true", help="also the files in tests/parity")
    parser.add_argument("--only", action="append", help="these samples only")
    options = parser.parse_args()
    warnings.simplefilter("error")
    total = Counter()
    for name, sample in (samples() | (recorded() if options.recorded else {})).items():
        if options.only and name not in options.only:
            continue
        began, outcomes = time.monotonic(), Counter()
        files = Files(sample)
        for number, data in enumerate(
            (*cuts(sample), *changes(sample, options.changes, options.seed))
        ):
            try:
                outcomes[files.check(data, number)] += 1
            except Exception:  # noqa: BLE001 -- each is a finding
                if not outcomes["wrong"]:
                    _keep(name, data)
                outcomes["wrong"] += 1
        total += outcomes
        found = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(outcomes.items()))
        print(f"{name}: {found}, {time.monotonic() - began:.0f} s", flush=True)
    print(
        f"{total.total():,} files: " + ", ".join(f"{total[key]:,} {key}" for key in sorted(total))
    )
    return 1 if total["wrong"] else 0


def _keep(name: str, data: bytes) -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    path = BUILD / "".join(char if char.isalnum() else "_" for char in name)
    path.write_bytes(data)
    path.with_suffix(".txt").write_text(traceback.format_exc(), errors="backslashreplace")
    print(f"{path}: {traceback.format_exc().splitlines()[-1][:200]}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

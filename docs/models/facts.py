"""The numbers of a model: of the live program, of the files, and of TensorFlow's profiler."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Self

import tfprof

BATCH_SIZES = (1, 3, 32)
_RECORDED = Path(__file__).with_name("facts.json")


@dataclass(frozen=True, slots=True)
class Live:
    """The numbers of a model in memory. Float operations are by batch size."""

    name: str
    input: tuple[int, ...]
    params: int  # according to Keras
    trainable: int
    float_ops: dict[int, int]
    profiler: dict[str, int]  # float ops by op kind for one example, by TensorFlow's profiler

    @classmethod
    def of(cls, value: dict[str, Any]) -> Self:
        return cls(
            **{
                **value,
                "input": tuple(value["input"]),
                "float_ops": _by_batch_size(value["float_ops"]),
            }
        )

    @classmethod
    def read(cls, path: Path) -> Self:
        return cls.of(json.loads(path.read_text("utf-8")))

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class OfFile:
    """The numbers that tfprof reads from a file. Float operations are by batch size."""

    params: int
    trainable: int
    float_ops: dict[int, int]
    macs: int  # for one example
    kinds: dict[str, int]  # float ops by op kind, for one example
    not_counted: tuple[str, ...] = ()  # kinds of ops, for one example

    @classmethod
    def of(cls, value: dict[str, Any]) -> Self:
        return cls(
            **{
                **value,
                "float_ops": _by_batch_size(value["float_ops"]),
                "not_counted": tuple(value["not_counted"]),
            }
        )

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a SavedModel or a frozen graph."""
        profiles = {size: tfprof.load(path, batch_size=size) for size in BATCH_SIZES}
        single = profiles[1]
        ledger = single.flops()
        return cls(
            params=_total(single, "params"),
            trainable=_total(single, "params", account_type_regexes=["_trainable_variables"]),
            float_ops={size: each.flops().float_ops for size, each in profiles.items()},
            macs=_total(single, "macs"),
            kinds={entry.kind: entry.float_ops for entry in ledger if entry.float_ops},
            not_counted=tuple(sorted(entry.kind for entry in ledger.uncounted)),
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that the page shows of a model."""

    live: Live
    exported: OfFile
    frozen: OfFile | None = None

    @classmethod
    def of(cls, value: dict[str, Any]) -> Self:
        frozen = value["frozen"]
        return cls(
            Live.of(value["live"]),
            OfFile.of(value["exported"]),
            None if frozen is None else OfFile.of(frozen),
        )

    @classmethod
    def read(cls, name: str, folder: Path) -> Self:
        """Read what `record.py` wrote to a folder."""
        frozen = folder / f"{name}.frozen.pb"
        return cls(
            Live.read(folder / f"{name}.json"),
            OfFile.read(folder / name),
            OfFile.read(frozen) if frozen.exists() else None,
        )


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the page is generated from: the facts of all models, and the versions that made them."""

    versions: dict[str, str]
    models: dict[str, Facts]

    @classmethod
    def read(cls) -> Self:
        if not _RECORDED.exists():
            return cls({}, {})
        value = json.loads(_RECORDED.read_text("utf-8"))
        models = {name: Facts.of(each) for name, each in value["models"].items()}
        return cls(value["versions"], models)

    def write(self) -> None:
        text = json.dumps(asdict(self), indent=1)
        # One line per list: they are short.
        text = re.sub(r"\[[^\[\]{}]*\]", lambda found: " ".join(found[0].split()), text)
        _RECORDED.write_text(text + "\n", encoding="utf-8")


def installed_versions() -> dict[str, str]:
    """The versions of the frameworks that build the models."""
    installed = {each.name: each.version for each in metadata.distributions()}
    tensorflow = installed.get("tensorflow_cpu") or installed.get("tensorflow-cpu")
    return {
        "TensorFlow": tensorflow or installed.get("tensorflow", "?"),
        "Keras": installed.get("keras", "?"),
    }


def _by_batch_size(values: dict[str, int]) -> dict[int, int]:
    return {int(size): number for size, number in values.items()}


def _total(profile: tfprof.Profile, metric: str, **options: Any) -> int:
    root = profile.scope(select=[metric], max_depth=1, **options)["_TFProfRoot"]
    return int(root[f"total_{metric}"])

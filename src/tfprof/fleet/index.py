"""Builds the index of a store: the whole model, and where the rows of each partition are in it.

The result depends only on the partitions, which are added in the order of their paths, so it does
not matter when and where each was collected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from tfprof.columns import Bools, Coded, Ints, ints, joined
from tfprof.errors import InputError
from tfprof.fleet import layout
from tfprof.fleet.places import Place
from tfprof.fleet.tables import TABLES
from tfprof.formats import parquet
from tfprof.formats.profile_tables import Kind
from tfprof.metrics import Need
from tfprof.model.builder import ProfileBuilder
from tfprof.model.devices import Device, Role
from tfprof.model.merging import add_profile
from tfprof.model.notes import EVERYTHING, Note, Subject, of_names
from tfprof.model.recordings import Recording
from tfprof.outputs import profile_file
from tfprof.sources.profile_file import loaded
from tfprof.sources.tf_run_metadata import next_step
from tfprof.sources.tf_workers import RUN_META, recording_of
from tfprof.units import counted

_MOST_NAMED = 3
_TYPES = {Kind.FLAG: np.bool_}
_DEVICE = Device("", Role.HOST, False, False, "")

Row = TypeVar("Row", bound=tuple[Any, ...])


def update(place: Place, obsolete: Collection[str] = ()) -> int:
    """Replace the index of a store, and remove partitions that are obsolete or replaced by others.

    Returns the number of partitions.
    """
    found = layout.manifests(place)
    manifests = _latest({id_: found[id_] for id_ in found if id_ not in obsolete})
    index = _Index(place)
    for id_, manifest in manifests.items():
        try:
            index.add(id_, manifest)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            reason = f"is damaged ({error!r}): remove it, and collect the file again."
            raise InputError(place.at(layout.manifest_path(id_)), reason) from None
    written = {name: (layout.index_path(name, data), data) for name, data in index.files().items()}
    for path, data in written.values():
        place.write(path, data)
    paths = {name: path for name, (path, _) in written.items()}
    place.write(layout.INDEX, index.content(manifests, paths))
    layout.remove(place, {id_: found[id_] for id_ in found if id_ not in manifests})
    for name in place.list(layout.INDEXES):
        if name not in (layout.INDEX, *paths.values()):
            place.remove(name)
    return len(manifests)


def _latest(found: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The manifests of all partitions in canonical order, without older versions of files."""
    order = sorted(
        found, key=lambda id_: (layout.natural(found[id_]["source"]), found[id_]["modified"], id_)
    )
    latest = {(found[id_]["source"], found[id_]["step"]): id_ for id_ in order}
    return {id_: found[id_] for id_ in order if id_ in set(latest.values())}


class _Index:
    """The index that is being built."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._builder = ProfileBuilder()
        self._ids_of: dict[str, Ints] = {}  # the ids of the ops of each model
        self._seen = np.zeros(0, np.bool_)  # for each op, whether a partition has it
        self._steps: list[tuple[int, Ints]] = []
        self._devices: list[tuple[int, Ints]] = []
        self._notes: list[Note] = []

    def add(self, id_: str, manifest: Mapping[str, Any]) -> None:
        """Add a partition; the order matters."""
        self._notes += [of_names(text, about) for text, about in manifest.get("notes", [])]
        if manifest.get("trouble"):
            self._notes.append(Note(f"not collected: {manifest['trouble']}", EVERYTHING))
            return
        ids = self._ids(manifest["model"])
        builder = self._builder
        builder.remedies |= {Need(need): str(text) for need, text in manifest["remedies"].items()}
        if manifest["lacks_accelerator_time"]:
            builder.mark_lacks_accelerator_time()
        if manifest["lacks_host_allocations"]:
            builder.mark_lacks_host_allocations()
        if manifest["recording"] is not None:
            self._add_recording(id_, manifest, ids)

    def _ids(self, digest: str) -> Ints:
        """The ids of the ops of a partition, added if they are new."""
        if digest not in self._ids_of:
            path = layout.model_path(digest)
            found = loaded(self._place.at(path), self._place.read_bytes(path)).profile
            self._ids_of[digest] = add_profile(self._builder, found)
        return self._ids_of[digest]

    def _add_recording(self, id_: str, manifest: Mapping[str, Any], ids: Ints) -> None:
        builder = self._builder
        steps, seen = (self._table(manifest, name) for name in ("steps", "seen"))
        devices = [
            _alike(Device(name, Role(role), *rest), _DEVICE)
            for name, role, *rest in manifest["devices"]
        ]
        described = _alike(
            Recording(**manifest["recording"], file=manifest["source"]), Recording("")
        )
        if described.source == RUN_META:
            names = [device.name for device in devices]
            step = manifest["step"]
            row = recording_of(builder, manifest["source"], names, step, "")
            number = next_step(builder.runs.step_numbers(row)) if step is None else step
            numbers = ints([number])
        else:
            row = builder.add_recording(described)
            numbers = ints(steps["number"])
        step_ids = ints([builder.runs.add_step(row, one) for one in numbers.tolist()])
        bounded = np.flatnonzero(steps["marked_start_ns"] >= 0)
        builder.runs.set_bounds(
            step_ids[bounded], steps["marked_start_ns"][bounded], steps["marked_end_ns"][bounded]
        )
        builder.runs.set_setup(step_ids, steps["setup_ns"])
        codes = ints([*(builder.add_device(row, device) for device in devices), -1])
        moved = self._place_ops(row, ids[seen["op"]], codes[seen["device"]], seen["is_covered"])
        if moved:
            ops = counted(moved, "op ran", "ops ran")
            place = f"{manifest['source']}: {ops}"
            text = f"{place} on another device than in earlier steps; both count."
            self._notes.append(Note(text, Subject.TIME | Subject.MEMORY))
        builder.add_kernels(row, ids[seen["op"]], seen["kernel"])
        part = layout.number_of(id_)
        self._steps.append((part, step_ids))
        self._devices.append((part, codes[:-1]))

    def _table(self, manifest: Mapping[str, Any], name: str) -> dict[str, Any]:
        """A table of a partition, which has no file if it is empty."""
        if name in manifest["tables"]:
            return layout.read_table(self._place, manifest["tables"][name], TABLES[name].fields)
        kinds = TABLES[name].fields.items()
        return {
            key: Coded.of([])
            if field.kind is Kind.WORD
            else np.zeros(0, _TYPES.get(field.kind, np.int64))
            for key, field in kinds
        }

    def _place_ops(self, row: int, ops: Ints, devices: Ints, is_covered: Bools) -> int:
        """Place ops where they were seen; returns how many are placed elsewhere already."""
        builder = self._builder
        was_seen = np.zeros(len(builder), np.bool_)
        was_seen[: len(self._seen)] = self._seen
        builder.mark_covered(ops[is_covered | was_seen[ops]])
        was_seen[ops] = True
        self._seen = was_seen
        placed = devices >= 0
        home = builder.place(row, ops[placed], devices[placed])
        return int((home[ops[placed]] != devices[placed]).sum())

    def files(self) -> dict[str, bytes]:
        """The model and the tables of the index, by name."""
        builder = self._builder
        step_keys = list(builder.runs.step_keys())
        columns = builder.build()
        notes = _merged(self._notes)
        row_of = {
            key: row
            for row, key in enumerate(
                zip(columns.steps.recording.tolist(), columns.steps.number.tolist(), strict=True)
            )
        }
        rows = ints([row_of[key] for key in step_keys])
        return {
            "model.tfprof": profile_file.encoded(columns, notes),
            "steps.parquet": _mapping("step", [(part, rows[ids]) for part, ids in self._steps]),
            "devices.parquet": _mapping("device", self._devices),
            "ops.parquet": self._op_rows(columns.ops.defined),
        }

    def content(
        self, manifests: Mapping[str, Mapping[str, Any]], paths: Mapping[str, str]
    ) -> bytes:
        """What `index.json` says."""
        return _json(
            {
                "format": layout.FORMAT,
                "version": layout.VERSION,
                "files": dict(paths),
                "models": list(self._ids_of),
                "partitions": {
                    id_: {
                        "source": manifest["source"],
                        "trouble": manifest.get("trouble"),
                        "model": manifest.get("model"),
                        "tables": manifest.get("tables", {}),
                        "checksums": manifest.get("checksums", {}),
                    }
                    for id_, manifest in manifests.items()
                },
            }
        )

    def _op_rows(self, id_of_row: Ints) -> bytes:
        """The table of which op of the store each op of a model is."""
        row_of = np.empty(len(id_of_row), np.int64)
        row_of[id_of_row] = np.arange(len(id_of_row))
        counts = [len(ids) for ids in self._ids_of.values()]
        return _written(
            model=np.repeat(np.arange(len(counts)), counts),
            op=joined([np.arange(count) for count in counts]),
            row=joined([row_of[ids] for ids in self._ids_of.values()]),
        )


def _alike(row: Row, example: Row) -> Row:
    """The row, if its values have the types of the example."""
    for value, other in zip(row, example, strict=True):
        if type(value) is not type(other) or (type(value) is int and abs(value) >= 1 << 63):
            raise TypeError(f"{value!r} is wrong")
    return row


def _mapping(name: str, rows: Sequence[tuple[int, Ints]]) -> bytes:
    """The table of where the rows of each partition are."""
    counts = [len(found) for _, found in rows]
    columns: dict[str, parquet.Column] = {
        "part": np.repeat(ints([part for part, _ in rows]), counts),
        name: joined([np.arange(count) for count in counts]),
        "row": joined([found for _, found in rows]),
    }
    return _written(**columns)


def _written(**columns: parquet.Column) -> bytes:
    return b"".join(parquet.write(columns))


def _json(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=1, ensure_ascii=True) + "\n").encode()


def _merged(notes: Sequence[Note]) -> list[Note]:
    """The notes; those that differ only in the path of the file become one."""
    groups: dict[str, list[Note]] = {}
    for note in notes:
        groups.setdefault(_kind(note), []).append(note)
    return list(_shortened(groups))


def _kind(note: str) -> str:
    """A note without the path at its beginning and without numbers."""
    _, _, rest = note.partition(" ")
    return re.sub(r"[0-9][0-9,.]*", "0", rest)


def _shortened(groups: Mapping[str, Sequence[Note]]) -> Iterator[Note]:
    for found in groups.values():
        yield from found[:1]
        if len(found) > 1:
            others = counted(len(found) - 1, "other file", "other files")
            yield Note(f"the same holds for {others}: {_named(found[1:])}.", found[0].about)


def _named(notes: Sequence[Note]) -> str:
    paths = [note.partition(" ")[0].rstrip(":") for note in notes[:_MOST_NAMED]]
    more = ", …" if len(notes) > _MOST_NAMED else ""
    return ", ".join(paths) + more

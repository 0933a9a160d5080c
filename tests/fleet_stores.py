"""Stores for tests, collected in this process."""

import json
from pathlib import Path

import tfprof
from tfprof.fleet import index, layout
from tfprof.fleet.partition import Task, made
from tfprof.fleet.places import Place, stamp_of


def stored(folder, runs, common=(), *, keeps_runs=False):
    """The profile of a store with these files; runs may be pairs of step and path."""
    place = Place.of(str(folder))
    mark = {"format": layout.FORMAT, "version": layout.VERSION}
    place.write(layout.MARK, json.dumps(mark).encode())
    for run in runs:
        step, path = run if isinstance(run, tuple) else (None, run)
        stamp = stamp_of(str(path))
        source, files = str(Path(path).absolute()), tuple(map(str, common))
        task = Task(source, stamp.size, stamp.modified, step, files, keeps_runs)
        found = made(task, source, files)
        for name, data in found.files.items():
            place.write(name, data)
        place.write(layout.manifest_path(task.id), json.dumps(found.manifest).encode())
    index.update(place)
    return tfprof.load(folder)

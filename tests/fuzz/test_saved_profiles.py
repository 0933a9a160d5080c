"""Saved profiles whose tables were changed by hand are refused, or answered without a crash."""

import contextlib
import io
import random
import zipfile

import numpy as np
import pytest

import tfprof
from sources.tf_files import packed
from tfprof.api import Profile
from tfprof.columns import Coded, ints
from tfprof.errors import TfprofError
from tfprof.formats import parquet
from tfprof.formats.profile_tables import TABLES
from tfprof.metrics import METRICS
from tfprof.model.builder import ProfileBuilder
from tfprof.model.layers import Layer
from tfprof.model.merging import add_profile
from tfprof.outputs import perfetto, profile_file, profile_proto
from tfprof.sources.profile_file import loaded

SEEDS = range(40)
SELECT = [metric.key for metric in METRICS if metric.key != "tensor_value"]
ODD_NUMBERS = (0, 1, 2, -1, -2, 2**62, -(2**63), 150)


@pytest.fixture(scope="module")
def saved():
    """The members of a saved profile, and its tables."""
    names = ("graph.pb", "run_meta_0", "tfprof_log")
    columns = tfprof.load(*(packed(f"gpu_synth/{name}") for name in names)).columns
    with zipfile.ZipFile(io.BytesIO(profile_file.encoded(completed(columns)))) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    return contents, {name: parquet.read(contents[f"{name}.parquet"]) for name in TABLES}


def completed(columns):
    """The same profile with three layers, which share its ops, and a wait for input."""
    builder = ProfileBuilder()
    add_profile(builder, columns)
    layers = builder.add_layers([Layer("m"), Layer("a", 0, "Dense", (-1, 3)), Layer("b", 0)])
    ops = builder.ids(columns.ops.name)
    builder.set_layer(ops, layers[ops % 3])
    builder.runs.add_waits(step=ints([0]), start_ns=ints([5]), duration_ns=ints([3]))
    return builder.build()


def changed(saved, chance):
    """The same file with one value of one column changed."""
    contents, tables = saved
    table = chance.choice([name for name in TABLES if len(next(iter(tables[name].values())))])
    columns = dict(tables[table])
    numbers = [
        name for name in TABLES[table].fields if isinstance(columns[name], np.ndarray | Coded)
    ]
    if numbers:
        name = chance.choice(numbers)
        columns[name] = spoiled(columns[name], chance)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for member, content in contents.items():
            is_changed = member == f"{table}.parquet"
            archive.writestr(member, b"".join(parquet.write(columns)) if is_changed else content)
    return out.getvalue()


def spoiled(column, chance):
    if isinstance(column, Coded):
        codes = column.codes.copy()
        codes[chance.randrange(len(codes))] = chance.randrange(len(column.values))
        return Coded(codes, column.values)
    values = column.copy()
    row = chance.randrange(len(values))
    values[row] = not values[row] if values.dtype == np.bool_ else chance.choice(ODD_NUMBERS)
    return values


def questions(profile):
    """Everything that can be asked or written."""
    for view in ("scope", "graph", "code", "op", "layers"):
        yield lambda view=view: getattr(profile, view)(select=SELECT).table
    yield lambda: profile.memory().report
    yield lambda: profile.advise().text()
    yield lambda: profile.flops().report
    yield lambda: [b"".join(part.pieces) for part in perfetto.parts(profile.graph().view)]
    yield lambda: profile_file.encoded(profile.columns)
    yield lambda: list(profile_proto.encode(profile.columns))


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_changed_table_is_refused_or_answered(seed, saved):
    data = changed(saved, random.Random(seed))  # noqa: S311 -- no secret
    with contextlib.suppress(TfprofError):
        profile = Profile(loaded("changed", data).profile)
        for question in questions(profile):
            with contextlib.suppress(TfprofError):
                question()


def test_some_changed_tables_are_loaded_and_some_refused(saved):
    refused = 0
    for seed in SEEDS:
        try:
            loaded("changed", changed(saved, random.Random(seed)))  # noqa: S311 -- no secret
        except TfprofError:
            refused += 1
    assert 5 < refused < 35

"""A store that is damaged, or made to do harm, gives an answer or an error of one line."""

import json
import shutil
import tempfile
import zlib
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from fleet_stores import stored
from fleets import Job, generated
from tfprof.api import sql_tables
from tfprof.cli import main
from tfprof.fleet import index as store_index
from tfprof.fleet import layout
from tfprof.fleet.places import Place
from tfprof.fleet.tables import TABLES
from tfprof.formats import parquet

EXAMPLES = Path(__file__).parents[2] / "examples"
WORKERS = sorted((EXAMPLES / "two_workers").glob("worker*/*.gz"))
VALUES = (
    *(None, -1, 2**70, 1.5, True, "", "x", "\0", "a'b", "records/*.parquet", [], {}, [1], {"a": 1}),
    *("../../secret", "/etc/passwd", "records/../../secret.parquet"),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A store of a trace, with memory and collectives, and one of workers with different ops."""
    folder = tmp_path_factory.mktemp("stores")
    paths = generated(folder / "traces", Job(hosts=2, steps=2, layers=2, has_gpu=True))
    stored(folder / "trace", paths[:1])
    stored(folder / "workers", WORKERS[:2])
    return folder


@pytest.fixture
def store(whole, tmp_path):
    """A copy of the store of a trace."""
    shutil.copytree(whole / "trace", tmp_path / "store")
    return tmp_path / "store"


def ask(folder):
    """Ask a store a few questions; an error of tfprof is an answer."""
    questions = (
        lambda store: str(store.scope(select="micros,bytes,params,device")),
        lambda store: str(store.scope(select="micros", rank=[0])),
        lambda store: store.step_times().report,
        lambda store: store.ranks().report,
        lambda store: str(store.memory()),
        lambda store: store.info().to_dict(),
        *(
            lambda store, table=table: list(sql_tables(store).rows(f"FROM {table}").batches)
            for table in ("hosts", "runs", "held")
        ),
    )
    try:
        store = tfprof.load(folder)
    except tfprof.TfprofError as error:
        return [one_line(error)]
    return [answered(store, question) for question in questions]


def answered(store, question):
    try:
        return question(store)
    except tfprof.TfprofError as error:
        return one_line(error)


def one_line(error):
    assert "\n" not in str(error)
    return str(error)


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


# Files that were changed. The tier `random` changes them in other ways.


def flipped(data, place, bits):
    return data[:place] + bytes([data[place] ^ bits]) + data[place + 1 :]


def changes(data, others):
    """A file that is cut, damaged, or exchanged for another one."""
    size = len(data)
    for length in (0, 1, size // 4, size // 2, size * 3 // 4, size - 1):
        yield data[:length]
    for place in range(0, size, size // 4):
        yield flipped(data, place, 1 << place % 8)
    yield from (bytes(size), b"\xff" * size, data * 2, b"x")
    yield from (other.read_bytes() for other in others)


def test_the_mark_and_the_index_may_be_changed(store):
    files = [store / layout.MARK, *files_of(store / layout.INDEXES)]
    for path in files:
        before = path.read_bytes()
        for changed in changes(before, [file for file in files if file != path]):
            path.write_bytes(changed)

            ask(store)

        path.write_bytes(before)


@pytest.mark.parametrize("name", [layout.PARTITIONS, layout.MODELS])
def test_manifests_and_models_may_be_changed(whole, tmp_path, name):
    (file,) = files_of(whole / "trace" / name)
    for number, changed in enumerate(changes(file.read_bytes(), files_of(whole / "trace"))):
        folder = tmp_path / str(number)
        shutil.copytree(whole / "trace", folder)
        (folder / name / file.name).write_bytes(changed)

        assert is_indexed_or_refused(folder)


def is_indexed_or_refused(folder):
    """Whether a new index is made, or the error names a file."""
    answer = answered(Place.of(str(folder)), store_index.update)
    return isinstance(answer, int) or answer.startswith(str(folder))


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        (
            "trace",
            (
                *("allocators", "collectives", "device_times", "held", "levels"),
                *("records", "seen", "steps"),
            ),
        ),
        ("workers", ("transfers",)),
    ],
)
def test_a_changed_table_is_refused_by_its_checksum(whole, tmp_path, name, tables):
    shutil.copytree(whole / name, tmp_path / name)
    for table in tables:
        path = files_of(tmp_path / name / table)[-1]
        before = path.read_bytes()
        path.write_bytes(flipped(before, len(before) // 2, 1))

        message = f"{path}: is damaged: its checksum differs; remove the store and collect again."
        assert message in ask(tmp_path / name)
        path.write_bytes(before)


def test_the_stores_of_these_tests_have_all_tables(whole):
    assert {path.name for name in ("trace", "workers") for path in (whole / name).iterdir()} == {
        *(layout.MARK, layout.INDEXES, layout.PARTITIONS, layout.MODELS),
        *(TABLES.keys() - {"executions"}),  # which are kept on request
    }


# Wrong values in JSON.


def places_of(content, above=()):
    keys = content if isinstance(content, dict) else range(len(content))
    for key in keys:
        yield (*above, key)
        if isinstance(content[key], dict | list):
            yield from places_of(content[key], (*above, key))


def with_value(text, place, value):
    """A JSON file with another value at a place."""
    content = json.loads(text)
    *above, last = place
    inner = content
    for key in above:
        inner = inner[key]
    inner[last] = value
    return json.dumps(content)


def with_wrong_values(text, count):
    """A JSON file with each of its values replaced by some wrong values in turn."""
    values = cycle(VALUES)
    for place in places_of(json.loads(text)):
        for value in islice(values, count):
            yield with_value(text, place, value)


@pytest.mark.parametrize(("name", "count"), [(layout.MARK, 4), (layout.INDEX, 2)])
def test_any_value_of_a_json_file_may_be_wrong(store, name, count):
    for changed in with_wrong_values((store / name).read_text(), count):
        (store / name).write_text(changed)

        ask(store)


def test_any_value_of_a_manifest_may_be_wrong(store):
    (path,) = files_of(store / layout.PARTITIONS)
    for changed in with_wrong_values(path.read_text(), 1):
        path.write_text(changed)

        assert is_indexed_or_refused(store)


@st.composite
def changed_files(draw, folder):
    """A file of a store, and what it contains instead."""
    path = draw(st.sampled_from(files_of(folder)))
    data = path.read_bytes()
    places = st.integers(0, len(data) - 1)
    ways = [
        st.builds(lambda length: data[:length], places),
        st.builds(partial(flipped, data), places, st.integers(1, 255)),
        st.sampled_from(files_of(folder)).map(Path.read_bytes),
        st.binary(max_size=300),
    ]
    if path.suffix == ".json":
        values = st.sampled_from(list(places_of(json.loads(data)))), st.sampled_from(VALUES)
        ways.append(st.builds(partial(with_value, data), *values).map(str.encode))
    return path, draw(st.one_of(ways))


@pytest.mark.random
@given(st.data(), st.sampled_from(["trace", "workers"]), st.booleans())
def test_any_file_may_be_changed_in_any_way(whole, data, name, is_sealed):
    """Also tables whose checksums in the index are those of the changed files."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / name
        shutil.copytree(whole / name, store)
        path, changed = data.draw(changed_files(store))
        if is_sealed and path.relative_to(store).parts[0] in TABLES:
            write_sealed(store, path, changed)
        else:
            path.write_bytes(changed)

        ask(store)
        assert is_indexed_or_refused(store)


def test_nested_json_is_refused(store):
    (store / layout.INDEX).write_text('{"a":' * 100_000)

    assert ask(store) == [
        f"{store}/{layout.INDEX}: is damaged: collect the files again into another folder."
    ]


NAMES = (
    "../secret.parquet",
    "/etc/passwd",
    "records/../../secret.parquet",
    "records/*.parquet",
    "steps/x.parquet",
    "records/host=?/x.parquet",
    "",
    "records/\0.parquet",
    "s3://bucket/x",
)


@pytest.mark.parametrize("name", NAMES)
def test_the_index_cannot_name_files_outside_the_store(store, name):
    """Not even a readable table of another store."""
    records = next((store / "records").rglob("*.parquet"))
    shutil.copy(records, store.parent / "secret.parquet")
    content = json.loads((store / layout.INDEX).read_text())
    for partition in content["partitions"].values():
        partition["tables"]["records"] = name
    (store / layout.INDEX).write_text(json.dumps(content))

    (message,) = ask(store)

    assert message.startswith(f"{store}/{layout.INDEX}: is damaged (")
    assert layout.CONTINUE in message


def test_the_path_of_a_store_may_have_quotes(whole, tmp_path):
    folder = tmp_path / 'it\'s; DROP TABLE "x" -- '
    shutil.copytree(whole / "trace", folder)

    assert ask(folder)[2:4] == ask(whole / "trace")[2:4]


WRONG_ROWS = [
    ("steps", "row", 10**6),
    ("steps", "row", -1),
    ("steps", "part", 5),
    ("steps", "step", 0),
    ("ops", "row", 10**6),
    ("ops", "model", 3),
    ("ops", "op", 0),
    ("devices", "row", 10**6),
    ("devices", "device", -5),
]


@pytest.mark.parametrize(("table", "column", "value"), WRONG_ROWS)
def test_rows_of_the_index_must_exist(store, table, column, value):
    (path,) = (store / "index").glob(f"{table}-*.parquet")
    columns = dict(parquet.read(path.read_bytes()))
    columns[column] = columns[column].copy()
    columns[column][-1] = value
    path.write_bytes(b"".join(parquet.write(columns)))

    (message,) = ask(store)

    assert "damaged" in message
    assert message.startswith(str(store))


@pytest.mark.parametrize("table", ["records", "seen", "collectives", "held"])
def test_ops_of_a_table_must_exist(store, table):
    for path in (store / table).rglob("*.parquet"):
        columns = dict(parquet.read(path.read_bytes()))
        columns["op"] = columns["op"] + 10**6
        write_table(store, path, columns)

    message = f"{store}: cannot be read: a run belongs to no op; collect the files again."
    assert message in ask(store)


def write_table(store, path, columns):
    write_sealed(store, path, b"".join(parquet.write(columns)))


def write_sealed(store, path, data):
    """Replace a table, and its checksum in the index."""
    path.write_bytes(data)
    content = json.loads((store / layout.INDEX).read_text())
    table = path.relative_to(store).parts[0]
    content["partitions"][path.stem]["checksums"][table] = zlib.crc32(data)
    (store / layout.INDEX).write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("table", "column", "reason"),
    [
        ("steps", "step", "an accelerator ran something in no step"),
        ("allocators", "trace", "the memory of an allocator has no levels"),
    ],
)
def test_rows_of_other_tables_must_exist(store, table, column, reason):
    (path,) = files_of(store / table)
    columns = dict(parquet.read(path.read_bytes()))
    columns[column] = columns[column].copy()
    columns[column][0] += 10**6
    write_table(store, path, columns)

    assert f"{store}: cannot be read: {reason}; collect the files again." in ask(store)


def test_a_column_of_another_type_is_an_error(store):
    for path in (store / "records").rglob("*.parquet"):
        columns = dict(parquet.read(path.read_bytes()))
        columns["runs"], columns["op"] = columns["op"] > 1, columns["op"]
        del columns["cpu_nanos"]
        write_table(store, path, columns)

    assert all(f"{store}: cannot be read: " in message for message in ask(store)[:2])


def test_a_damaged_store_is_one_line_and_status_1(store, capsys):
    (store / layout.INDEX).write_text('{"format": "tfprof store", "version": 2}')

    assert main(["scope", str(store)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"tfprof: {store}/{layout.INDEX}: is damaged (KeyError('models'")
    assert captured.err.count("\n") == 1

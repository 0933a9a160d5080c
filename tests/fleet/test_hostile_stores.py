"""A store that is damaged, or made to do harm, gives an answer or an error of one line."""

import json
import random
import shutil
import zlib
from pathlib import Path

import pytest

import tfprof
from fleet_stores import stored
from fleets import Job, generated
from tfprof.api import sql_tables
from tfprof.cli import main
from tfprof.fleet import index as store_index
from tfprof.fleet import layout
from tfprof.fleet.places import Place
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


def kinds_of(folder):
    """A file of each kind."""
    return {
        (path.relative_to(folder).parts[0], path.name.partition("-")[0][:6]): path
        for path in files_of(folder)
    }.values()


@pytest.mark.parametrize("name", ["trace", "workers"])
@pytest.mark.parametrize("seed", range(3))
def test_any_file_may_be_changed(whole, tmp_path, name, seed):
    shutil.copytree(whole / name, tmp_path / name)
    draw = random.Random(f"{name} {seed}")  # noqa: S311 -- always the same
    others = files_of(tmp_path / name)
    for path in kinds_of(tmp_path / name):
        before = path.read_bytes()
        for change in (cut, flipped, replaced, garbage):
            path.write_bytes(change(before, draw, others))

            ask(tmp_path / name)

        path.write_bytes(before)


def cut(data, draw, _):
    return data[: draw.randrange(len(data))]


def flipped(data, draw, _):
    changed = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        changed[draw.randrange(len(data))] = draw.randrange(256)
    return bytes(changed)


def replaced(_, draw, others):
    return draw.choice(others).read_bytes()


def garbage(_, draw, __):
    return draw.randbytes(draw.randrange(300))


@pytest.mark.parametrize("name", [layout.MARK, layout.INDEX])
def test_any_value_of_a_json_file_may_be_wrong(store, name):
    draw = random.Random(7)  # noqa: S311 -- always the same
    before = (store / name).read_text()
    for place in places_of(json.loads(before)):
        for value in draw.sample(VALUES, 4):
            content = json.loads(before)
            *above, last = place
            inner = content
            for key in above:
                inner = inner[key]
            inner[last] = value
            (store / name).write_text(json.dumps(content))

            ask(store)


def places_of(content, above=()):
    keys = content if isinstance(content, dict) else range(len(content))
    for key in keys:
        yield (*above, key)
        if isinstance(content[key], dict | list):
            yield from places_of(content[key], (*above, key))


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
    """Replace a table, and its checksum in the index."""
    data = b"".join(parquet.write(columns))
    path.write_bytes(data)
    content = json.loads((store / layout.INDEX).read_text())
    table = path.relative_to(store).parts[0]
    content["partitions"][path.stem]["checksums"][table] = zlib.crc32(data)
    (store / layout.INDEX).write_text(json.dumps(content))


def test_a_changed_number_is_noticed(store):
    draw = random.Random(9)  # noqa: S311 -- always the same
    (path,) = (store / "records").rglob("*.parquet")
    before = path.read_bytes()
    for _ in range(20):
        data = bytearray(before)
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        path.write_bytes(data)

        assert f"{path}: is damaged: its checksum differs" in ask(store)[0]


def test_a_column_of_another_type_is_an_error(store):
    for path in (store / "records").rglob("*.parquet"):
        columns = dict(parquet.read(path.read_bytes()))
        columns["runs"], columns["op"] = columns["op"] > 1, columns["op"]
        del columns["cpu_nanos"]
        write_table(store, path, columns)

    assert all(f"{store}: cannot be read: " in message for message in ask(store)[:2])


def test_any_value_of_a_manifest_may_be_wrong(store):
    """A new index is made, or the manifest is named."""
    draw = random.Random(8)  # noqa: S311 -- always the same
    (path,) = (store / "partitions").iterdir()
    before = path.read_text()
    for *above, last in places_of(json.loads(before)):
        for value in draw.sample(VALUES, 2):
            content = json.loads(before)
            inner = content
            for key in above:
                inner = inner[key]
            inner[last] = value
            path.write_text(json.dumps(content))

            message = answered(Place.of(str(store)), store_index.update)

            assert isinstance(message, int) or message.startswith(str(store))


def test_a_damaged_store_is_one_line_and_status_1(store, capsys):
    (store / layout.INDEX).write_text('{"format": "tfprof store", "version": 1}')

    assert main(["scope", str(store)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"tfprof: {store}/{layout.INDEX}: is damaged (KeyError('models'")
    assert captured.err.count("\n") == 1

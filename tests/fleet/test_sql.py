"""Queries of a store: their answers, and what they must not do."""

import gc
import os
import threading
from pathlib import Path

import duckdb
import fsspec
import pytest

import tfprof
from fleet_stores import stored
from fleets import Job, generated
from tfprof.api import sql_tables
from tfprof.fleet.sql_tables import SQL_TABLES
from tfprof.measures.run_sums import run_sums

EXAMPLES = Path(__file__).parents[2] / "examples"
WORKERS = sorted((EXAMPLES / "two_workers").glob("worker*/*.gz"))
GRAPH = EXAMPLES / "two_workers" / "graph.pb.gz"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A store of three hosts with their single runs."""
    folder = tmp_path_factory.mktemp("it's [1]")
    paths = generated(folder, Job(hosts=3, steps=4, layers=2, has_gpu=True))
    stored(folder / "store", paths, keeps_runs=True)
    return folder


@pytest.fixture(scope="module")
def store(folder):
    return tfprof.load(folder / "store")


@pytest.fixture(scope="module")
def files(folder):
    return tfprof.load(*sorted(folder.glob("plugins/**/*.pb")))


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    """A store of two workers of a parameter-server job."""
    return stored(tmp_path_factory.mktemp("workers") / "store", WORKERS, [GRAPH])


def asked(store, query):
    return store.sql(query).fetchall()


@pytest.mark.parametrize("table", SQL_TABLES)
def test_a_table_has_its_documented_columns(store, table):
    assert store.sql(f"FROM {table}").columns == list(SQL_TABLES[table].fields)


@pytest.mark.parametrize("table", SQL_TABLES.keys() - {"transfers"})
def test_a_table_has_rows(store, table):
    assert len(asked(store, f"FROM {table}")) > 0


@pytest.mark.parametrize("table", SQL_TABLES)
def test_a_table_of_which_no_partition_has_rows_is_empty(tmp_path, table):
    store = stored(tmp_path / "store", [], [])

    assert asked(store, f"FROM {table}") == []


def test_hosts_are_the_recordings(workers):
    found = asked(workers, "SELECT recording, rank, steps FROM hosts ORDER BY rank")

    recordings = workers.recordings
    assert [(label, rank) for label, rank, _ in found] == [
        (one.label, one.rank) for one in recordings
    ]
    assert sum(steps for *_, steps in found) == len(workers.columns.steps)


def test_runs_add_up_to_the_numbers_of_the_files(store, files):
    found = dict(asked(store, "SELECT name, sum(accelerator_nanos) FROM runs GROUP BY name"))

    nanos = run_sums(files.columns).totals("accelerator_nanos", None).tolist()
    assert found == dict(zip(files.columns.ops.name, nanos, strict=True))


def test_runs_of_several_models_have_the_ops_of_the_store(tmp_path):
    """Without a graph, each worker has only the ops that it ran."""
    store, files = stored(tmp_path / "store", WORKERS), tfprof.load(*WORKERS)

    found = dict(asked(store, "SELECT op, sum(runs) FROM runs GROUP BY op"))

    assert sum(found.values()) == int(files.columns.records.runs.sum())
    named = dict(asked(store, "SELECT DISTINCT op, name FROM runs"))
    assert all(files.columns.ops.name[op] == name for op, name in named.items())


def test_single_runs_are_those_of_the_files(store, files):
    query = "SELECT count(*), sum(duration_ns) FROM executions"

    runs = files.columns.executions
    assert asked(store, query) == [(len(runs.duration_ns), int(runs.duration_ns.sum()))]


def test_steps_are_those_of_the_step_table(store, files):
    query = "SELECT recording, step, wall_ns, busy_ns FROM steps ORDER BY ALL"

    times = files.step_times().times.steps
    assert asked(store, query) == sorted(
        (one.recording, one.step, one.wall_ns, one.busy_ns) for one in times
    )


def test_the_numbers_of_ops_are_those_of_the_files(workers):
    files = tfprof.load(GRAPH, *WORKERS)

    found = asked(workers, "SELECT sum(params), count(*) FROM ops")

    view = files.scope(select=["params"], max_depth=100)
    assert found == [(view.view.total["params"][0], len(files.columns.ops))]


def test_peaks_of_memory_have_devices_and_ops(store, files):
    query = "SELECT max(peak_bytes), count(DISTINCT device) FROM allocators"

    peak = max(one.peak_bytes for one in files.memory().memory.allocators)
    assert asked(store, query) == [(peak, 1)]
    assert asked(store, "SELECT count(*) FROM held WHERE name IS NULL OR device IS NULL") == [(0,)]


def test_an_answer_is_a_relation_of_duckdb(store):
    relation = store.sql("SELECT host FROM hosts ORDER BY host; ")

    assert isinstance(relation, duckdb.DuckDBPyRelation)
    assert relation.fetchall() == [("host-0",), ("host-1",), ("host-2",)]


def test_queries_may_come_from_several_threads(store):
    found = []
    ask = lambda: found.append(asked(store, "SELECT sum(runs) FROM runs"))  # noqa: E731
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 4
    assert len(set(map(str, found))) == 1


WRITES = (
    "COPY (SELECT 1) TO '{path}'",
    "WITH a AS (COPY (SELECT 1) TO '{path}' (RETURN_STATS)) FROM a",
    "WITH a AS (INSERT INTO ops SELECT * FROM ops RETURNING op) FROM a",
    "WITH a AS (DELETE FROM hosts RETURNING *) FROM a",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{path}'",
    "EXPLAIN ANALYZE WITH a AS (COPY (SELECT 1) TO '{path}' (RETURN_STATS)) FROM a",
    "explain /* x */ analyze copy (select 1) to '{path}'",
    "SELECT 1; COPY (SELECT 1) TO '{path}'",
    "FROM query('COPY (SELECT 1) TO ''{path}''')",
    "CREATE TABLE a AS SELECT 1",
    "DROP VIEW runs",
    "DELETE FROM hosts",
    "ATTACH '{path}' AS a",
    "EXPORT DATABASE '{path}'",
    "INSTALL httpfs",
    "LOAD '{path}'",
    "SET enable_external_access = true",
    "PRAGMA enable_profiling",
    "CALL enable_logging()",
    "FROM enable_logging(storage = 'file', storage_path = '{path}')",
    "FROM \"enable_logging\"(storage = 'file', storage_path = '{path}')",
    "CHECKPOINT",
    "USE stored",
    "BEGIN",
    "",
    ";",
)


@pytest.mark.parametrize("query", WRITES)
def test_a_query_cannot_write(store, folder, query):
    before = contents(folder / "store")

    with pytest.raises(tfprof.OptionError):
        asked(store, query.format(path=str(folder / "store" / "new").replace("'", "''")))

    assert contents(folder / "store") == before
    assert asked(store, "SELECT count(*) FROM hosts") == [(3,)]


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


READS = (
    "FROM read_text('{path}')",
    "FROM read_blob('{path}')",
    "FROM read_csv('{path}')",
    "FROM sniff_csv('{path}')",
    "FROM '{path}'",
    "FROM read_parquet('{path}')",
    "FROM parquet_metadata('{path}')",
    "FROM glob('{folder}/*')",
    "FROM read_text('{store}/../secret.csv')",
    "FROM 'https://localhost/secret.csv'",
    "FROM query('FROM read_text(''{doubled}'')')",
    "SELECT getenv('HOME')",
    "FROM secret",
)


@pytest.mark.parametrize("query", READS)
def test_a_query_cannot_read_other_files(store, folder, query):
    secret = {"a": [1]}  # DuckDB would find the variable
    path = str(folder / "secret.csv").replace("'", "''")
    Path(folder, "secret.csv").write_text("a,b\n1,2\n")
    names = {"folder": folder, "store": folder / "store"}
    names = {name: str(value).replace("'", "''") for name, value in names.items()}

    with pytest.raises(tfprof.OptionError):
        sql_tables(store).rows(query.format(path=path, doubled=path.replace("'", "''"), **names))

    assert secret


def test_the_tables_behind_the_views_are_not_listed(store):
    assert {name for (name,) in asked(store, "SHOW TABLES")} == SQL_TABLES.keys()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("FROM run", "Unknown table `run`. Did you mean `runs`?"),
        ("FROM hostss", "Unknown table `hostss`. Did you mean `hosts`?"),
        ("SELECT hots FROM runs", "Unknown column `hots`. Did you mean `host`?"),
        ("SELECT h.hots FROM hosts h", "Unknown column `hots`. Did you mean `host`?"),
        ("SELECT FROM", "The query cannot be answered: "),
        ("SELECT nope(1)", "The query cannot be answered: Scalar Function with name nope does"),
        ("SELECT regexp_matches(name, '(') FROM ops", "The query cannot be answered: missing )"),
        ("FROM read_text('/x')", "A query cannot read other files: it asks the tables of the"),
        ("SELECT ?", "The query cannot be answered: "),
    ],
)
def test_a_wrong_query_is_explained_in_one_line(store, query, message):
    with pytest.raises(tfprof.OptionError) as caught:
        store.sql(query)

    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_query_is_a_string(store):
    with pytest.raises(tfprof.OptionError, match=r"must be a string, not 7\."):
        store.sql(7)


def test_an_error_in_a_row_is_that_of_the_query(store):
    with pytest.raises(tfprof.OptionError, match="cannot be answered: Could not convert string"):
        sql_tables(store).rows("SELECT name::INTEGER FROM ops")


def test_a_query_that_needs_too_much_memory_is_refused(store):
    with pytest.raises(tfprof.TfprofError, match="requires more than 512 MB of memory"):
        sql_tables(store).rows("SELECT list(range) FROM range(200000000)")


def test_rows_are_read_in_batches(store):
    found = sql_tables(store).rows("FROM range(10000000)")

    assert found.names == ["range"]
    assert list(next(found.batches))[:2] == [(0,), (1,)]


def test_a_damaged_table_is_an_error_of_the_store(folder, tmp_path):
    paths = sorted(folder.glob("plugins/**/*.pb"))
    store = stored(tmp_path / "store", paths)
    for path in (tmp_path / "store" / "device_times").rglob("*.parquet"):
        path.write_bytes(b"PAR1 nothing PAR1")

    with pytest.raises(
        tfprof.InputError,
        match="is damaged: its checksum differs; remove the store and collect again",
    ):
        sql_tables(store).rows("SELECT sum(busy_ns) FROM device_times")


def test_files_of_a_profile_that_is_not_a_store_must_be_collected_first(files):
    with pytest.raises(tfprof.OptionError, match="SQL requires a store: collect the files with"):
        files.sql("SELECT 1")


def test_temporary_files_are_removed_with_the_profile(folder):
    store = tfprof.load(folder / "store")
    scratch = sql_tables(store)._database.scratch
    asked(store, "SELECT 1")
    assert os.listdir(scratch) == []  # noqa: PTH208

    del store
    gc.collect()

    assert not Path(scratch).exists()


def test_a_store_at_a_url_is_limited_too(folder):
    system = fsspec.filesystem("memory")
    for path in (folder / "store").rglob("*.*"):
        name = path.relative_to(folder)
        system.pipe_file(f"memory://sql/{name}", path.read_bytes())
    other = next((folder / "store" / "records").rglob("*.parquet"))
    system.pipe_file("memory://sql/other.parquet", other.read_bytes())
    store = tfprof.load("memory://sql/store")

    assert asked(store, "SELECT count(*) FROM hosts") == [(3,)]
    for secret in ("memory://sql/other.parquet", "memory:///sql/other.parquet", "/etc/passwd"):
        with pytest.raises(tfprof.OptionError, match="A query cannot read other files"):
            asked(store, f"FROM read_parquet('{secret}')")

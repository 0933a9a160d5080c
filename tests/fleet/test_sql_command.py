"""`tfprof sql`: the formats of its answers, and its errors."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import jsonschema
import pytest

import peak_memory
from fleet_stores import stored
from fleets import Job, generated
from tfprof.cli import main
from tfprof.fleet.sql_tables import SQL_TABLES
from tfprof.outputs import schemas

HOSTS = "SELECT host, rank, steps, steps / 8 AS eighths FROM hosts ORDER BY host"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fleet")
    paths = generated(folder, Job(hosts=2, steps=3, layers=2))
    stored(folder / "store", paths)
    return str(folder / "store")


@pytest.fixture
def tell(store, capsys):
    """Runs `tfprof sql STORE` and returns its exit status, its answer and its notes."""

    def run(*words):
        status = main(["sql", store, *words])
        return status, *capsys.readouterr()

    return run


def test_an_answer_is_an_aligned_table(tell):
    lines = (
        "host    rank  steps  eighths\n",
        "host-0  NULL      3    0.375\n",
        "host-1  NULL      3    0.375\n",
    )
    assert tell(HOSTS) == (0, "".join(lines), "")


def test_a_query_need_not_be_quoted(tell):
    assert tell("SELECT", "count(*)", "AS", "n", "FROM", "hosts")[1] == "n\n2\n"


def test_cells_are_on_one_line_and_not_too_wide(tell):
    _, answer, _ = tell("SELECT 'a' || chr(10) || chr(27) || 'b' AS x, repeat('y', 1000) AS y")

    _, row = answer.splitlines()
    assert row.startswith(r"a\n\x1bb  yyyy")
    assert len(row) < 100


def test_an_answer_without_rows_has_its_header(tell):
    assert tell("SELECT host FROM hosts WHERE false") == (0, "host\n", "")


def test_later_rows_may_be_wider_than_the_first_thousand(tell):
    _, answer, _ = tell("SELECT 10 ** range AS n, 'z' AS z FROM range(1200) WHERE range < 1200")

    assert len(answer.splitlines()) == 1201


def test_json_has_columns_and_rows(tell):
    _, answer, _ = tell(HOSTS, "--json")

    found = json.loads(answer)
    jsonschema.validate(found, schemas.schema_of("sql"))
    assert found["rows"] == [
        {"host": f"host-{number}", "rank": None, "steps": 3, "eighths": 0.375}
        for number in range(2)
    ]
    assert [column["name"] for column in found["columns"]] == ["host", "rank", "steps", "eighths"]


def test_json_writes_every_type(tell):
    query = (
        "SELECT 1 AS a, 2 AS a, 'nan'::DOUBLE AS n, 1.50::DECIMAL(9,2) AS d, "
        "2000000000000000000000000000000::HUGEINT AS h, [1, NULL] AS l, {'k': true} AS s, "
        "DATE '2020-01-02' AS t, 'ab'::BLOB AS b, uuid() IS NOT NULL AS u"
    )

    found = json.loads(tell(query, "--format", "json")[1])["rows"][0]

    numbers = {"a": 1, "a_1": 2, "n": "NaN", "d": 1.5, "h": 2 * 10**30, "l": [1, None]}
    others = {"s": {"k": True}, "t": "2020-01-02", "b": "6162", "u": True}
    assert found == numbers | others


def test_csv_has_a_header(tell):
    _, answer, _ = tell("SELECT host, rank, [1] AS l FROM hosts ORDER BY host", "--format", "csv")

    rows = list(csv.reader(io.StringIO(answer)))
    assert rows == [["host", "rank", "l"], ["host-0", "", "[1]"], ["host-1", "", "[1]"]]


@pytest.mark.parametrize("name", ["table", "json", "csv"])
def test_a_file_has_what_would_be_printed(tell, tmp_path, name):
    path = tmp_path / "answer"

    status, answer, notes = tell(HOSTS, "--format", name, "--outfile", str(path))

    assert (status, answer, notes) == (0, "", f"tfprof: wrote {path}\n")
    assert path.read_bytes().decode() == tell(HOSTS, "--format", name)[1]


def test_parquet_has_the_rows_in_order(tell, tmp_path):
    path = tmp_path / "answer.parquet"
    query = "SELECT step, host FROM steps ORDER BY step DESC, host; -- latest first"

    assert tell("--format", "parquet", "-o", str(path), query)[0] == 0

    found = duckdb.sql(f"FROM '{path}'")
    assert found.columns == ["step", "host"]
    assert found.fetchall() == [(s, h) for s in (102, 101, 100) for h in ("host-0", "host-1")]


def test_a_file_stays_as_it_was_if_the_query_fails(tell, tmp_path):
    path = tmp_path / "answer"
    path.write_text("before")
    failing = "SELECT CASE WHEN range < 5000 THEN '1' ELSE 'x' END::INTEGER FROM range(10000)"

    assert tell(failing, "--format", "csv", "-o", str(path))[0] == 2
    assert tell(failing, "--format", "parquet", "-o", str(path))[0] == 2

    assert path.read_text() == "before"


def test_plans_are_shown_as_they_are(tell):
    status, answer, _ = tell("EXPLAIN SELECT host FROM hosts")

    assert status == 0
    assert len(answer.splitlines()) > 3


def test_without_a_query_the_tables_are_listed(tell):
    _, answer, _ = tell()

    for name, table in SQL_TABLES.items():
        assert f"\n{name}: {table.sentence}\n" in f"\n{answer}"
    assert "  rank       BIGINT   The rank; NULL if unknown.\n" in answer


def test_the_list_of_tables_as_json_has_a_row_per_column(tell):
    rows = json.loads(tell("--json")[1])["rows"]

    assert {(row["table"], row["column"]) for row in rows} == {
        (name, column) for name, table in SQL_TABLES.items() for column in table.fields
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["FROM run"], "Unknown table `run`. Did you mean `runs`?"),
        (["DELETE FROM runs"], "`sql` only reads: write one SELECT, DESCRIBE, SHOW, SUMMARIZE"),
        (["FROM hosts", "--format", "parquet"], "Parquet requires a query and --outfile FILE."),
        (["--format", "parquet", "-o", "x"], "Parquet requires a query and --outfile FILE."),
        (["FROM hosts", "--json", "--format", "csv"], "Use -json or -format csv, not both."),
        (["FROM hosts", "--format", "xml"], "`format` cannot be `xml`. Available: csv, json,"),
        (["FROM hosts", "--graph_path", "x"], "`sql` has no option `graph_path`. Collect the"),
    ],
)
def test_a_wrong_call_is_one_line_and_status_2(tell, words, message):
    status, answer, notes = tell(*words)

    assert (status, answer) == (2, "")
    assert notes.startswith(f"tfprof: {message}")
    assert notes.count("\n") == 1


def test_a_store_is_required(capsys):
    assert main(["sql"]) == 2
    assert capsys.readouterr().err.startswith("tfprof: No store: tfprof sql STORE [QUERY]")


def test_a_damaged_store_is_status_1(store, tmp_path, capsys):
    paths = sorted(Path(store).parent.glob("plugins/**/*.pb"))
    stored(tmp_path / "store", paths)
    for path in (tmp_path / "store" / "records").rglob("*.parquet"):
        path.write_bytes(path.read_bytes()[:-20])

    assert main(["sql", str(tmp_path / "store"), "SELECT sum(runs) FROM runs"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.process
def test_the_shell_takes_the_rest_of_the_line(store):
    lines = (
        "sql SELECT 'a   -b' AS x\nsql -json SELECT 1 AS one\n"
        "sql -format csv SELECT -1 AS x, 'scope' AS y\nsql FROM run\n"
    )

    words = [sys.executable, "-m", "tfprof", store]
    found = subprocess.run(words, input=lines, text=True, capture_output=True, check=False)

    assert "x\na   -b\n" in found.stdout
    assert '"rows": [\n  {"one": 1}\n ]}' in found.stdout
    assert "x,y\n-1,scope\n" in found.stdout
    assert found.stderr == "tfprof: Unknown table `run`. Did you mean `runs`?\n"
    assert found.returncode == 1


def write_answer(store, query):
    assert main(["sql", store, query, "--format", "csv", "--outfile", "/dev/null"]) == 0


@pytest.mark.process
@peak_memory.needs_resident
def test_large_answers_are_not_kept_in_memory(store):
    query = "SELECT range, repeat('x', 20) AS x FROM range(1000000)"

    found = peak_memory.resident(write_answer, [store, query], before=[store, "SELECT 1"])

    assert found < 60_000_000  # of 30 MB of CSV and 100 MB of rows

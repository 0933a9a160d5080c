"""Every JSON answer agrees with its JSON Schema, key by key."""

import json
from pathlib import Path

import jsonschema
import pytest

import tfprof
from tfprof.cli import main
from tfprof.metrics import METRICS
from tfprof.outputs import schemas
from tfprof.views.registry import VIEWS

SAMPLES = Path(__file__).parent.parent / "samples"
VERSIONS = {"steps": 2, "ranks": 2}  # others have their first one
TENSORFLOW = SAMPLES / "tensorflow"
GPU = [
    str(TENSORFLOW / "gpu_synth" / f"{name}.gz")
    for name in ("graph.pb", "run_meta_0", "tfprof_log")
]
MLP = [
    str(TENSORFLOW / "mlp_tiny" / f"{name}.gz")
    for name in ("graph.pb", "run_meta_1", "run_meta_9", "tfprof_log")
]
EVERYTHING = ",".join(metric.key for metric in METRICS)


def strict(schema):
    """The schema without room for unknown keys, so that a new key needs a description."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: strict(part) for key, part in schema.items()}
    if "properties" in schema and schema.get("type") == "object":
        found.setdefault("additionalProperties", False)
    return found


def check(answer):
    """Compare an answer with the schema it names, and return its name."""
    name = answer["schema"].split("/")[1]
    jsonschema.validate(answer, strict(schemas.schema_of(name)))
    return name


def printed(capsys, *words):
    assert main(list(words)) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", schemas.SCHEMAS)
def test_a_schema_is_valid(name):
    schema = schemas.schema_of(name)

    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"tfprof/{name}/{VERSIONS.get(name, 1)}"


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("files", [GPU, MLP], ids=["gpu_synth", "mlp_tiny"])
def test_a_view_agrees_with_its_schema(view, files, capsys):
    answer = printed(capsys, view, *files, "-select", EVERYTHING, "--json")

    assert answer["rows"]
    assert check(answer) == "view"


def test_a_checkpoint_value_agrees_with_the_schema_of_a_view(capsys):
    checkpoint = next((SAMPLES / "checkpoints" / "v2").rglob("*.index"))
    words = ["scope", str(checkpoint.with_suffix("")), "-select", "tensor_value", "--json"]

    assert check(printed(capsys, *words)) == "view"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("flops", "ledger"),
        ("memory", "memory"),
        ("steps", "steps"),
        ("ranks", "ranks"),
        ("advise", "advice"),
        ("info", "info"),
    ],
)
@pytest.mark.parametrize("files", [GPU, MLP], ids=["gpu_synth", "mlp_tiny"])
def test_an_answer_agrees_with_its_schema(command, name, files, capsys):
    assert check(printed(capsys, command, *files, "--json")) == name


@pytest.mark.usefixtures("files")
def test_the_answer_of_profile_agrees_with_its_schema(capsys, tmp_path):
    words = ["profile", ".", "--output_dir", str(tmp_path), "--json"]

    assert check(printed(capsys, *words)) == "reports"


def test_the_plain_values_of_python_answers_agree_too():
    profile = tfprof.load(*GPU)
    answers = (
        *(profile.scope(select=EVERYTHING), profile.op(select=EVERYTHING), profile.flops()),
        *(profile.memory(), profile.step_times(), profile.ranks()),
        *(profile.advise(), profile.info(), tfprof.diff(profile, profile).scope()),
    )

    found = {check(json.loads(json.dumps(answer.to_dict()))) for answer in answers}

    assert found == schemas.SCHEMAS.keys() - {"check", "collected", "kernels", "reports", "sql"}


def test_the_summary_of_collected_files_agrees_with_its_schema(tmp_path, capsys):
    (tmp_path / "host.xplane.pb").touch()
    words = [str(tmp_path), GPU[1], "--outfile", str(tmp_path / "store"), "--jobs", "1"]

    answer = printed(capsys, "collect", *words, "--json")

    assert answer["damaged"]
    assert check(answer) == "collected"


def test_every_number_of_a_view_has_a_unit_or_a_meaning():
    row = schemas.schema_of("view")["properties"]["rows"]["items"]["properties"]

    assert all(row[metric.key]["description"] for metric in METRICS if metric.is_number)
    assert "In microseconds." in row["micros"]["description"]
    assert "In bytes." in row["peak_bytes"]["description"]

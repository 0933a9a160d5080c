"""The summary of each loaded file."""

import pytest

from sources.tf_files import CHECKPOINTS, CPU, op_log, packed, run_metadata, stats
from tfprof.errors import InputError
from tfprof.model.builder import ProfileBuilder
from tfprof.sources.registry import merge, open_as

DEVICE = CPU.lower()


def summarise(path, name, **about):
    """The summary of a single file."""
    (found,) = merge([open_as(name, path, **about)], ProfileBuilder())
    return found


def test_the_summary_of_a_graph_counts_ops():
    summary = summarise(packed("mlp_tiny/graph.pb"), "graph")

    assert (summary.kind, summary.title) == ("graph", "GraphDef")
    assert summary.facts == {"ops": 15}
    assert summary.devices == ()


def test_the_summary_of_run_metadata_counts_ops_and_runs_and_lists_devices(tmp_path):
    path = tmp_path / "run_meta"
    path.write_bytes(run_metadata((CPU, [stats("a"), stats("a"), stats("b"), stats("_SOURCE")])))

    summary = summarise(str(path), "run_meta", step=5)

    assert summary.path == str(path)
    assert summary.facts == {"ops": 2, "steps": 1, "runs": 3}
    assert summary.devices == (DEVICE,)


def test_the_summary_of_a_saved_profile_counts_all_steps():
    summary = summarise(packed("mlp_tiny/profile.pb"), "profile_proto")

    assert summary.facts["ops"] == 19
    assert summary.facts["steps"] == 4
    assert summary.devices == (DEVICE,)


def test_the_summary_of_an_op_log_counts_all_entries_even_without_a_model(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(
        op_log(
            {"name": "a", "types": ["x", "y"], "float_ops": 3},
            {"name": "b", "code_def": {"traces": [{"lineno": 1}]}},
            {"name": "c", "code_def": {}, "float_ops": 1},
        )
    )

    assert summarise(str(path), "op_log").facts == {
        "entries": 3,
        "with types": 1,
        "with float ops": 2,
        "with code lines": 1,
    }


@pytest.mark.parametrize(
    ("name", "tensors", "values"), [("v1_shards/model.ckpt", 7, 638), ("v1/model.ckpt", 19, 671)]
)
def test_the_summary_of_a_checkpoint_counts_tensors_and_values(name, tensors, values):
    summary = summarise(str(CHECKPOINTS / name), "checkpoint")

    assert summary.facts == {"tensors": tensors, "values": values}


def test_a_file_of_another_kind_is_rejected():
    with pytest.raises(InputError, match="is a GraphDef file, not a checkpoint file"):
        summarise(packed("mlp_tiny/graph.pb"), "checkpoint")

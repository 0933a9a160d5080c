"""The names of annotations that say which phase a program is in."""

from pathlib import Path

import pytest

from tfprof.model.ops import Phase
from tfprof.sources.torch_annotations import PHASE_NAMES, named_phases

MANUAL = Path(__file__).parents[2] / "docs" / "how-to" / "pytorch-record.md"


def phase(name):
    found = int(named_phases([name]).phase[0])
    return Phase(found).name.lower() if found >= 0 else None


@pytest.mark.parametrize("row", PHASE_NAMES, ids=lambda row: row.example)
def test_each_pattern_matches_its_example_and_no_other_pattern_says_otherwise(row):
    assert phase(row.example) == row.phase.name.lower()
    assert {one.phase for one in PHASE_NAMES if one.example == row.example} == {row.phase}


def test_the_manual_has_a_row_for_each_pattern():
    text = MANUAL.read_text()

    assert [row.example for row in PHASE_NAMES if f"`{row.example}`" not in text] == []


@pytest.mark.parametrize(
    "name",
    [
        *("forward", "fwd", "FWD", "Forward_Pass", "model_forward", "Forward 3", "train/forward"),
        *("## forward ##", "forward_step", "forward-compute", "loss", "compute_loss", "loss_fn"),
        *("forward_and_loss", "validation_step", "FSDP::root_pre_forward", "dispatch(F)"),
        *("FSDP::cast_forward_inputs", "PP:12RECV_F3", "[pl][profile]model_forward"),
    ],
)
def test_names_of_the_forward_pass(name):
    assert phase(name) == "forward"


@pytest.mark.parametrize(
    "name",
    [
        *("backward", "bwd", "Backward 0", "loss_backward", "model_backward", "backward-compute"),
        *("combine(B)", "attn(W)", "PP:1I0", "PP:1B0", "PP:0REDUCE_GRAD2", "bwd_microstep"),
        *("FSDP::backward_prefetch for layers.1", "FSDP::root_post_backward_callback"),
        *("FullyShardedDataParallel._pre_backward_prefetch", "[pl][profile]backward"),
    ],
)
def test_names_of_the_backward_pass(name):
    assert phase(name) == "backward"


@pytest.mark.parametrize(
    "name",
    [
        *("optimizer", "opt_step", "Optimizer Step", "optimizer.zero_grad", "ZERO_GRAD", "OPT"),
        *("optimize", "clip_grad_norm", "gradient_clipping", "grad_clip", "## zero_grad ##"),
        *("Optimizer.zero_grad#SGD.zero_grad", "optimizer-clip-main-grad", "step_microstep"),
        "[pl][profile][LightningModule]Net.optimizer_zero_grad",
    ],
)
def test_names_of_the_optimizer(name):
    assert phase(name) == "optimizer"


@pytest.mark.parametrize(
    "name",
    [
        *("forward_backward", "fwd_bwd", "fwd+bwd", "forward-backward", "backward and optimizer"),
        *("train_step", "training_step", "step", "train", "model", "1F1B", "ProfilerStep#3"),
        "PP:(0F0;1B0)OVERLAP_F_B",
    ],
)
def test_a_name_of_several_phases_says_nothing(name):
    assert phase(name) is None


@pytest.mark.parametrize(
    "name",
    [
        *("feed_forward", "fast_forward", "forwarding", "options", "adopt", "update", "losses"),
        *("FSDP::all_gather (layers.0)", "PP:1UNSHARD", "nccl:all_reduce", "f(x)", "g(FB)"),
        *("## alltoall_fwd_single ##", "[pl][profile][LightningModule]Net.on_before_backward", ""),
    ],
)
def test_similar_names_say_nothing(name):
    assert phase(name) is None


def test_only_names_that_stand_for_a_whole_phase_leave_nothing_of_it_outside():
    names = ["## forward ##", "attn(F)", "FSDP::pre_forward", "DistributedDataParallel.forward"]

    assert named_phases(names).is_whole.tolist() == [True, True, False, False]

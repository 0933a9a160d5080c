"""The names of annotations that say which phase of a step a PyTorch program is in.

They are those of PyTorch and of libraries for training, and the usual ones of programs. Names that
cover several phases, such as `train_step` and `forward_backward`, are not in the table, nor is
`step`, which some programs call the whole step and others the optimizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.model.ops import Phase
from tfprof.patterns import Patterns


class PhaseName(NamedTuple):
    """A pattern of names, and the phase that they stand for."""

    phase: Phase
    pattern: str  # of the whole name
    source: str
    example: str

    @property
    def is_whole(self) -> bool:
        """Whether it stands for all work of the phase, not only for what a library does in it."""
        return self.source not in _IN_PARTS


# These annotate what they do themselves before, after and around the forward pass of a module.
_IN_PARTS = ("PyTorch DDP", "PyTorch FSDP1", "PyTorch FSDP2")

# The words of usual names, such as `## forward ##`, `Forward_Pass`, `train/fwd` or `loss_backward`.
_MORE = (
    r"(?:[\W_\d]|model|net|network|loss|criterion|train|training|pass|step|compute|computation|"
    r"calculation|calc|propagation|prop|microbatch|micro|mini|batch|iter|total|and)*"
)
_EDGE = r"[\W_\d]*"
_LOSS = r"(?:compute[\W_]*)?(?:loss|criterion)(?:[\W_\d]|compute|computation|calculation|fn)*"
_ZERO_GRAD = r"zero_?grads?"
_CLIPPING = r"(?:clip[\W_]*grad\w*|grad(?:ient)?s?[\W_]*(?:norm[\W_]*)?clip(?:ping)?)"
_FORWARD_STEP = "(?:validation|val|eval|evaluation|test|predict)_step"
_LIGHTNING = r"\[pl\]\[profile\](?:.*[\].])?"

PHASE_NAMES = (
    PhaseName(
        Phase.OPTIMIZER,
        r"Optimizer\.(?:step|zero_grad)#.*",
        "PyTorch",
        "Optimizer.step#AdamW.step",
    ),
    PhaseName(
        Phase.INPUT,
        r"enumerate\(DataLoader\)#.*",
        "PyTorch",
        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
    ),
    PhaseName(
        Phase.FORWARD,
        r"DistributedDataParallel\.forward",
        "PyTorch DDP",
        "DistributedDataParallel.forward",
    ),
    PhaseName(
        Phase.FORWARD,
        r"FullyShardedDataParallel\.(?:forward|_(?:root_)?(?:pre|post)_forward\w*)",
        "PyTorch FSDP1",
        "FullyShardedDataParallel._pre_forward",
    ),
    PhaseName(
        Phase.BACKWARD,
        r"FullyShardedDataParallel\._(?:pre|post)_backward\w*",
        "PyTorch FSDP1",
        "FullyShardedDataParallel._post_backward_hook",
    ),
    PhaseName(
        Phase.FORWARD,
        r"FSDP::(?:\w+_)?forward(?:_\w+)?(?: .*)?",
        "PyTorch FSDP2",
        "FSDP::pre_forward (layers.0)",
    ),
    PhaseName(
        Phase.BACKWARD,
        r"FSDP::(?:\w+_)?backward(?:_\w+)?(?: .*)?",
        "PyTorch FSDP2",
        "FSDP::post_backward_reduce (layers.0)",
    ),
    PhaseName(
        Phase.FORWARD,
        r"PP:\d+(?:F|SEND_F|RECV_F)\d*",
        "PyTorch pipelining, torchtitan",
        "PP:0F1",
    ),
    PhaseName(
        Phase.BACKWARD,
        r"PP:\d+(?:[BIW]|SEND_B|RECV_B|REDUCE_GRAD)\d*",
        "PyTorch pipelining, torchtitan",
        "PP:0W1",
    ),
    PhaseName(Phase.FORWARD, r"[\w.+-]+\(F\)", "DualPipe", "attn(F)"),
    PhaseName(Phase.BACKWARD, r"[\w.+-]+\([BW]\)", "DualPipe", "mlp(W)"),
    PhaseName(
        Phase.FORWARD,
        rf"{_LIGHTNING}(?:model_forward|training_step|{_FORWARD_STEP})(?:_\d+)?",
        "PyTorch Lightning",
        "[pl][profile][Strategy]DDPStrategy.training_step",
    ),
    PhaseName(
        Phase.BACKWARD,
        rf"{_LIGHTNING}(?:model_)?backward(?:_\d+)?",
        "PyTorch Lightning",
        "[pl][profile][Strategy]DDPStrategy.backward",
    ),
    PhaseName(
        Phase.OPTIMIZER,
        rf"{_LIGHTNING}(?:optimizer_(?:step|zero_grad)\w*|configure_gradient_clipping)",
        "PyTorch Lightning",
        "[pl][profile][LightningModule]Net.optimizer_step",
    ),
    PhaseName(
        Phase.FORWARD,
        r"DeepSpeedEngine\.forward|fwd_microstep",
        "DeepSpeed",
        "DeepSpeedEngine.forward",
    ),
    PhaseName(
        Phase.BACKWARD,
        r"(?:DeepSpeedEngine\.)?allreduce_gradients|DeepSpeedEngine\.backward|"
        r"bwd_(?:\w+_)?microstep|bwd_(?:inner|allreduce)",
        "DeepSpeed",
        "bwd_inner_microstep",
    ),
    PhaseName(
        Phase.OPTIMIZER,
        r"(?:DeepSpeedEngine\.)?_take_model_step|DeepSpeed(?:Engine|ZeroOptimizer\w*)\.step|"
        r"step_microstep",
        "DeepSpeed",
        "DeepSpeedEngine.step",
    ),
    PhaseName(Phase.OPTIMIZER, r"optimizer-[\w-]+", "Megatron-LM", "optimizer-inner-step"),
    PhaseName(Phase.OPTIMIZER, r"(?:multiply|clip|unscale)-grads", "fairseq", "clip-grads"),
    PhaseName(
        Phase.FORWARD,
        rf"(?i){_MORE}(?:forward|fwd|fprop){_MORE}|{_EDGE}{_LOSS}|{_FORWARD_STEP}",
        "usual names",
        "## forward ##",
    ),
    PhaseName(
        Phase.BACKWARD,
        rf"(?i){_MORE}(?:backwards?|bwd|bprop){_MORE}",
        "usual names",
        "loss_backward",
    ),
    PhaseName(
        Phase.OPTIMIZER,
        rf"(?i){_MORE}(?:optimi[sz]er?|optim|opt){_MORE}(?:{_ZERO_GRAD}{_EDGE})?|"
        rf"{_EDGE}(?:{_ZERO_GRAD}|{_CLIPPING}){_EDGE}",
        "usual names",
        "optimizer_step",
    ),
)


class NamedPhases(NamedTuple):
    """What names of annotations say; one row per name."""

    phase: Ints  # a `Phase`, or -1
    is_whole: Bools  # it stands for all work of the phase


def named_phases(names: Sequence[str]) -> NamedPhases:
    """The phase that each name stands for, if any."""
    found, whole = np.full(len(names), -1), np.zeros(len(names), np.bool_)
    if len(names):
        flags = Patterns(tuple(row.pattern for row in PHASE_NAMES)).match_each(names)
        for row, matches in zip(PHASE_NAMES, flags, strict=True):
            found[matches], whole[matches] = row.phase, row.is_whole
    return NamedPhases(found, whole)

"""Profile models: where parameters, float operations, time and memory go."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfprof import capture, contrib, pprof_profiler, testing
    from tfprof.advisor.finding import Evidence, EvidenceColumn, Finding, Gain
    from tfprof.advisor.registry import Checker
    from tfprof.answers import Advice, Answer, MemoryAnswer
    from tfprof.api import Info, Profile, info, register_flops, step_timeline
    from tfprof.capture.keras_callback import KerasCallback
    from tfprof.capture.loading import load
    from tfprof.capture.recording import Capture
    from tfprof.capture.torch_callback import TorchCallback
    from tfprof.classic.context import ProfileContext
    from tfprof.classic.hooks import MetadataCaptureHook, PrintModelAnalysisHook
    from tfprof.classic.messages import (
        AdviceProto,
        GraphNodeProto,
        MultiGraphNodeProto,
        OpLogProto,
    )
    from tfprof.classic.op_log import write_op_log
    from tfprof.classic.option_builder import ProfileOptionBuilder
    from tfprof.classic.profiler import Profiler, advise, profile
    from tfprof.comparison.causes import DiffCause
    from tfprof.comparison.compared import Compared
    from tfprof.comparison.summary import DiffIdle, DiffSummary, DiffTotal
    from tfprof.comparisons import Diff, DiffAnswer, diff
    from tfprof.errors import (
        CaptureError,
        InputError,
        MissingInputError,
        OptionError,
        OutputError,
        RuleError,
        TfprofError,
        TruncatedError,
        UnknownFormatError,
    )
    from tfprof.fleet.collect import Collected, collect
    from tfprof.measures.flop_rules.registry import FlopCount, OpFacts
    from tfprof.measures.losses import LostTime
    from tfprof.measures.servers import ParameterServer
    from tfprof.model.memory_curves import MemoryCurve
    from tfprof.model.profile import ProfileColumns
    from tfprof.model.recordings import Recording
    from tfprof.options import KernelOptions, MemoryOptions, Options, RankOptions, StepOptions
    from tfprof.outputs.kernels import KernelTable
    from tfprof.outputs.ledger import FloatOpsLedger
    from tfprof.outputs.op_log import OpLog
    from tfprof.outputs.parts import Written
    from tfprof.outputs.ranks import RankTable
    from tfprof.outputs.steps import StepTable
    from tfprof.page.diff_report import DiffReport
    from tfprof.page.report import Report
    from tfprof.sources.source import FileSummary
    from tfprof.units import Unit
    from tfprof.version import __version__ as __version__
    from tfprof.views.kernels import KernelTime, KernelTimes
    from tfprof.views.ledger import CountedKind, UncountedKind
    from tfprof.views.memory import AllocatorMemory, MemoryBreakdown
    from tfprof.views.ranks import CollectiveTime, MoreWork, RankTime, RankTimes, SlowHost
    from tfprof.views.steps import (
        AcceleratorTime,
        DeviceTime,
        StepSummary,
        StepTime,
        StepTimes,
        UnusualStep,
    )
    from tfprof.views.view import Hidden

__all__ = [
    "AcceleratorTime",
    "Advice",
    "AdviceProto",
    "AllocatorMemory",
    "Answer",
    "Capture",
    "CaptureError",
    "Checker",
    "Collected",
    "CollectiveTime",
    "Compared",
    "CountedKind",
    "DeviceTime",
    "Diff",
    "DiffAnswer",
    "DiffCause",
    "DiffIdle",
    "DiffReport",
    "DiffSummary",
    "DiffTotal",
    "Evidence",
    "EvidenceColumn",
    "FileSummary",
    "Finding",
    "FloatOpsLedger",
    "FlopCount",
    "Gain",
    "GraphNodeProto",
    "Hidden",
    "Info",
    "InputError",
    "KerasCallback",
    "KernelOptions",
    "KernelTable",
    "KernelTime",
    "KernelTimes",
    "LostTime",
    "MemoryAnswer",
    "MemoryBreakdown",
    "MemoryCurve",
    "MemoryOptions",
    "MetadataCaptureHook",
    "MissingInputError",
    "MoreWork",
    "MultiGraphNodeProto",
    "OpFacts",
    "OpLog",
    "OpLogProto",
    "OptionError",
    "Options",
    "OutputError",
    "ParameterServer",
    "PrintModelAnalysisHook",
    "Profile",
    "ProfileColumns",
    "ProfileContext",
    "ProfileOptionBuilder",
    "Profiler",
    "RankOptions",
    "RankTable",
    "RankTime",
    "RankTimes",
    "Recording",
    "Report",
    "RuleError",
    "SlowHost",
    "StepOptions",
    "StepSummary",
    "StepTable",
    "StepTime",
    "StepTimes",
    "TfprofError",
    "TorchCallback",
    "TruncatedError",
    "UncountedKind",
    "Unit",
    "UnknownFormatError",
    "UnusualStep",
    "Written",
    "advise",
    "capture",
    "collect",
    "contrib",
    "diff",
    "info",
    "load",
    "pprof_profiler",
    "profile",
    "register_flops",
    "step_timeline",
    "testing",
    "write_op_log",
]

# The module that defines each public name, imported on first use of the name, so that
# `import tfprof` loads neither numpy nor protobuf.
_MODULES: dict[str, tuple[str, ...]] = {
    "tfprof.advisor.finding": ("Evidence", "EvidenceColumn", "Finding", "Gain"),
    "tfprof.advisor.registry": ("Checker",),
    "tfprof.answers": ("Advice", "Answer", "MemoryAnswer"),
    "tfprof.api": ("Info", "Profile", "info", "register_flops", "step_timeline"),
    "tfprof.capture": ("capture",),
    "tfprof.capture.keras_callback": ("KerasCallback",),
    "tfprof.capture.loading": ("load",),
    "tfprof.capture.recording": ("Capture",),
    "tfprof.capture.torch_callback": ("TorchCallback",),
    "tfprof.classic.context": ("ProfileContext",),
    "tfprof.classic.hooks": ("MetadataCaptureHook", "PrintModelAnalysisHook"),
    "tfprof.classic.messages": (
        *("AdviceProto", "GraphNodeProto", "MultiGraphNodeProto", "OpLogProto"),
    ),
    "tfprof.classic.op_log": ("write_op_log",),
    "tfprof.classic.option_builder": ("ProfileOptionBuilder",),
    "tfprof.classic.profiler": ("Profiler", "advise", "profile"),
    "tfprof.comparison.compared": ("Compared",),
    "tfprof.comparison.causes": ("DiffCause",),
    "tfprof.comparison.summary": ("DiffIdle", "DiffSummary", "DiffTotal"),
    "tfprof.comparisons": ("Diff", "DiffAnswer", "diff"),
    "tfprof.contrib": ("contrib",),
    "tfprof.errors": (
        *("CaptureError", "InputError", "MissingInputError", "OptionError", "OutputError"),
        *("RuleError", "TfprofError", "TruncatedError", "UnknownFormatError"),
    ),
    "tfprof.fleet.collect": ("Collected", "collect"),
    "tfprof.measures.flop_rules.registry": ("FlopCount", "OpFacts"),
    "tfprof.measures.losses": ("LostTime",),
    "tfprof.measures.servers": ("ParameterServer",),
    "tfprof.model.memory_curves": ("MemoryCurve",),
    "tfprof.model.profile": ("ProfileColumns",),
    "tfprof.options": ("KernelOptions", "MemoryOptions", "Options", "RankOptions", "StepOptions"),
    "tfprof.outputs.ledger": ("FloatOpsLedger",),
    "tfprof.outputs.op_log": ("OpLog",),
    "tfprof.outputs.parts": ("Written",),
    "tfprof.outputs.kernels": ("KernelTable",),
    "tfprof.outputs.ranks": ("RankTable",),
    "tfprof.outputs.steps": ("StepTable",),
    "tfprof.page.diff_report": ("DiffReport",),
    "tfprof.page.report": ("Report",),
    "tfprof.pprof_profiler": ("pprof_profiler",),
    "tfprof.model.recordings": ("Recording",),
    "tfprof.sources.source": ("FileSummary",),
    "tfprof.testing": ("testing",),
    "tfprof.units": ("Unit",),
    "tfprof.version": ("__version__",),
    "tfprof.views.ledger": ("CountedKind", "UncountedKind"),
    "tfprof.views.memory": ("AllocatorMemory", "MemoryBreakdown"),
    "tfprof.views.kernels": ("KernelTime", "KernelTimes"),
    "tfprof.views.ranks": ("CollectiveTime", "MoreWork", "RankTime", "RankTimes", "SlowHost"),
    "tfprof.views.steps": (
        "AcceleratorTime",
        "DeviceTime",
        "StepSummary",
        "StepTime",
        "StepTimes",
        "UnusualStep",
    ),
    "tfprof.views.view": ("Hidden",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _MODULE_OF:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=sys.modules[__name__])
    module = import_module(_MODULE_OF[name])
    if module.__name__ == f"{__name__}.{name}":  # the public name is the module itself
        return module
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """All public names, already imported or not, and the standard module attributes."""
    return sorted({*__all__, "__version__", *(name for name in globals() if name[:2] == "__")})

"""Where a model's parameters, float operations, time and memory go."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfprof.errors import (
    CaptureError,
    InputError,
    MissingInputError,
    OptionError,
    OutputError,
    RuleError,
    TfprofError,
    UnknownFormatError,
)

if TYPE_CHECKING:
    from tfprof.api import (
        Advice,
        Answer,
        Info,
        MemoryAnswer,
        OpLog,
        Profile,
        info,
        register_flops,
        step_timeline,
    )
    from tfprof.capture.keras_callback import KerasCallback
    from tfprof.capture.loading import load
    from tfprof.capture.recording import capture
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

__all__ = [
    "Advice",
    "AdviceProto",
    "Answer",
    "CaptureError",
    "GraphNodeProto",
    "Info",
    "InputError",
    "KerasCallback",
    "MemoryAnswer",
    "MetadataCaptureHook",
    "MissingInputError",
    "MultiGraphNodeProto",
    "OpLog",
    "OpLogProto",
    "OptionError",
    "OutputError",
    "PrintModelAnalysisHook",
    "Profile",
    "ProfileContext",
    "ProfileOptionBuilder",
    "Profiler",
    "RuleError",
    "TfprofError",
    "UnknownFormatError",
    "advise",
    "capture",
    "info",
    "load",
    "profile",
    "register_flops",
    "step_timeline",
    "write_op_log",
]

# Where names are that are not the api's: those for live programs, TensorFlow's own among them.
_ELSEWHERE = {
    "load": "tfprof.capture.loading",
    "KerasCallback": "tfprof.capture.keras_callback",
    **dict.fromkeys(("Profiler", "advise", "profile"), "tfprof.classic.profiler"),
    "ProfileOptionBuilder": "tfprof.classic.option_builder",
    "ProfileContext": "tfprof.classic.context",
    "write_op_log": "tfprof.classic.op_log",
    **dict.fromkeys(("MetadataCaptureHook", "PrintModelAnalysisHook"), "tfprof.classic.hooks"),
    **dict.fromkeys(
        ("AdviceProto", "GraphNodeProto", "MultiGraphNodeProto", "OpLogProto"),
        "tfprof.classic.messages",
    ),
}


def __getattr__(name: str) -> Any:
    """Fetch a public name when it is first used, so that importing tfprof loads no numpy."""
    if name == "contrib":
        return import_module("tfprof.contrib")
    if name not in __all__:
        raise AttributeError(f"module `tfprof` has no attribute {name!r}")
    if name == "capture":  # the package itself, which can be called
        return import_module("tfprof.capture")
    value = getattr(import_module(_ELSEWHERE.get(name, "tfprof.api")), name)
    globals()[name] = value
    return value

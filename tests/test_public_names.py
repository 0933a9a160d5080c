"""The public names of the package."""

from __future__ import annotations

import ast
import importlib.metadata
import inspect
import re
import rlcompleter
import subprocess
import sys
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import tfprof
import tfprof.version
from tfprof import errors
from tfprof.cli import main

SOURCE = Path(tfprof.__file__).parent
ERRORS = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and value.__module__ == errors.__name__
]


def test_the_public_names_are_sorted():
    assert tfprof.__all__ == sorted(tfprof.__all__)


def test_every_public_name_exists_and_is_described():
    assert [name for name in tfprof.__all__ if not getattr(tfprof, name).__doc__] == []


def test_the_public_names_are_these():
    assert set(tfprof.__all__) == {
        *("load", "Profile", "ProfileColumns", "info", "Info", "FileSummary", "Recording"),
        *("Report", "collect", "Collected"),
        *("Answer", "Options", "Hidden", "Written"),
        *(
            "diff",
            "Diff",
            "DiffAnswer",
            "DiffReport",
            "Compared",
            "DiffSummary",
            "DiffTotal",
            "DiffCause",
        ),
        "DiffIdle",
        *("MemoryAnswer", "MemoryOptions", "AllocatorMemory", "MemoryBreakdown", "MemoryCurve"),
        *("FloatOpsLedger", "CountedKind", "UncountedKind"),
        *("register_flops", "OpFacts", "FlopCount"),
        *("StepTable", "StepTimes", "StepTime", "StepSummary", "UnusualStep", "StepOptions"),
        *("AcceleratorTime", "DeviceTime"),
        *("KernelTable", "KernelTimes", "KernelTime", "KernelOptions"),
        *("RankTable", "RankTimes", "RankTime", "SlowHost", "LostTime", "RankOptions"),
        *("CollectiveTime", "MoreWork", "ParameterServer"),
        *("Advice", "Checker", "Finding", "Evidence", "EvidenceColumn", "Gain", "Unit"),
        *("profile", "advise", "Profiler", "ProfileOptionBuilder", "ProfileContext"),
        *("write_op_log", "OpLog", "MetadataCaptureHook", "PrintModelAnalysisHook"),
        *("GraphNodeProto", "MultiGraphNodeProto", "AdviceProto", "OpLogProto"),
        *("contrib", "pprof_profiler", "testing"),
        *("step_timeline", "capture", "Capture", "KerasCallback", "CaptureError"),
        "TorchCallback",
        *("TfprofError", "InputError", "UnknownFormatError", "TruncatedError", "MissingInputError"),
        *("OptionError", "OutputError", "RuleError"),
    }


# The table of modules that define the names.


def imported_for_type_checkers() -> dict[str, str]:
    """The names under `if TYPE_CHECKING`, each with the module it is imported from."""
    tree = ast.parse((SOURCE / "__init__.py").read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.name: f"tfprof.{alias.name}" if node.module == "tfprof" else node.module
        for node in block.body
        for alias in node.names
    }


def test_type_checkers_see_the_names_of_the_table_and_their_modules():
    assert imported_for_type_checkers() == tfprof._MODULE_OF


def test_the_table_contains_the_public_names_and_the_version():
    assert tfprof._MODULE_OF.keys() == {*tfprof.__all__, "__version__"}


def module_of(name: str) -> str:
    """The module that defines a public name, or is it."""
    value = getattr(tfprof, name)
    return value.__name__ if isinstance(value, ModuleType) else value.__module__


def test_names_are_defined_in_the_modules_of_the_table():
    # Message classes do not belong to a module.
    names = [name for name in tfprof.__all__ if not name.endswith("Proto")]

    assert {name: module_of(name) for name in names} == {
        name: tfprof._MODULE_OF[name] for name in names
    }


# Objects returned by public objects are public too.


@cache
def classes_of_ours() -> set[str]:
    """The names of all classes in the package that are not private."""
    texts = (path.read_text("utf-8") for path in SOURCE.rglob("*.py"))
    return {name for text in texts for name in re.findall(r"(?m)^ *class ([^\W_]\w*)[(:]", text)}


def exposed_types(value: type) -> str:
    """The type annotations of an object's fields and of what its methods return."""
    found = [str(field.type) for field in fields(value)] if is_dataclass(value) else []
    for name, member in vars(value).items():
        function = getattr(member, "fget", None) or getattr(member, "__func__", member)
        is_offered = not name.startswith("_") or name in ("__iter__", "__getitem__")
        if is_offered and inspect.isfunction(function):
            found.append(str(function.__annotations__.get("return")))
    return " ".join(found)


def exposed_classes(name: str) -> set[str]:
    """The classes of ours in the annotations of a public object."""
    return set(re.findall(r"\w+", exposed_types(getattr(tfprof, name)))) & classes_of_ours()


def test_what_a_public_object_returns_is_public():
    names = {
        *("Profile", "Info", "FileSummary", "Answer", "Hidden", "Written"),
        *("MemoryAnswer", "AllocatorMemory", "FloatOpsLedger", "CountedKind", "UncountedKind"),
        *("StepTable", "StepTimes", "StepTime", "StepSummary", "UnusualStep", "AcceleratorTime"),
        *("KernelTable", "KernelTimes", "KernelTime", "KernelOptions"),
        *("RankTable", "RankTimes", "RankTime", "SlowHost", "LostTime", "RankOptions"),
        *("CollectiveTime", "MoreWork", "ParameterServer"),
        *("Advice", "Checker", "Finding", "Evidence", "EvidenceColumn", "Gain"),
        *("Capture", "OpLog", "ProfileContext", "Profiler"),
    }

    exposed = {name: exposed_classes(name) for name in names}
    private = {name: classes - set(tfprof.__all__) for name, classes in exposed.items()}
    assert {name: classes for name, classes in private.items() if classes} == {}
    assert exposed["Profile"] >= {"Answer", "Advice", "MemoryAnswer", "StepTable"}


# Errors.


def test_every_error_is_public_and_a_tfprof_error():
    assert [error for error in ERRORS if getattr(tfprof, error.__name__) is not error] == []
    assert [error for error in ERRORS if not issubclass(error, tfprof.TfprofError)] == []


def test_every_error_is_in_the_tree_of_errors():
    assert [error for error in ERRORS if error.__name__ not in errors.__doc__] == []


# Before the first use.


def in_a_new_process(script: str) -> str:
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def test_dir_lists_the_public_names_before_they_are_used():
    listed = in_a_new_process(
        "import sys, tfprof; print(*dir(tfprof)); assert 'tfprof.api' not in sys.modules"
    ).split()

    assert set(listed) >= {*tfprof.__all__, "__version__", "__doc__"}
    assert {name for name in listed if not name.startswith("__")} == set(tfprof.__all__)


def test_tab_completes_the_public_names():
    completer = rlcompleter.Completer({"tfprof": tfprof})

    assert completer.attr_matches("tfprof.MemoryA") == ["tfprof.MemoryAnswer("]
    assert "tfprof.pprof_profiler" in completer.attr_matches("tfprof.")


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'") as caught:
        _ = tfprof.nothing

    # Python uses these to suggest similar names.
    assert (caught.value.name, caught.value.obj) == ("nothing", tfprof)


def test_all_public_names_can_be_imported_at_once():
    names = {}

    exec("from tfprof import *", names)  # noqa: S102 -- the one statement that reads `__all__`

    assert names.keys() - {"__builtins__"} == set(tfprof.__all__)


@pytest.mark.parametrize(
    "statement",
    [
        "import tfprof.pprof_profiler; tfprof.pprof_profiler.get_profiles",
        "from tfprof.pprof_profiler import profile",
        "from tfprof import contrib; contrib.pprof_profiler.profile",
        "import tfprof.contrib.model_analyzer",
    ],
)
def test_public_modules_can_be_imported(statement):
    assert in_a_new_process(statement) == ""


# The version.


def test_the_version_is_that_of_the_installed_package():
    assert tfprof.__version__ == importlib.metadata.version("tfprof")


def test_the_version_is_looked_up_on_first_use():
    script = "import sys, tfprof; print('importlib.metadata' in sys.modules)"

    assert in_a_new_process(script) == "False"


def test_the_command_line_prints_the_same_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith(f"tfprof {tfprof.__version__} (")


def test_a_source_tree_without_metadata_has_an_unknown_version():
    script = """
import importlib.metadata as metadata
def missing(name):
    raise metadata.PackageNotFoundError(name)
metadata.version = missing
import tfprof
print(tfprof.__version__)
"""
    assert in_a_new_process(script) == tfprof.version.UNKNOWN == "0+unknown"

"""The names that programs may rely on."""

import inspect

import pytest

import tfprof
from tfprof import errors

ERRORS = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and value.__module__ == errors.__name__
]


def test_the_public_names_are_sorted():
    assert tfprof.__all__ == sorted(tfprof.__all__)


@pytest.mark.parametrize("name", tfprof.__all__)
def test_a_public_name_exists_and_is_described(name):
    assert getattr(tfprof, name).__doc__


def test_the_public_names_are_these():
    assert set(tfprof.__all__) == {
        *("load", "Profile", "Answer", "MemoryAnswer", "Advice", "info", "Info", "OpLog"),
        *("profile", "advise", "Profiler", "ProfileOptionBuilder", "ProfileContext"),
        *("write_op_log", "MetadataCaptureHook", "PrintModelAnalysisHook"),
        *("GraphNodeProto", "MultiGraphNodeProto", "AdviceProto", "OpLogProto"),
        "register_flops",
        *("step_timeline", "capture", "KerasCallback", "CaptureError"),
        *("TfprofError", "InputError", "UnknownFormatError", "MissingInputError"),
        *("OptionError", "OutputError", "RuleError"),
    }


@pytest.mark.parametrize("error", ERRORS)
def test_every_error_is_public_and_a_tfprof_error(error):
    assert getattr(tfprof, error.__name__) is error
    assert issubclass(error, tfprof.TfprofError)


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_has_its_place_in_the_drawing_of_all_errors(error):
    assert error.__name__ in errors.__doc__


def test_a_name_that_is_not_public_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tfprof.nothing


def test_all_public_names_can_be_imported_at_once():
    names = {}

    exec("from tfprof import *", names)  # noqa: S102 -- the one statement that reads `__all__`

    assert names.keys() >= set(tfprof.__all__)

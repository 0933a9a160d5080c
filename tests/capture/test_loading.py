"""Programs are recognised without importing a framework."""

import pytest

import tfprof
from tfprof.capture.loading import is_program


class Foreign:
    """A callable object that pretends to be from another package."""

    def __call__(self):
        """Do nothing."""


def test_callable_objects_of_keras_and_tensorflow_are_programs(monkeypatch):
    assert not is_program(Foreign())
    for module in ("tensorflow.python.eager", "keras.src.models", "tf_keras.src"):
        monkeypatch.setattr(Foreign, "__module__", module)

        assert is_program(Foreign())


def test_a_path_is_not_a_program():
    assert not is_program("tensorflow")


def test_without_tensorflow_loading_a_model_says_what_to_install(monkeypatch):
    monkeypatch.setattr(Foreign, "__module__", "keras.src.models")
    monkeypatch.setitem(__import__("sys").modules, "tensorflow", None)

    with pytest.raises(tfprof.TfprofError, match=r"pip install 'tfprof\[tensorflow\]'"):
        tfprof.load(Foreign())

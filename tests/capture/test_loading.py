"""Which things are programs, told without a framework."""

import pytest

import tfprof
from tfprof.capture.loading import is_program


class Foreign:
    """Something callable, as if it were of another package."""

    def __call__(self):
        """Do nothing."""


def test_what_is_of_keras_or_tensorflow_and_can_be_called_is_a_program(monkeypatch):
    assert not is_program(Foreign())
    for module in ("tensorflow.python.eager", "keras.src.models", "tf_keras.src"):
        monkeypatch.setattr(Foreign, "__module__", module)

        assert is_program(Foreign())


def test_a_path_is_none():
    assert not is_program("tensorflow")


def test_without_tensorflow_a_model_is_answered_with_what_to_install(monkeypatch):
    monkeypatch.setattr(Foreign, "__module__", "keras.src.models")
    monkeypatch.setitem(__import__("sys").modules, "tensorflow", None)

    with pytest.raises(tfprof.TfprofError, match=r"pip install 'tfprof\[tensorflow\]'"):
        tfprof.load(Foreign())

"""Traced functions are kept alive while recording, and the patch is always undone."""

import gc
import sys
import types
import weakref

import pytest

from tfprof.capture.kept_functions import KeptFunctions

MODULE = "tensorflow.python.eager.polymorphic_function"


@pytest.fixture
def kind(monkeypatch):
    """The class that is patched, in a fake TensorFlow that has nothing else."""

    class AtomicFunction:
        def __init__(self, name, *, is_bad=False):
            if is_bad:
                raise ValueError(name)
            self.name = name.encode()
            self.graph = f"graph of {name}"

        def call_flat(self, *args):
            return args

    parts = MODULE.split(".")
    for end in range(1, len(parts) + 1):
        name = ".".join(parts[:end])
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    inner = types.SimpleNamespace(AtomicFunction=AtomicFunction)
    monkeypatch.setattr(sys.modules[MODULE], "atomic_function", inner, raising=False)
    return AtomicFunction


@pytest.fixture
def original(kind):
    return kind.__init__


def test_existing_and_new_functions_are_kept(kind):
    before = kind("before")
    kept = KeptFunctions()
    kind("meanwhile")
    gc.collect()

    assert kept.graph("before") == before.graph
    assert kept.graph("meanwhile") == "graph of meanwhile"
    assert kept.graph("other") is None
    kept.release()


def test_after_release_the_patch_is_gone_and_nothing_is_kept(kind, original):
    kept = KeptFunctions()
    assert kind.__init__ is not original
    function = weakref.ref(kind("one"))
    assert function() is not None

    kept.release()

    assert kind.__init__ is original
    assert function() is None
    assert kept.graph("one") is None
    later = weakref.ref(kind("later"))
    assert later() is None


def test_calls_are_noted_until_release(kind):
    call = kind.call_flat
    kept = KeptFunctions()
    noted = []
    kept.fed.see = lambda function, arguments: noted.append((function.name, arguments))
    function = kind("one")

    assert function.call_flat(1, 2) == (1, 2)
    assert noted == [(b"one", (1, 2))]
    kept.release()
    assert kind.call_flat is call


def test_releasing_twice_is_harmless(kind, original):
    first = KeptFunctions()
    first.release()
    second = KeptFunctions()
    first.release()
    kind("one")

    assert second.graph("one") == "graph of one"
    second.release()
    second.release()
    assert kind.__init__ is original


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_last_of_two_releases_removes_the_patch(kind, original, order):
    both = [KeptFunctions(), KeptFunctions()]
    kind("one")
    both[order[0]].release()
    kind("two")

    assert both[order[0]].graph("one") is None
    assert both[order[1]].graph("one") == "graph of one"
    assert both[order[1]].graph("two") == "graph of two"
    both[order[1]].release()
    assert kind.__init__ is original


def test_the_patch_is_removed_after_an_error(kind, original):
    def use():
        kept = KeptFunctions()
        kind("one")
        assert kept.graph("one")
        raise KeyError

    with pytest.raises(KeyError):
        use()
    gc.collect()

    assert kind.__init__ is original


def test_a_function_whose_creation_fails_is_not_kept(kind):
    kept = KeptFunctions()
    with pytest.raises(ValueError, match="bad"):
        kind("bad", is_bad=True)

    assert kept.graph("bad") is None
    kept.release()


def test_a_later_patch_by_other_code_stays_in_place(kind):
    kept = KeptFunctions()
    ours = kind.__init__
    made = []

    def theirs(function, name):
        made.append(name)
        ours(function, name)

    kind.__init__ = theirs
    kept.release()
    function = weakref.ref(kind("one"))

    assert kind.__init__ is theirs
    assert made == ["one"]
    assert function() is None


def test_nothing_is_kept_if_the_internals_of_tensorflow_have_changed(kind, monkeypatch):
    monkeypatch.delattr(sys.modules[MODULE], "atomic_function")
    kept = KeptFunctions()
    kind("one")

    assert kept.graph("one") is None
    kept.release()

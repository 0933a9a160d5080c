"""The registry of views."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from asking import ask
from build import op, profile
from tfprof.dialects import DIALECTS, Policy
from tfprof.views.registry import VIEWS, Trait


@pytest.mark.parametrize("kind", VIEWS)
def test_each_view_has_a_module_of_the_same_name(kind):
    assert callable(import_module(f"tfprof.views.{kind}").build)


@pytest.mark.parametrize("kind", VIEWS)
def test_a_view_has_the_traits_from_the_registry(kind):
    view = ask(kind, profile(op("a", code=["m.py:1:f"])))

    assert (view.kind, view.traits) == (kind, VIEWS[kind].traits)
    assert view.is_gathered == (Trait.GATHERED in VIEWS[kind].traits)


def test_each_view_has_a_different_sentence():
    sentences = {kind.sentence for kind in VIEWS.values()}

    assert len(sentences) == len(VIEWS)
    assert all(re.fullmatch(r"[A-Z].*: .*[.]", sentence) for sentence in sentences)


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_a_view_unknown_to_a_generation_has_the_default_policy(dialect):
    assert dialect.policy("unknown") == Policy()

"""The budgets that need neither a recording nor a file."""

from model import build
from tfprof.testing import assert_budget


def test_the_classifier_is_small():
    assert_budget(build(), params="175 k", layers={"hidden": {"params": "174 k"}})

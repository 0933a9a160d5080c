"""Every recipe of CONTRIBUTING.md names a table that exists and tests that exist."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from tfprof.sources.added import GROUP

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Recipes\n")[2]
RECIPES = dict(re.findall(r"^\*\*(.+?)\*\*.*:\n((?:\n|- .*\n)+)", PAGE, re.MULTILINE))


def line(recipe: str, label: str) -> str:
    """The bullet of a recipe that starts with `label`; there is exactly one."""
    (found,) = re.findall(rf"^- {label}: (.*)$", RECIPES[recipe], re.MULTILINE)
    return found


def find(name: str) -> object:
    """The module or the object of that name in the package; an error if there is none."""
    module, _, attribute = f"tfprof.{name}".rpartition(".")
    if hasattr(import_module(module), attribute):
        return getattr(import_module(module), attribute)
    return import_module(f"tfprof.{name}")


def test_what_is_added_most_often_has_a_recipe():
    assert RECIPES.keys() >= {
        *("A source", "A source from another package", "A fact", "A command", "An output"),
        *("A metric", "A view", "A checker", "An option", "A float-op rule", "A public name"),
    }


def test_a_recipe_names_one_table_that_exists():
    tables = {recipe: re.findall(r"`([\w.]+)`", line(recipe, "Table")) for recipe in RECIPES}

    assert {recipe: names for recipe, names in tables.items() if len(names) != 1} == {}
    assert [name for (name,) in tables.values() if name != GROUP and not find(name)] == []


def test_a_recipe_names_its_tests():
    tests = {
        recipe: re.findall(r"`(tests/[\w/]+\.py)`", line(recipe, "Tests")) for recipe in RECIPES
    }

    assert [recipe for recipe, paths in tests.items() if not paths] == []
    assert [path for paths in tests.values() for path in paths if not (ROOT / path).is_file()] == []


def test_the_modules_and_folders_of_a_recipe_exist():
    paths = re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", "".join(RECIPES.values()))

    source = ROOT / "src" / "tfprof"
    assert len(paths) > 20
    assert [p for p in paths if not ((source / p).exists() or (ROOT / p).exists())] == []

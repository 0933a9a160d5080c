"""The tables of docs/explanation/architecture.md are true of the code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import pytest

from architecture_page import LAYER, MAY_IMPORT, OTHER_IMPORTS, PAGE, SHARED, named, names, rows
from code_imports import (
    IMPORTS,
    INSIDE,
    OTHERS,
    PACKAGES,
    SOURCE,
    TREES,
    imported,
    own_modules,
    top,
)

ROOT = Path(__file__).parent.parent

COMPILED = {
    *("formats.kineto.scan", "formats.kineto.scan_fields"),
    *("formats.kineto.scan_json", "formats.kineto.scan_texts"),
    *("formats.scan", "formats.scan_bytes", "formats.scan_rows", "formats.text"),
    *("kernels.lanes", "kernels.lines", "kernels.nesting", "kernels.rows"),
    *("kernels.timelines", "kernels.trees"),
    *("kernels.name_order", "kernels.name_scopes", "kernels.name_search", "kernels.name_table"),
}
FRAMEWORKS = {"tensorflow", "torch", "jax", "keras", "flax", "onnx"}
LIVE = {
    "classic",
    "capture",
    "frameworks",
}  # for running programs
MOST_LINES = 500
UNSAFE_READERS = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}


# Finding imports.


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import tfprof.views.scope", {"views.scope"}),
        ("from tfprof.views import scope, tree", {"views.scope", "views.tree"}),
        ("from tfprof.views.scope import build", {"views.scope"}),
        ("from tfprof import api, load", {"api", "__init__"}),
        ("def f():\n    from tfprof.api import load", {"api"}),
        ("if TYPE_CHECKING:\n    from tfprof.api import load", {"api"}),
        ("import_module('tfprof.outputs.json')", {"outputs.json"}),
        ("import json, numpy.typing", set()),
    ],
)
def test_imports_are_found_anywhere_in_the_code(code, found):
    assert own_modules(ast.parse(code)) == found


# Layers.


def test_every_module_has_a_layer():
    assert {top(name) for name in TREES} == LAYER.keys()


def test_only_the_base_the_cli_and_the_table_of_sources_import_upwards():
    sideways = {
        (name, other)
        for name, allowed in MAY_IMPORT.items()
        for other in allowed
        if LAYER[other] >= LAYER[name]
    }

    assert {pair for pair in sideways if LAYER[pair[0]] > 0} == {
        ("cli", "shell"),
        ("sources", "fleet"),
    }
    upwards = {name for name, others in IMPORTS.items() if "fleet.store" in others}
    assert {name for name in upwards if top(name) == "sources"} == {"sources.registry"}


@pytest.mark.parametrize("name", sorted(IMPORTS))
def test_a_module_imports_only_what_its_layer_allows(name):
    allowed = MAY_IMPORT[top(name)] | {top(name)}

    assert {other for other in IMPORTS[name] if top(other) not in allowed} == set()


@pytest.mark.parametrize(
    ("name", "other"),
    sorted(
        (name, other)
        for _, modules, allowed in rows("Layers and imports")
        for name in names(modules)
        for other in named(allowed)
    ),
)
def test_an_import_that_the_page_allows_by_name_exists(name, other):
    assert any(
        top(target) == other
        for source, targets in IMPORTS.items()
        if top(source) == name
        for target in targets
    )


# Inside packages.


def test_every_package_has_its_rule():
    assert SHARED.keys() == PACKAGES


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_modules_of_a_package_import_only_what_they_share_and_what_the_page_lists(package):
    listed = OTHER_IMPORTS[package]

    assert {
        (name, other)
        for where, name, other in INSIDE
        if where == package
        and other not in SHARED[package]
        and listed.isdisjoint({(name, other), (name, "all")})
    } == set()


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_every_import_inside_a_package_that_the_page_lists_exists(package):
    found = {(name, other) for where, name, other in INSIDE if where == package}

    assert SHARED[package] <= {other for _, other in found}
    assert {pair for pair in OTHER_IMPORTS[package] if pair[1] != "all"} <= found
    assert {name for name, target in OTHER_IMPORTS[package] if target == "all"} <= {
        name for name, _ in found
    }


def test_there_are_no_circular_imports():
    try:
        TopologicalSorter(IMPORTS).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


# The table of modules.


def files_of(cell: str) -> list[Path]:
    """The files and folders that a cell names; some only within the folder of the first one."""
    paths = re.findall(r"`([\w/]+(?:\.py|/))`", cell)
    folder = SOURCE / paths[0] if paths else SOURCE
    folder = folder.parent if folder.suffix else folder
    return [SOURCE / path if (SOURCE / path).exists() else folder / path for path in paths]


def test_every_module_is_in_the_table_of_modules():
    listed = {path for modules, _ in rows("Modules") for path in files_of(modules)}

    assert {
        str(file.relative_to(SOURCE))
        for file in SOURCE.rglob("*.py")
        if listed.isdisjoint((file, *file.parents)) and file.name != "__init__.py"
    } == set()


@pytest.mark.parametrize(("modules", "content"), rows("Modules"))
def test_the_files_that_the_table_of_modules_names_exist(modules, content):
    found = files_of(modules + content)

    assert files_of(modules)
    assert [str(path) for path in found if not path.exists()] == []


def test_the_other_files_that_the_page_names_exist():
    paths = re.findall(r"`((?:tests|benchmarks|docs)/[\w/]+(?:\.\w+)?)`", PAGE)
    modules = re.findall(r"`((?:\w+/)+\w+\.py)`", PAGE)

    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert [
        path for path in modules if not ((SOURCE / path).exists() or (ROOT / path).exists())
    ] == []


def test_every_decision_names_its_tests():
    decisions = re.findall(r"^- \*\*.*$", PAGE, re.MULTILINE)

    assert len(decisions) > 10
    tests = r"Tests: (`tests/[\w/]+\.py` ?)+\.$"
    assert [line for line in decisions if not re.search(tests, line)] == []


def test_no_module_is_long_except_the_text_reader():
    lines = {path: path.read_text("utf-8").count("\n") for path in SOURCE.rglob("*.py")}

    assert {
        str(path.relative_to(SOURCE)) for path, count in lines.items() if count > MOST_LINES
    } == {"formats/text.py"}


# Principles.


def calls(tree: ast.Module) -> set[str]:
    """The names of all functions and classes that are called in a file."""
    return {
        ast.unparse(node.func).rpartition(".")[2]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    }


def test_only_the_builder_and_the_source_of_saved_profiles_create_columns_of_a_profile():
    assert {name for name, tree in TREES.items() if "ProfileColumns" in calls(tree)} == {
        "model.builder",
        "sources.profile_file",
    }


def test_no_output_selects_rows():
    assert {
        name
        for name, others in IMPORTS.items()
        if top(name) == "outputs" and "views.select" in others
    } == set()


def test_no_file_is_mapped_into_memory():
    assert {name for name, tree in TREES.items() if "mmap" in calls(tree)} == set()


# Views and outputs.


def branches_on_view_names(tree: ast.Module) -> list[int]:
    """The lines that use `view.kind` other than as a label or to look up its registry entry."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and re.search(r"\bview\.kind$", ast.unparse(node)):
            user = parents[node]
            is_label = isinstance(user, ast.FormattedValue | ast.Dict | ast.Call)
            is_key = isinstance(user, ast.Subscript) and ast.unparse(user.value) == "VIEWS"
            if not (is_label or is_key):
                found.append(node.lineno)
    return found


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("if view.kind == 'op': pass", [1]),
        ("if self.view.kind in ('op', 'code'): pass", [1]),
        ("match view.kind:\n    case 'op': pass", [1]),
        ("found = {'op': 1}[view.kind]", [1]),
        ("kind = view.kind", [1]),
        ("print(f'{view.kind} view')", []),
        ("require(spec, self.view.kind)", []),
        ("found = {'view': view.kind}", []),
        ("sentence = VIEWS[view.kind].sentence", []),
        ("if spec.kind == 'stdout': pass", []),
    ],
)
def test_branches_on_the_name_of_a_view_are_found(code, lines):
    assert branches_on_view_names(ast.parse(code)) == lines


@pytest.mark.parametrize(
    "name", sorted(name for name in TREES if top(name) in ("outputs", "answers", "views"))
)
def test_no_output_or_view_branches_on_the_name_of_a_view(name):
    assert branches_on_view_names(TREES[name]) == []


# External packages.


@pytest.mark.parametrize("name", sorted(name for name in OTHERS if top(name) not in LIVE))
def test_only_modules_for_live_programs_import_a_framework(name):
    assert OTHERS[name].isdisjoint(FRAMEWORKS)


@pytest.mark.parametrize("name", sorted(name for name in TREES if top(name) in LIVE))
def test_modules_for_live_programs_import_frameworks_only_inside_functions(name):
    inside = {
        deeper
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.FunctionDef)
        for deeper in ast.walk(node)
    }
    outside = ast.Module([node for node in ast.walk(TREES[name]) if node not in inside], [])
    outside.body = [node for node in outside.body if isinstance(node, ast.Import | ast.ImportFrom)]

    assert {full.partition(".")[0] for full in imported(outside)}.isdisjoint(FRAMEWORKS)
    assert OTHERS[name] & FRAMEWORKS <= {"tensorflow", "torch"}


@pytest.mark.parametrize(("package", "modules"), rows("Packages from outside"))
def test_a_package_from_outside_is_imported_where_the_page_says(package, modules):
    importers = {name for name, others in OTHERS.items() if names(package)[0] in others}
    stated = names(modules)

    assert {
        name for name in importers if not any(f"{name}.".startswith(f"{one}.") for one in stated)
    } == set()
    assert {
        one for one in stated if not any(f"{name}.".startswith(f"{one}.") for name in importers)
    } == set()


def test_every_package_from_outside_is_in_the_table():
    needed = set().union(*OTHERS.values()) - sys.stdlib_module_names

    assert needed == {names(package)[0] for package, _ in rows("Packages from outside")}


def test_only_compiled_modules_import_cython():
    compiled = {name for name, others in OTHERS.items() if "cython" in others}

    assert compiled == COMPILED
    # `tests/formats/test_scan.py`, `test_text.py` and `tests/kernels` run them as plain Python.


def test_all_compiled_modules_are_built_or_none():
    # If only some are compiled, a build failed or is outdated, and tests of compiled code are
    # skipped.
    origins = {name: find_spec(f"tfprof.{name}").origin for name in COMPILED}
    plain = {name for name, origin in origins.items() if origin.endswith(".py")}

    assert plain in (set(), COMPILED), "rebuild the compiled modules: see CONTRIBUTING.md"


@pytest.mark.parametrize("name", sorted(TREES))
def test_no_module_executes_what_it_reads(name):
    words = {node.id for node in ast.walk(TREES[name]) if isinstance(node, ast.Name)}
    keywords = {node.arg for node in ast.walk(TREES[name]) if isinstance(node, ast.keyword)}

    assert words.isdisjoint({"eval", "exec", "compile", "__import__"})
    assert OTHERS[name].isdisjoint(UNSAFE_READERS)
    assert "allow_pickle" not in keywords


@pytest.mark.parametrize(
    "statement",
    [
        "import tfprof",
        "from tfprof import ProfileOptionBuilder",
        "import tfprof.cli",
        "import tfprof.commands.table",
        "from tfprof.cli import main; main(['--help'])",
        "from tfprof.cli import main; main(['scope', '--max_dept', '3'])",
    ],
)
def test_quick_commands_load_neither_numpy_nor_protobuf_nor_re2(statement):
    report = "import sys; print(*{'numpy', 'google.protobuf', 're2'} & sys.modules.keys())"

    ran = subprocess.run(
        [sys.executable, "-c", f"{statement}\n{report}"], capture_output=True, text=True, check=True
    )

    assert ("\n" + ran.stdout).splitlines()[-1] == ""


def test_tables_of_classic_views_load_no_modules_that_only_other_answers_need(tmp_path):
    graph = tmp_path / "graph.pbtxt"
    graph.write_text('node { name: "a" op: "NoOp" }')
    ask = f"tfprof.load({str(graph)!r}).scope(output='file:outfile={tmp_path}/table')"
    others = {
        *("tempfile", "importlib.resources", "tfprof.formats.parquet", "tfprof.views.layers"),
        *("tfprof.measures.layers", "tfprof.outputs.aligned_rows", "tfprof.sources.tf_functions"),
    }
    report = f"import sys; print(*{others} & sys.modules.keys())"

    ran = subprocess.run(
        [sys.executable, "-c", f"import tfprof; {ask}.write(); {report}"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout.split() == []

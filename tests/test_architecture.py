"""The rules of docs/explanation/architecture.md, besides its contracts on imports.

`make check` checks those contracts: `[tool.importlinter]` in pyproject.toml.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from architecture_page import PAGE, rows

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tfprof"
MOST_LINES = 500


@cache
def texts() -> dict[str, str]:
    """The source of each module, by its name below the package, such as `views.scope`."""
    files = ((path.relative_to(SOURCE), path) for path in SOURCE.rglob("*.py"))
    return {
        ".".join(file.with_suffix("").parts).removesuffix(".__init__"): path.read_text("utf-8")
        for file, path in files
    }


@cache
def trees(regex: str) -> dict[str, ast.Module]:
    """The syntax trees of the modules with a match: it takes seconds to parse all of them."""
    return {name: ast.parse(text) for name, text in texts().items() if re.search(regex, text)}


def package(name: str) -> str:
    """The part of tfprof that a module belongs to, such as `views`."""
    return name.partition(".")[0]


# Imports.


def test_the_page_has_the_reason_for_every_contract():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]

    listed = [cell.strip() for cell, _ in rows("Layers and imports")]
    assert listed == [contract["name"] for contract in contracts["contracts"]]


def named_in_tables() -> set[tuple[str, str]]:
    """Modules with strings that are names of modules, and these; the public names are left out."""
    return {
        (name, other)
        for name, text in texts().items()
        for other in re.findall(r"""["']tfprof\.([\w.]+)["']""", text)
        if other in texts() and name != "__init__"
    }


def test_tables_name_modules_of_their_own_package_except_these():
    named = named_in_tables()

    assert ("outputs.registry", "outputs.json") in named
    assert {(name, package(other)) for name, other in named if package(name) != package(other)} == {
        ("comparison_outputs", "outputs"),
        ("comparison_outputs", "page"),
        ("sources.registry", "fleet"),  # a store is read as a profile
        ("sources.registry", "formats"),
    }


def test_every_package_from_outside_is_in_a_contract_that_limits_its_use():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    limited = {
        name
        for contract in contracts["contracts"]
        for key in ("protected_modules", "forbidden_modules")
        for name in contract.get(key, ())
    }

    statement = r"(?m)^ *(?:import (\w+)[\w.]*(?: as \w+)?(?:  #.*)?$|from (\w+)[\w.]* import )"
    found = re.findall(statement, "\n".join(texts().values()))
    imported = {"".join(names) for names in found}
    assert imported - sys.stdlib_module_names - {"tfprof"} - limited == set()
    assert "numpy" in imported


def imports_outside_functions(tree: ast.Module) -> set[str]:
    """The packages that are imported when a module is, or for type checkers."""
    found, left = set(), list(ast.iter_child_nodes(tree))
    while left:
        node = left.pop()
        if isinstance(node, ast.Import):
            found.update(package(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(package(str(node.module)))
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            left += ast.iter_child_nodes(node)
    return found


def test_frameworks_are_imported_only_inside_functions():
    users = trees(r"\b(import|from) (tensorflow|torch)\b")

    assert "frameworks" in users
    assert [
        name
        for name, tree in users.items()
        if imports_outside_functions(tree) & {"tensorflow", "torch"}
    ] == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import torch.nn, json", {"torch", "json"}),
        ("from torch.nn import Module", {"torch"}),
        ("if TYPE_CHECKING:\n    import torch", {"torch"}),
        ("class A:\n    import torch", {"torch"}),
        ("class A:\n    def f(self):\n        import torch", set()),
        ("async def f():\n    import torch", set()),
    ],
)
def test_imports_outside_functions_are_found(code, found):
    assert imports_outside_functions(ast.parse(code)) == found


def compiled() -> set[str]:
    """The modules that setup.py compiles."""
    (table,) = re.findall(r"(?ms)^COMPILED = (\[.*?^\])", (ROOT / "setup.py").read_text("utf-8"))
    return {name.removeprefix("tfprof.") for name in ast.literal_eval(table)}


def test_the_compiled_modules_are_those_that_import_cython():
    # `tests/formats/test_scan.py`, `test_text.py` and `tests/kernels` run them as plain Python.
    assert compiled() == {
        name for name, text in texts().items() if re.search(r"(?m)^ *(import|from) cython\b", text)
    }


def test_all_compiled_modules_are_built_or_none():
    # If only some are compiled, a build failed or is outdated, and tests of compiled code are
    # skipped.
    origins = {name: find_spec(f"tfprof.{name}").origin for name in compiled()}
    plain = {name for name, origin in origins.items() if origin.endswith(".py")}

    assert plain in (set(), compiled()), "rebuild the compiled modules: see CONTRIBUTING.md"


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


def test_the_files_that_the_table_of_modules_names_exist():
    table = rows("Modules")

    assert [modules for modules, _ in table if not files_of(modules)] == []
    assert [
        str(path) for cells in table for path in files_of("".join(cells)) if not path.exists()
    ] == []


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
    assert {name for name, text in texts().items() if text.count("\n") > MOST_LINES} == {
        "formats.text"
    }


# Principles.


def calls(tree: ast.Module) -> set[str]:
    """The names of all functions and classes that are called in a file."""
    return {
        ast.unparse(node.func).rpartition(".")[2]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    }


def test_only_the_builder_and_the_source_of_saved_profiles_create_columns_of_a_profile():
    users = trees(r"\bProfileColumns\(")

    assert {name for name, tree in users.items() if "ProfileColumns" in calls(tree)} == {
        "model.builder",
        "sources.profile_file",
    }


def test_no_file_is_mapped_into_memory():
    assert [name for name, tree in trees(r"\bmmap\b").items() if "mmap" in calls(tree)] == []


def ways_to_execute(tree: ast.Module) -> set[str]:
    """The names and keywords in a file that execute what was read."""
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    keywords = {node.arg for node in nodes if isinstance(node, ast.keyword)}
    return names & {"eval", "exec", "compile", "__import__"} | keywords & {"allow_pickle"}


def test_no_module_executes_what_it_reads():
    users = trees(r"(?<![\w.])(eval|exec|compile|__import__|allow_pickle)\b")

    assert {name: found for name, tree in users.items() if (found := ways_to_execute(tree))} == {}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("run = eval", {"eval"}),
        ("numpy.load(path, allow_pickle=False)", {"allow_pickle"}),
        ("re.compile('exec')", set()),
    ],
)
def test_ways_to_execute_what_was_read_are_found(code, found):
    assert ways_to_execute(ast.parse(code)) == found


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


def test_no_output_or_view_branches_on_the_name_of_a_view():
    users = {
        name: tree
        for name, tree in trees(r"\bview\.kind\b").items()
        if package(name) in ("outputs", "answers", "views")
    }

    assert users
    found = {name: branches_on_view_names(tree) for name, tree in users.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


# Starting quickly.


def test_quick_commands_load_neither_numpy_nor_protobuf_nor_re2():
    statements = [
        "import tfprof",
        "from tfprof import ProfileOptionBuilder",
        "import tfprof.cli",
        "import tfprof.commands.table",
        "tfprof.cli.main(['--help'])",
        "tfprof.cli.main(['scope', '--max_dept', '3'])",
    ]
    report = "print('loaded:', *{'numpy', 'google.protobuf', 're2'} & sys.modules.keys())"
    script = "\n".join(["import sys", *(f"{one}\n{report}" for one in statements)])

    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert re.findall(r"(?m)^loaded:(.*)$", ran.stdout) == [""] * len(statements)


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

"""Which modules may import which, and what no module may do."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tfprof"

BASE = {
    *("errors", "units", "regex_advice", "patterns", "columns", "memo", "kernels", "version"),
}
BELOW_API = BASE | {
    *("dialects", "metrics", "formats", "options", "model"),
    *("sources", "measures", "views", "advisor", "outputs"),
}

# The table of docs/explanation/architecture.md: what each module or folder may import.
LAYERS: dict[int, dict[str, set[str]]] = {
    0: {
        "errors": set(),
        "units": {"errors", "kernels"},
        "regex_advice": set(),
        "patterns": {"errors", "regex_advice", "columns"},
        "columns": {"kernels"},
        "memo": set(),
        "kernels": set(),
        "version": set(),
    },
    1: {"metrics": BASE, "dialects": BASE, "formats": BASE, "frameworks": BASE},
    2: {"options": BASE | {"metrics", "dialects"}, "model": BASE | {"metrics"}},
    3: {
        "sources": BASE | {"formats", "model", "metrics"},
        "measures": BASE | {"model", "metrics"},
    },
    4: {"views": BASE | {"model", "metrics", "dialects", "options", "measures"}},
    5: {"advisor": BASE | {"model", "metrics", "options", "measures", "views"}},
    6: {
        "outputs": BASE | {"formats", "model", "metrics", "options", "measures", "views", "advisor"}
    },
    7: {"answers": BELOW_API},
    8: {"api": BELOW_API | {"answers"}},
    9: {
        "model_dir": BELOW_API | {"api"},
        "classic": BELOW_API | {"api", "answers", "frameworks"},
        "capture": BELOW_API | {"api", "answers", "frameworks"},
    },
    10: {
        "contrib": {"classic", "formats"},
        "pprof_profiler": {"classic"},
        "commands": BELOW_API | {"api", "model_dir", "capture"},
    },
    11: {
        "cli": BASE | {"options", "formats", "sources", "api", "commands", "shell"},
        "shell": BELOW_API | {"api", "commands"},
    },
}
MAY_IMPORT = {name: below for layer in LAYERS.values() for name, below in layer.items()}

# The entry points of the package are outside the layers: `tfprof` exports names from most of them.
ENTRY_POINTS = {
    "__init__": BELOW_API | {"answers", "api", "classic", "capture", "contrib", "pprof_profiler"},
    "__main__": {"cli"},
}

# Folders whose modules may not import each other: the modules that all of them share, and the
# modules that may import more.
EVERY = None
SHARED = {
    "sources": {
        *("source", "ahead", "tf_attributes", "tf_devices", "tf_functions", "tf_names"),
        *("tf_shapes", "tf_workers", "xspace_events", "xspace_vocabulary", "saved_attributes"),
    },
    "sources.tf_functions": {"calls", "units", "layout"},
    "views": {"view", "tree", "select", "accounting", "registry"},
    "advisor": {"finding", "steps", "kinds"},
    "outputs": {
        *("text", "tabular", "tensor_text", "fields", "parts", "pieces", "proto", "stacks"),
        "chart",
    },
    "measures.flop_rules": {"registry", "fused"},
}
MAY_ALSO_IMPORT = {
    "sources.registry": EVERY,
    "sources.xspace": {"tf_events", "xspace_memory"},
    "sources.tf_functions": EVERY,
    "sources.tf_functions.flat": {"notes", "variables"},
    "views.notes": {"code"},
    "views.schedule": {"memory_curve"},
    "views.lines": {"code"},
    "views.memory": {"scope", "lines"},
    "advisor.registry": EVERY,
    "outputs.advice_message": {"advice"},
    "outputs.registry": EVERY,
    "outputs.op_log": {"registry"},
    "outputs.text": {"flat_rows"},
    "outputs.step_timeline": {"json_rows", "step_events", "tensor_descriptions"},
    "measures.flop_rules": EVERY,
}

COMPILED = {
    *("formats.scan", "formats.scan_bytes", "formats.scan_rows", "formats.text"),
    *("kernels.lanes", "kernels.lines", "kernels.rows", "kernels.timelines", "kernels.trees"),
    *("kernels.name_order", "kernels.name_scopes", "kernels.name_search", "kernels.name_table"),
}
FRAMEWORKS = {"tensorflow", "torch", "jax", "keras", "flax", "onnx"}
LIVE = {
    "classic",
    "capture",
    "frameworks",
}  # these profile running programs that have already loaded their framework
OURS = rf"tfprof\.({'|'.join(path.stem for path in SOURCE.iterdir())})(\.\w+)*"
UNSAFE_READERS = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}


def module_name(path: Path) -> str:
    """The name of a module within the package, such as `views.scope`, or of a folder."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


TREES = {module_name(path): ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}


def imported(tree: ast.Module) -> set[str]:
    """Everything that is imported anywhere in a file: full names of modules or of names in them.

    Strings that name one of our modules count too, because they are used to import it.
    """
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "use absolute imports"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and re.fullmatch(OURS, str(node.value)):
            found.add(str(node.value))
    return found


def own_modules(tree: ast.Module) -> set[str]:
    """Our modules that are imported anywhere in a file, by their names in `TREES`."""
    found = set()
    for name in imported(tree):
        package, _, inner = name.partition(".")
        while package == "tfprof" and inner and inner not in TREES:
            inner = inner.rpartition(".")[0]  # the import names something in a module
        if package == "tfprof":
            found.add(inner or "__init__")
    return found


IMPORTS = {name: own_modules(tree) - {name} for name, tree in TREES.items()}
OTHERS = {
    name: {full.partition(".")[0] for full in imported(tree)} - {"tfprof"}
    for name, tree in TREES.items()
}


def top(name: str) -> str:
    return name.partition(".")[0]


def folder(name: str) -> str:
    """The folder of a module; a folder listed in `SHARED` is its own folder."""
    return name if name in SHARED else name.rpartition(".")[0]


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


# The table of layers.


def test_every_module_has_a_row_in_the_table():
    assert {top(name) for name in TREES} == MAY_IMPORT.keys() | ENTRY_POINTS.keys()


def test_the_table_agrees_with_the_manual():
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text("utf-8")

    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", page, re.MULTILINE)

    assert {int(layer): set(re.findall(r"`(\w+)`", names)) for layer, names in rows} == {
        layer: set(names) for layer, names in LAYERS.items()
    }


def test_only_the_base_and_the_cli_import_from_their_own_layer():
    layer_of = {name: layer for layer, names in LAYERS.items() for name in names}
    sideways = {
        (name, other)
        for name, below in MAY_IMPORT.items()
        for other in below
        if layer_of[other] >= layer_of[name]
    }

    assert sideways == {
        ("units", "errors"),
        ("patterns", "errors"),
        ("patterns", "regex_advice"),
        ("patterns", "columns"),
        ("columns", "kernels"),
        ("units", "kernels"),
        ("cli", "shell"),
    }


@pytest.mark.parametrize("name", sorted(IMPORTS))
def test_a_module_imports_only_what_its_layer_allows(name):
    allowed = (MAY_IMPORT | ENTRY_POINTS)[top(name)] | {top(name)}

    assert {other for other in IMPORTS[name] if top(other) not in allowed} == set()


@pytest.mark.parametrize("name", sorted(name for name in IMPORTS if folder(name) in SHARED))
def test_modules_in_a_folder_import_only_the_shared_ones(name):
    more = MAY_ALSO_IMPORT.get(name, set())
    siblings = {
        other.rpartition(".")[2]
        for other in IMPORTS[name]
        if folder(other) == folder(name) and other != folder(name)
    }

    assert more is EVERY or siblings <= SHARED[folder(name)] | more


def test_there_are_no_circular_imports():
    try:
        TopologicalSorter(IMPORTS).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


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
    assert OTHERS[name] & FRAMEWORKS <= {"tensorflow"}


def test_only_formats_imports_protobuf():
    assert {top(name) for name, others in OTHERS.items() if "google" in others} == {"formats"}


def test_only_patterns_imports_re2():
    assert {name for name, others in OTHERS.items() if "re2" in others} == {"patterns"}


def test_the_imported_packages_are_the_required_and_optional_dependencies():
    optional = {"pandas", "prompt_toolkit", "cython", "tensorflow"}
    needed = set().union(*OTHERS.values()) - sys.stdlib_module_names

    assert needed == {"numpy", "google", "re2"} | optional


def test_only_the_menu_prompt_of_the_shell_imports_prompt_toolkit():
    knowing = {name for name, others in OTHERS.items() if "prompt_toolkit" in others}

    assert knowing == {"shell.menu_prompt"}


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

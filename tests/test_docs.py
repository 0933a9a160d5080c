"""The manual agrees with the program."""

from __future__ import annotations

import importlib.util
import io
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tfprof
from build import op, profile
from counting import counted
from tfprof.advisor.registry import CHECKERS
from tfprof.cli import main
from tfprof.commands.table import COMMANDS
from tfprof.measures.flop_rules import registry
from tfprof.metrics import METRICS
from tfprof.options import INPUT_OPTIONS, MEMORY_OPTIONS, VIEW_OPTIONS, Options
from tfprof.outputs.registry import FILE_OUTPUTS
from tfprof.shell import loop
from tfprof.shell.screen import Pipe
from tfprof.shell.session import Session

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
PAGES = sorted((ROOT / "docs").rglob("*.md"))
MANUAL = "\n".join(page.read_text("utf-8") for page in PAGES)
COMMAND_LINES = re.findall(r"^\$ (tfprof .+)$", README + MANUAL, re.MULTILINE)


@pytest.fixture
def _repository_copy(tmp_path, monkeypatch):
    """A folder with the examples, where the commands of the manual can run."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copytree(ROOT / "tests" / "samples" / "capture", tmp_path / "runs" / "a")
    shutil.copy(ROOT / "tests" / "samples" / "keras" / "small.keras", tmp_path)
    for name in ("net.safetensors", "net.pt2", "compiled.json.gz", "compiled.log"):
        shutil.copy(ROOT / "tests" / "samples" / "pytorch" / name, tmp_path)
    shutil.copy(ROOT / "tests" / "samples" / "h200" / "gpt.json.gz", tmp_path)
    for name in ("transformer/transformer", "pytorch/slow", "pytorch/fast"):
        shutil.copy(ROOT / "examples" / f"{name}.tfprof", tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_repository_copy")
def test_every_command_in_the_manual_runs(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())  # ends a shell at once
    assert len(COMMAND_LINES) > 5
    for line in COMMAND_LINES:
        status = main(words_of(line))

        assert status == 0, f"{line}\n{capsys.readouterr().err}"


@pytest.mark.usefixtures("_repository_copy")
@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/explanation/generations.md",
        "docs/how-to/budgets.md",
        "docs/how-to/capture.md",
        "docs/how-to/float-operations.md",
        "docs/how-to/keras-files.md",
        "docs/how-to/pytorch-files.md",
        "docs/how-to/pytorch-record.md",
        "docs/how-to/saved-models.md",
        "docs/how-to/steps.md",
    ],
)
def test_a_page_shows_the_real_output_of_its_example(page, capsys):
    text = (ROOT / page).read_text("utf-8")
    line, shown = re.search(r"```console\n\$ (tfprof .+)\n((?:.*\n)*?)```", text).groups()

    main(words_of(line))

    assert capsys.readouterr().out == shown


@pytest.mark.usefixtures("_repository_copy")
def test_the_page_on_several_hosts_shows_the_real_comparison(capsys):
    text = (ROOT / "docs/how-to/several-hosts.md").read_text("utf-8")
    line, shown = re.search(r"```console\n\$ (tfprof ranks .+)\n((?:.*\n)*?)```", text).groups()

    main(words_of(line))

    assert capsys.readouterr().out == shown


def test_the_page_on_kernels_shows_the_real_table():
    text = (ROOT / "docs/how-to/kernels.md").read_text("utf-8")
    shown = re.search(r"```\n(Doc:\n(?:.*\n)*?)```", text).group(1)

    trace = ROOT / "tests" / "samples" / "h200" / "gpt.json.gz"

    assert tfprof.load(trace).kernels(max_rows=8).draw(110).strip() == shown.strip()


TUTORIAL = (ROOT / "docs" / "tutorial" / "keras.md").read_text("utf-8")
OF_PYTORCH = (ROOT / "docs" / "tutorial" / "pytorch.md").read_text("utf-8")
COMPARING = (ROOT / "docs" / "how-to" / "compare.md").read_text("utf-8")


@pytest.mark.usefixtures("_repository_copy")
@pytest.mark.parametrize(
    ("line", "shown"),
    re.findall(
        r"```console\n\$ (tfprof .+)\n((?:(?!```).*\n)+)```", TUTORIAL + OF_PYTORCH + COMPARING
    ),
)
def test_the_tutorials_and_the_page_on_comparing_show_real_output(line, shown, capsys):
    main(words_of(line))

    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(("name", "count"), [("slow", 2), ("fast", 1)])
def test_the_tutorial_for_pytorch_quotes_its_scripts(name, count):
    program = (ROOT / "examples" / "pytorch" / f"{name}.py").read_text("utf-8")
    lines = {line.strip() for line in program.splitlines()}
    quoted = re.findall(r"```python\n(.*?)```", OF_PYTORCH, re.DOTALL)

    assert sum(all(one.strip() in lines for one in code.splitlines()) for code in quoted) == count


@pytest.mark.live
def test_the_tutorial_for_keras_shows_the_layers_of_its_program():
    pytest.importorskip("tensorflow", reason="TensorFlow is not installed: nothing to trace")
    code, shown = re.search(
        r"```python\n((?:.*\n)*?)```\n\n```\n((?:.*\n)*?)```", TUTORIAL
    ).groups()
    program = (ROOT / "examples" / "transformer" / "train.py").read_text("utf-8")
    model, training = program.split("\nloss = ")
    printed = subprocess.run(
        [sys.executable, "-c", f"{model}\nimport tfprof\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert "model.fit" in training
    assert printed.rstrip("\n") == shown.rstrip("\n")


@pytest.mark.usefixtures("_repository_copy")
def test_the_page_on_the_shell_shows_the_real_answers_of_its_session(capsys):
    page = (ROOT / "docs" / "how-to" / "shell.md").read_text("utf-8")
    greeting, shown = re.search(r"```console\n\$ tfprof .+\n(.+)\n((?:.*\n)*?)```", page).groups()
    lines = re.findall("^tfprof> (.*)$", shown, re.MULTILINE)
    loaded = tfprof.load(*sorted(Path("examples/resnet32").glob("*.gz")))

    class Typist:
        answers = ""

        def read(self, _):
            self.answers += "".join(capsys.readouterr())
            self.answers += f"tfprof> {lines[0]}\n"
            return lines.pop(0)

    typist = Typist()
    loop.converse(Session(loaded, Options(), Pipe()), typist)

    assert greeting == loop.greeting(loaded)
    assert typist.answers == shown


@pytest.mark.usefixtures("_repository_copy")
def test_the_page_on_memory_shows_the_real_output_of_its_example(capsys):
    page = (ROOT / "docs" / "how-to" / "memory.md").read_text("utf-8")
    shown = re.search(r"```console\n\$ tfprof memory .+\n((?:.*\n)*?)```", page).group(1)
    files = sorted(map(str, Path("examples/resnet32").glob("*.gz")))

    main(["memory", *files, "-max_rows", "5"])

    assert capsys.readouterr().out == shown


@pytest.mark.usefixtures("_repository_copy")
def test_the_page_on_advice_shows_real_output(capsys):
    page = (ROOT / "docs" / "how-to" / "advise.md").read_text("utf-8")
    line, shown = re.search(r"```console\n\$ (tfprof .+)\n((?:.*\n)*?)```", page).groups()

    main([*shlex.split(line)[1:2], *sorted(map(str, Path().glob(shlex.split(line)[2])))])

    assert capsys.readouterr().out == shown


def test_the_checker_in_the_manual_works():
    page = (ROOT / "docs" / "how-to" / "advise.md").read_text("utf-8")
    code = re.search(r"```python\n(\"\"\"(?:.*\n)*?)```", page)[1]
    module = {}
    exec(code, module)  # noqa: S102 -- code from our own manual

    (finding,) = module["check"](profile(op("a", "ScalarSummary"), op("b", "Add")))

    assert module["SUMMARY"]
    assert finding.ops == ("a",)


def test_the_float_op_rule_in_the_manual_works(monkeypatch):
    monkeypatch.setattr(registry, "_rules", dict(registry._rules))
    page = (ROOT / "docs" / "how-to" / "float-operations.md").read_text("utf-8")
    code = re.search(r"```python\n(import tfprof\n(?:.*\n)*?)```", page)[1]

    exec(code, {})  # noqa: S102 -- code from our own manual

    shapes = {"inputs": [(2, 16, 32)], "output": (2, 16, 32)}
    assert counted("MyFlashAttention", **shapes) == 4 * 2 * 16 * 16 * 32
    assert counted("MyFlashAttention", causal=True, **shapes) == 2 * 2 * 16 * 16 * 32


def words_of(line):
    """The words after `tfprof`, with patterns expanded as by a shell."""
    return [
        path
        for word in shlex.split(line)[1:]
        for path in (sorted(map(str, Path().glob(word))) if "*.gz" in word else [word])
    ]


def test_the_readme_is_short():
    assert len(README.splitlines()) < 150


def test_every_option_command_output_and_checker_is_in_the_manual():
    options = VIEW_OPTIONS | MEMORY_OPTIONS | INPUT_OPTIONS
    names = [*options, *COMMANDS, *FILE_OUTPUTS, *CHECKERS]

    assert len(names) > 80
    assert [name for name in names if f"`{name}" not in MANUAL] == []


def test_every_metric_is_in_the_manual():
    assert [metric.key for metric in METRICS if f"`{metric.key}`" not in MANUAL] == []


def test_the_reference_pages_are_up_to_date():
    spec = importlib.util.spec_from_file_location("generate_docs", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    for name, page in module.PAGES.items():
        written = (ROOT / "docs" / "reference" / name).read_text("utf-8")
        assert written == page(), f"{name} is out of date: make docs"


def test_every_link_in_the_manual_has_a_target():
    links = [
        (page, target)
        for page in (*PAGES, *ROOT.glob("*.md"))
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8"))
    ]

    assert len(links) > 100
    assert [
        f"{page.name}: {target}" for page, target in links if not (page.parent / target).exists()
    ] == []


@pytest.mark.live
def test_the_keras_example_prints_parameters_and_float_ops():
    pytest.importorskip("tensorflow", reason="TensorFlow is not installed: nothing to trace")
    shown = subprocess.run(
        [sys.executable, ROOT / "examples" / "keras_cnn.py"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert "_TFProfRoot (--/13.61k params)" in shown
    assert "cnn_1/conv_1/convolution (97.34k/97.34k flops)" in shown


def test_the_demo_prints_parameters_float_ops_and_time_and_writes_a_report(tmp_path):
    shown = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    ).stdout

    report = tmp_path / "build" / "demo" / "resnet32.html"
    assert shown.endswith(f"{report}\n")
    assert "ResNet-32" in report.read_text("utf-8")

    assert "_TFProfRoot (--/464.15k params)" in shown
    assert "Conv2D                   17.63b float_ops" in shown
    assert "_TFProfRoot (--/1.49sec, --/0us, --/1.49sec)" in shown

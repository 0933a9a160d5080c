"""The packages that a user installs: their licences and known vulnerabilities."""

import json
import re
import tomllib
from importlib.metadata import Distribution

import dependencies
import pytest
from dependencies import PACKAGES, PERMISSIVE

PYPROJECT = tomllib.loads((dependencies.ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.fixture
def package(tmp_path):
    """Makes an installed package with some metadata."""

    def make(*lines, name="numpy"):
        folder = tmp_path / f"{name}.dist-info"
        folder.mkdir()
        text = "\n".join(["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", *lines, ""])
        (folder / "METADATA").write_text(text, encoding="utf-8")
        return Distribution.at(folder)

    return make


def direct(requirements):
    return {re.match(r"[\w-]+", one)[0] for one in requirements}


def test_the_table_lists_every_dependency_with_its_extra():
    project = PYPROJECT["project"]
    listed = {"tfprof": set(), **{f"tfprof[{extra}]": set() for extra in dependencies.EXTRAS}}
    for one in PACKAGES:
        listed[one.installed_with].add(one.name)

    assert listed["tfprof"] == direct(project["dependencies"])
    for extra in dependencies.EXTRAS:
        assert listed[f"tfprof[{extra}]"] >= direct(project["optional-dependencies"][extra])


def test_the_table_has_only_permissive_licences():
    assert {one.licence for one in PACKAGES} <= PERMISSIVE


def test_the_libraries_of_the_page_have_permissive_licences():
    table = dependencies.page().partition("## Libraries")[2]
    licences = re.findall(r"^\| `.+? \| .+? \| .+? \| (.+?) \|", table, re.MULTILINE)

    assert len(licences) == 3
    assert set(licences) <= PERMISSIVE


def test_the_installed_packages_are_listed_and_permissive():
    for name in ("prompt_toolkit", "tomlkit", "distributed", "duckdb", "fsspec"):
        pytest.importorskip(name)

    packages = list(dependencies.installed(PYPROJECT))

    assert len(packages) >= 5
    assert list(dependencies.licence_problems(packages)) == []


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (["License-Expression: MIT"], {"MIT"}),
        (["License-Expression: BSD-3-Clause AND (MIT OR Zlib)"], {"BSD-3-Clause", "MIT", "Zlib"}),
        (["Classifier: License :: OSI Approved :: BSD License"], {"BSD-3-Clause"}),
        (["License: 3-Clause BSD License"], {"BSD-3-Clause"}),
        (["License: Some words"], {"Some words"}),
        ([], set()),
    ],
)
def test_a_package_states_its_licence_in_one_of_three_places(package, stated, expected):
    assert dependencies.licences(package(*stated)) == expected


@pytest.mark.parametrize(
    ("stated", "named"),
    [
        ("License-Expression: MIT AND GPL-3.0-only", "GPL-3.0-only"),
        ("Classifier: License :: Other/Proprietary License", "Other/Proprietary License"),
        ("Summary: no licence", "none stated"),
    ],
)
def test_a_licence_that_is_not_permissive_is_a_problem(package, stated, named):
    assert list(dependencies.licence_problems([package(stated)])) == [
        f"numpy 1.0: licence not known as permissive: {named}"
    ]


def test_a_package_that_is_not_in_the_table_is_a_problem(package):
    (problem,) = dependencies.licence_problems([package("License-Expression: MIT", name="new")])

    assert problem.startswith("new is not in PACKAGES")


def test_a_known_vulnerability_is_a_problem(capsys):
    found = [{"id": "CVE-2021-41495", "fix_versions": ["1.22"]}, {"id": "X-1", "fix_versions": []}]
    answer = {"dependencies": [{"name": "numpy", "version": "1.21", "vulns": found}]}

    assert list(dependencies.reported(json.dumps(answer), "")) == [
        "numpy 1.21: vulnerability CVE-2021-41495, fixed in 1.22",
        "numpy 1.21: vulnerability X-1, fixed in no version",
    ]
    assert capsys.readouterr().out == ""


def test_without_the_network_one_line_says_that_the_search_was_skipped(capsys):
    assert list(dependencies.reported("", "Traceback\nConnectionError: no route\n")) == []
    assert capsys.readouterr().out == (
        "Skipped the search for known vulnerabilities: ConnectionError: no route\n"
    )


def test_packages_that_the_index_does_not_know_are_named(capsys):
    answer = {"dependencies": [{"name": "numpy", "skip_reason": "…"}]}

    assert list(dependencies.reported(json.dumps(answer), "")) == []
    assert capsys.readouterr().out == (
        "Skipped the search for known vulnerabilities in numpy: not found on PyPI.\n"
    )

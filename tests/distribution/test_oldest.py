"""The oldest versions that pyproject.toml allows: `make test-oldest`."""

import re

import oldest

PYPROJECT = oldest.PYPROJECT.read_text("utf-8")

SMALL = """
[build-system]
requires = ["setuptools>=77.0.3"]
[project]
dependencies = ["numpy>=1.26"]
[project.optional-dependencies]
shell = ["prompt_toolkit>=3.0.36"]
check = ["tomlkit>=0.13"]
fleet = ["fsspec>=2024.2"]
test = ["h5py>=3.10", "mypy>=1.11", "pexpect>=4.9; sys_platform != 'win32'", "tfprof[docs]"]
fuzz = ["atheris>=3.0"]
"""


def test_the_oldest_version_of_a_requirement_is_its_lower_bound():
    assert list(oldest.oldest(SMALL)) == [
        "setuptools==77.0.3",
        "numpy==1.26",
        "prompt_toolkit==3.0.36",
        "tomlkit==0.13",
        "fsspec==2024.2",
        "h5py==3.10",
        "pexpect==4.9; sys_platform != 'win32'",
    ]


def test_every_requirement_has_a_lower_bound_and_no_other():
    for requirement in oldest.oldest(PYPROJECT):
        assert re.fullmatch(r"[\w-]+==[\d.]+(; .+)?", requirement), requirement


def test_only_requirements_of_this_project_are_left_out():
    for name in oldest.LEFT_OUT:
        assert re.search(rf'"{re.escape(name)}(>=|\[)', PYPROJECT), name

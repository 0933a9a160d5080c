"""The libraries of the report page: their table, their files, and what the package contains."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from pathlib import Path

import pytest
from setuptools import Distribution

from architecture_page import rows

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src/tfprof/page/static"
VENDOR = STATIC / "vendor"
MODULES = ROOT / "node_modules"
TABLE = [
    [cell.strip(" `") for cell in line.strip("| ").split(" | ")]
    for line in (VENDOR / "README.md").read_text("utf-8").splitlines()
    if line.startswith("| `")
]


def test_the_table_lists_every_vendored_file():
    files = {path.name for path in VENDOR.iterdir() if path.suffix in (".js", ".css")}

    assert {row[0] for row in TABLE} == files
    assert all(len(row) == 6 and all(row) for row in TABLE)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[0])
def test_a_vendored_file_has_the_hash_and_the_version_that_the_table_and_package_json_state(row):
    file, library, version, licence, digest, _ = row
    text = (VENDOR / file).read_bytes()

    assert json.loads((ROOT / "package.json").read_text())["devDependencies"][library] == version
    assert hashlib.sha256(text).hexdigest() == digest
    assert text.startswith(f"/*!\n * {library} {version}\n".encode())
    assert licence == "MIT"
    assert b"Permission is hereby granted, free of charge" in text


def test_the_architecture_page_lists_the_same_libraries():
    table = rows("The script of the report page")
    listed = {tuple(cell.strip() for cell in cells) for cells in table}

    assert {(library, version, licence) for library, version, licence, _ in listed} == {
        tuple(row[1:4]) for row in TABLE
    }
    assert {reason for *_, reason in listed} <= {row[5] for row in TABLE}


@pytest.mark.parametrize("file", sorted(VENDOR.glob("*.js")), ids=lambda file: file.name)
def test_a_vendored_script_has_only_exports_that_the_linker_reads(file):
    statements = re.findall(r"\b(?:export|import)\b[ {*'\"][^=;]{0,40}", file.read_text("utf-8"))

    assert statements
    assert [one for one in statements if not re.fullmatch(r"export const \w+", one)] == []


@pytest.mark.skipif(
    not MODULES.exists() and not os.environ.get("TFPROF_REQUIRE_BROWSER"),
    reason="the npm packages are not installed: run make check",
)
def test_make_vendor_would_write_the_same_files(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    import vendor  # noqa: PLC0415

    written = vendor.files(MODULES)

    assert {name: (VENDOR / name).read_text("utf-8") for name in written} == written


def test_package_lock_names_no_server():
    lock = (ROOT / "package-lock.json").read_text("utf-8")

    assert '"integrity"' in lock
    assert '"resolved"' not in lock
    assert "registry" not in lock


def test_the_package_contains_the_scripts_and_styles_of_the_page(monkeypatch):
    monkeypatch.chdir(ROOT)
    package = Distribution({"script_name": "setup.py"})
    package.parse_config_files()
    build = package.get_command_obj("build_py")
    build.ensure_finalized()

    packed = {Path(file) for file in build.get_outputs()}
    wanted = {
        Path(build.build_lib, path.relative_to(ROOT / "src"))
        for path in STATIC.rglob("*")
        if path.suffix in (".js", ".css")
    }
    assert wanted <= packed

"""The sdist is complete, and it and the wheel are reproducible: `make dist`."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from functools import partial
from pathlib import Path

import pytest

from built_once import built_once

pytestmark = pytest.mark.dist

ROOT = Path(__file__).parents[2]
TIME = 1_700_000_000
MADE = {"PKG-INFO", "setup.cfg"}  # by setuptools, besides src/tfprof.egg-info
LEFT_OUT = {".gitignore", ".ci/run"}


def build(kind, folder, out, *, umask):
    """Build the sdist or the wheel of the sources in `folder`, in the new folder `out`."""
    out.mkdir()
    code = (
        "import sys; from setuptools import build_meta as b; getattr(b, sys.argv[1])(sys.argv[2])"
    )
    # Without optimisation, which takes most of the time.
    flags = {"SOURCE_DATE_EPOCH": str(TIME), "CFLAGS": "-O0 -DNDEBUG", "PYTHONWARNINGS": "ignore"}
    subprocess.run(
        [sys.executable, "-c", code, f"build_{kind}", out],
        cwd=folder,
        env=os.environ | flags,
        umask=umask,
        check=True,
        capture_output=True,
    )


@pytest.fixture(scope="module")
def files():
    """The files of this repository."""
    pytest.importorskip("Cython", reason="Cython, which builds the package, is not installed")
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("needs a clone of the repository, and git")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    return {name for name in names if (ROOT / name).exists()}


@pytest.fixture(scope="module")
def sdists(files, tmp_path_factory):
    """Two sdists of the same files, from folders with other names, times and permissions."""
    folder = built_once(tmp_path_factory, "sdists", partial(build_sdists, files))
    return [next((folder / name).glob("*.tar.gz")) for name in ("one", "another")]


def build_sdists(files, folder):
    for name, mode, umask, copy in (
        ("one", 0o644, 0o022, shutil.copy),
        ("another", 0o600, 0o077, shutil.copy2),
    ):
        sources = folder / f"sources of {name}"
        for file in files:
            (sources / file).parent.mkdir(parents=True, exist_ok=True)
            copy(ROOT / file, sources / file)
            (sources / file).chmod(mode | (ROOT / file).stat().st_mode & 0o100)
        build("sdist", sources, folder / name, umask=umask)


@pytest.fixture(scope="module")
def wheels(sdists, tmp_path_factory):
    """Two wheels of the same sdist, built in folders with other names."""
    folder = built_once(tmp_path_factory, "wheels", partial(build_wheels, sdists[0]))
    return [next((folder / name).glob("*.whl")) for name in ("here", "elsewhere")]


def build_wheels(sdist, folder):
    for name in ("here", "elsewhere"):
        with tarfile.open(sdist) as packed:
            packed.extractall(folder / f"sources {name}", filter="data")
        (unpacked,) = (folder / f"sources {name}").iterdir()
        build("wheel", unpacked, folder / name, umask=0o022)


def test_an_sdist_contains_the_whole_repository(files, sdists):
    with tarfile.open(sdists[0]) as packed:
        names = {member.name.partition("/")[2] for member in packed if member.isfile()}

    made = {name for name in names if name in MADE or name.startswith("src/tfprof.egg-info/")}
    assert names - made == files - LEFT_OUT


def test_an_sdist_is_reproducible(sdists):
    one, another = (path.read_bytes() for path in sdists)

    assert one == another


def test_an_sdist_does_not_say_who_built_it_when_and_where(sdists):
    folder = os.fsencode(sdists[0].parents[1])
    with tarfile.open(sdists[0]) as packed:
        for member in packed:
            assert (member.uid, member.gid, member.uname, member.gname) == (0, 0, "", "")
            assert member.mtime == TIME
            assert member.mode in (0o644, 0o755)
            assert member.isdir() or folder not in packed.extractfile(member).read()


def test_a_wheel_is_reproducible(wheels):
    one, another = (path.read_bytes() for path in wheels)

    assert one == another


def test_a_wheel_contains_no_paths_of_the_machine(wheels):
    folders = {str(wheels[0].parents[1]), sys.base_prefix} - {"/usr"}
    with zipfile.ZipFile(wheels[0]) as packed:
        contents = {name: packed.read(name) for name in packed.namelist()}

    for folder in folders:
        assert [name for name, data in contents.items() if os.fsencode(folder) in data] == []


def test_a_wheel_contains_the_package_alone(wheels):
    with zipfile.ZipFile(wheels[0]) as packed:
        names = packed.namelist()

    assert {name.partition("/")[0] for name in names} == {"tfprof", "tfprof-0.1.0.dist-info"}
    assert not [name for name in names if name.endswith((".c", ".pyc"))]

"""The type hints of the package, by mypy."""

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("mypy")
PACKAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "runtime-min/python/mscclc"


def check(cache, files, *options):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *options, "--cache-dir", str(cache), *map(str, sorted(files))],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_type_hints(tmp_path):
    check(tmp_path, PACKAGE.glob("*.py"))


def test_type_hints_of_the_backend_of_torch(tmp_path):
    """PyTorch's own hints lack some functions, and know only one of two forms of the calls that a backend has."""
    pytest.importorskip("torch")
    lacks = ("--allow-untyped-calls", "--disable-error-code=override", "--no-warn-unused-ignores")
    check(tmp_path, PACKAGE.glob("torch/*.py"), *lacks)

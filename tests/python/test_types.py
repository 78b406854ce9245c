"""The type hints of the package, by mypy."""

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("mypy")
PACKAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "runtime-min/python/mscclc"


def test_type_hints(tmp_path):
    files = [str(path) for path in sorted(PACKAGE.glob("*.py"))]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), *files],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout

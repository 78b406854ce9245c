"""Tests the examples of the pages unchanged."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def example(page, begins):
    """Returns the block of Python in a page that begins with a line."""
    text = (ROOT / page).read_text()
    return next(block for block in re.findall(r"```python\n(.*?)```", text, re.S) if block.startswith(begins))


def run(text, tmp_path, *arguments):
    (tmp_path / "example.py").write_text(text)
    return subprocess.run(
        [sys.executable, *arguments, str(tmp_path / "example.py")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def test_from_python(tmp_path):
    done = run(example("runtime-min/python/README.md", "import mscclc\nimport numpy"), tmp_path)
    assert done.returncode == 0 and done.stdout.strip().endswith("[6. 6. 6.]"), done.stdout + done.stderr

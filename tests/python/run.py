#!/usr/bin/env python3
"""run.py MODULE… -- FILE…: runs the files by pytest, if the modules are there; else says which is missing."""

import importlib.util
import os
import subprocess
import sys

split = sys.argv.index("--")
for module in ["pytest", *sys.argv[1:split]]:
    if importlib.util.find_spec(module) is None:
        print(f"[SKIP] the Python module {module} is not there ({sys.executable})")
        sys.exit(0)
files = [os.path.join(os.path.dirname(os.path.abspath(__file__)), name) for name in sys.argv[split + 1 :]]
sys.exit(
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files], check=False).returncode
)

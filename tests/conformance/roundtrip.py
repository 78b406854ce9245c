#!/usr/bin/env python3
"""Reads every golden plan and writes it again: the result must mean the same, and a second round change nothing.

usage: roundtrip.py ROUNDTRIP_PLAN PLAN_COMPARE PLANS_FOLDER
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile


def load(path):
    spec = importlib.util.spec_from_file_location("plan_compare", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(plan, tool, compare, folder):
    """Returns what is wrong with `plan` after reading and writing it; empty if nothing is."""
    first, second, compact = (folder / name for name in ("first.json", "second.json", "compact.json"))
    for step in ([tool, plan, first], [tool, first, second], [tool, first, compact, "--compact"]):
        run = subprocess.run(step, capture_output=True, text=True)
        if run.returncode != 0 or run.stdout or run.stderr:
            return f"{step}: exit code {run.returncode}\n{run.stdout}{run.stderr}"
    golden, written, short = (compare.canonical(json.loads(p.read_text("utf-8"))) for p in (plan, first, compact))
    for other in (written, short):
        for path, a, b in compare.differences(golden, other):
            return f"{path}: {a} became {b}"
    if first.read_bytes() != second.read_bytes():
        return "written twice, the bytes differ"
    return "line breaks in the compact form" if b"\n" in compact.read_bytes() else ""


def main():
    tool, compare, plans_folder = sys.argv[1:]
    plans = sorted(pathlib.Path(plans_folder).rglob("*.json"))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for plan in plans:
            if fault := check(plan, tool, load(compare), pathlib.Path(folder)):
                print(f"{plan}: {fault}")
                failed += 1
    print(f"{len(plans)} plans, {failed} changed")
    return 1 if failed or not plans else 0


if __name__ == "__main__":
    sys.exit(main())

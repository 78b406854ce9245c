#!/usr/bin/env python3
"""Checks that every source is as clang-format writes it.

usage: check_format.py CLANG_FORMAT

All C++ and CUDA sources but tests/lit (where a line and its column are what is tested). Prints what would change, as
FILE:LINE; exit 1 if there is something. To mend a file: clang-format -i FILE.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUFFIXES = {".cpp", ".cu", ".cuh", ".h", ".hpp"}
BATCH = 16


def sources():
    """Returns the sources, relative to the root, without those that a build wrote, and without hidden folders."""
    for folder, folders, names in os.walk(ROOT):
        at = pathlib.Path(folder).relative_to(ROOT)
        if at == pathlib.Path("."):
            folders[:] = [f for f in folders if not f.startswith("build")]
        folders[:] = sorted(f for f in folders if not f.startswith(".") and (at / f).as_posix() != "tests/lit")
        yield from ((at / n).as_posix() for n in sorted(names) if pathlib.Path(n).suffix in SUFFIXES)


def main():
    files = list(sources())

    def check(batch):
        return subprocess.run([sys.argv[1], "--dry-run", "-Werror", *batch], cwd=ROOT, capture_output=True, text=True, check=False)

    batches = [files[i:i + BATCH] for i in range(0, len(files), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = list(pool.map(check, batches))
    for run in runs:
        print(run.stderr, end="")
    bad = any(run.returncode for run in runs)
    print(f"{len(files)} files, {'some of them not formatted' if bad else 'all formatted'}")
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())

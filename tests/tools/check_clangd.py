#!/usr/bin/env python3
"""Checks that a clangd reads algorithms without an error, with the settings of the .clangd beside them.

usage: check_clangd.py CLANGD FILE...

Prints what clangd finds wrong; exit 1 if there is something.
"""
import pathlib
import re
import subprocess
import sys

# "E[10:19:59.516] [expected] Line 5: …". What else clangd logs as an error are refactorings that do not apply.
FOUND = re.compile(r"^E\[[^\]]*\] \[([\w-]+)\] (Line \d+: .*)$", re.M)


def main():
    clangd, files = sys.argv[1], sys.argv[2:]
    bad = 0
    for name in files:
        # Only the first line is asked about, as the file is read as a whole all the same.
        run = subprocess.run([clangd, f"--check={name}", "--check-lines=1-1"], capture_output=True, text=True, check=False)
        found = FOUND.findall(run.stderr)
        if "Building AST..." not in run.stderr or "All checks completed" not in run.stderr:
            found.append(("clangd", "did not come to its end:\n" + run.stderr))
        for kind, text in found:
            print(f"{pathlib.Path(name).name}: {text} [{kind}]")
        bad += bool(found)
    print(f"{len(files)} files, {bad} with errors")
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Tries each mistake of a table: mscclc reports it once, in at most ten lines, where and as the table says.

usage: mistakes.py --program=MSCCLC TABLE [NAME...]

A table is a file of sources. Each begins with a line `=== NAME KIND [ARGUMENT...]`:

  manual   the body of an algorithm of two ranks with thread blocks
  auto     the body of one of movement statements
  file     a whole source

The expectations are those of verify_diagnostics.py, of which each source has one error at least; the arguments go to
mscclc. Prints what differs; exit 1 then. With names, only these are tried.
"""
import pathlib
import re
import sys
import tempfile

import verify_diagnostics

MOST_LINES = 10
HEAD = """#include <mscclc/dsl.hpp>
using namespace mscclc;
MSCCLC_ALGORITHM void demo(int ranks = 2) {
"""
FRAMES = {
    "manual": HEAD + '  CollectiveProgram program("demo", AllGather(ranks, 1, true));\n%s}\n',
    "auto": HEAD + '  CollectiveProgram program("demo", AllReduce(ranks, 1, true), {.schedule = Schedule::Auto});\n%s}\n',
    "file": "%s",
}


def faults(program, source, arguments):
    """Returns what is wrong with mscclc's report of the mistake."""
    try:
        found, text = verify_diagnostics.compare(str(source), "expected", str(program), arguments)
    except verify_diagnostics.Malformed as error:
        return [str(error)]
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        found.append(f"{len(lines)} lines of messages:\n{text}")
    errors = re.findall(r"^\S+: error: .*", text, re.M)
    if len(errors) != 1:
        found.append(f"{len(errors)} errors for one mistake:\n{text}")
    return found


def main():
    program = pathlib.Path(sys.argv[1].removeprefix("--program=")).resolve()
    table, names = pathlib.Path(sys.argv[2]), sys.argv[3:]
    entries = re.split(r"^=== ", table.read_text(encoding="utf-8"), flags=re.M)[1:]
    if not entries:
        sys.exit(f"{table}: no mistakes")
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for entry in entries:
            head, body = entry.split("\n", 1)
            name, kind, *arguments = head.split()
            if names and name not in names:
                continue
            source = pathlib.Path(folder) / f"{name}.cpp"
            source.write_text(FRAMES[kind] % body, encoding="utf-8")
            for fault in faults(program, source, arguments):
                print(f"{name}: {fault}")
                wrong += 1
    print(f"{len(entries)} mistakes, {wrong} reported wrongly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

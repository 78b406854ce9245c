#!/usr/bin/env python3
"""Prints programs as sources by --emit-dsl, compiles these as their first comment says, and compares the plans.

usage: emit_dsl.py MSCCLC [--options "OPTIONS"] [--at-most "OPTIONS"] [--may-refuse] INPUT…

Each INPUT is compiled with the options of --options. With --at-most, its source is also at most 2.5 times as long as
that with those options instead. With --may-refuse, some may have no plan, or no source
that the language can say. Prints what differs; exit 1 if anything does.
"""
import argparse
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import plan_compare

import json

MOST_GROWTH = 2.5


class Fault(Exception):
    pass


class Refused(Fault):
    pass


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode == 1 and "no source of the language compiles to this plan" in done.stderr:
        raise Refused(f"{shlex.join(map(str, command))}: {done.stderr}")
    if done.returncode != 0:
        raise Fault(f"{shlex.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")


def source_of(mscclc, path, options, folder):
    source = folder / "source.cpp"
    run(mscclc, path, *options, "--emit-dsl", "-o", source)
    return source


def check(mscclc, path, options, shorter, folder):
    plan, again = folder / "plan.json", folder / "again.json"
    try:
        run(mscclc, path, *options, "--no-verify", "-o", plan)
    except Fault as fault:
        raise Refused(fault) from fault
    source = source_of(mscclc, path, options, folder)
    text = source.read_text("utf-8")
    command = re.search(r"^//   mscclc source\.cpp (.*)-o plan\.json$", text, re.MULTILINE)
    if not command:
        raise Fault("no comment says how to compile the source")
    run(mscclc, source, *shlex.split(command[1]), "--no-verify", "-o", again)
    plans = [plan_compare.canonical(json.loads(p.read_text("utf-8"))) for p in (plan, again)]
    for place, a, b in plan_compare.differences(*plans):
        raise Fault(f"{place}: {a} became {b}")
    if shorter is not None:
        size = len(source_of(mscclc, path, shorter, folder).read_bytes())
        if len(text.encode()) > MOST_GROWTH * size:
            raise Fault(f"{len(text.encode())} bytes, where {shlex.join(shorter)} gives {size}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("mscclc")
    parser.add_argument("--options", default="")
    parser.add_argument("--at-most")
    parser.add_argument("--may-refuse", action="store_true")
    parser.add_argument("inputs", nargs="+")
    args = parser.parse_args()
    shorter = None if args.at_most is None else shlex.split(args.at_most)
    faults = refused = 0
    for path in args.inputs:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(args.mscclc, path, shlex.split(args.options), shorter, pathlib.Path(folder))
            except Fault as fault:
                if args.may_refuse and isinstance(fault, Refused):
                    refused += 1
                    continue
                print(f"{path}: {fault}")
                faults += 1
    print(f"{len(args.inputs)} programs, {refused} without a plan or a source, {faults} with a wrong one")
    return 1 if faults or refused == len(args.inputs) else 0


if __name__ == "__main__":
    sys.exit(main())

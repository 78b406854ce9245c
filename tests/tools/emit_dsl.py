#!/usr/bin/env python3
"""Prints programs as sources by --emit-dsl, compiles these as their first comment says, and compares the plans.

usage: emit_dsl.py MSCCLC [--options "OPTIONS"] [--at-most "OPTIONS"] [--growth TIMES] [--size-alone] [--may-refuse] INPUT…

Each INPUT is compiled with the options of --options. With --at-most, its source is also at most 2.5 times as long as
that with those options instead, or as many times as --growth says; with --size-alone, that is all that is checked. With
--may-refuse, some may have no plan, or no source that the language can say. Prints what differs; exit 1 if anything
does.
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


def check_plan(mscclc, path, options, folder):
    plan, again = folder / "plan.json", folder / "again.json"
    try:
        run(mscclc, path, *options, "--no-verify", "-o", plan)
    except Fault as fault:
        raise Refused(fault) from fault
    source = source_of(mscclc, path, options, folder)
    command = re.search(r"^//   mscclc source\.cpp (.*)-o plan\.json$", source.read_text("utf-8"), re.MULTILINE)
    if not command:
        raise Fault("no comment says how to compile the source")
    run(mscclc, source, *shlex.split(command[1]), "--no-verify", "-o", again)
    plans = [plan_compare.canonical(json.loads(p.read_text("utf-8"))) for p in (plan, again)]
    for place, a, b in plan_compare.differences(*plans):
        raise Fault(f"{place}: {a} became {b}")


def check_size(mscclc, path, options, shorter, growth, folder):
    long, short = (len(source_of(mscclc, path, o, folder).read_bytes()) for o in (options, shorter))
    if long > growth * short:
        raise Fault(f"{long} bytes, where {shlex.join(shorter)} gives {short}")


def check(args, path, folder):
    options = shlex.split(args.options)
    if not args.size_alone:
        check_plan(args.mscclc, path, options, folder)
    if args.at_most is not None:
        check_size(args.mscclc, path, options, shlex.split(args.at_most), args.growth, folder)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("mscclc")
    parser.add_argument("--options", default="")
    parser.add_argument("--at-most")
    parser.add_argument("--growth", type=float, default=2.5)
    parser.add_argument("--size-alone", action="store_true")
    parser.add_argument("--may-refuse", action="store_true")
    parser.add_argument("inputs", nargs="+")
    args = parser.parse_args()
    if args.size_alone and args.at_most is None:
        parser.error("--size-alone checks nothing without --at-most")
    faults = refused = 0
    for path in args.inputs:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(args, path, pathlib.Path(folder))
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

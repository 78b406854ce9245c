#!/usr/bin/env python3
"""Emits a plan's kernel, compiles it for the CPU stand-in and runs it against the collective's definition.

standin.py --emit EMIT_PLAN --runner LIBRARY --include DIR [--cxx CXX] [--flag FLAG]... [--drop REGEX] WHAT [-- ARGS]

WHAT is what EMIT_PLAN takes; with --mscclc in its place an algorithm's source, and --param NAME=VALUE. --drop deletes
the first line of a block program that matches and expects the run to fail then: a check of the check. --bits TREE
compares the bits of sums with that order, which the kernel's text must name. --exchange does so with two operands of
the first reduction exchanged, and expects the run to fail. --instances BYTES:NUMBER,... makes launches take so many
instances."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import kernel_text


def main():
    parser = argparse.ArgumentParser()
    kernel_text.add_arguments(parser)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--flag", action="append", default=[])
    parser.add_argument("--size", default="0", help="message size to compile in")
    parser.add_argument("--drop")
    parser.add_argument("--bits", help="the order of sums: ((0+1)+2)+3")
    parser.add_argument("--exchange", action="store_true")
    parser.add_argument("--instances", help="of a launch, from a size of the message on: 0:1,100:2")
    parser.add_argument("what")
    parser.add_argument("args", nargs="*")
    options = parser.parse_args()

    text = kernel_text.of(options, options.what, options.size)
    if options.instances:
        text = kernel_text.with_instances(text, options.instances)
        options.args += ["--instances", "1"]
    if options.drop:
        begin, end = text.index("MSCCLC_BLOCK"), text.index("MSCCLC_KERNEL")
        lines = text[begin:end].splitlines(keepends=True)
        hits = [i for i, line in enumerate(lines) if re.search(options.drop, line)]
        if not hits:
            sys.exit(f"nothing matches {options.drop}")
        del lines[hits[0]]
        text = text[:begin] + "".join(lines) + text[end:]
    if options.bits:
        kernel_text.check_order(text, options.bits)
        options.args += ["--bits", options.bits]
    if options.exchange:
        text = kernel_text.with_operands_exchanged(text)
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "kernel.cu"), pathlib.Path(folder, "kernel")
        source.write_text(text)
        subprocess.run([options.cxx, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-pthread", *options.flag,
                        "-I", options.include, "-x", "c++", str(source), "-x", "none", options.runner,
                        "-o", str(program)], check=True)
        run = subprocess.run([str(program), *options.args], capture_output=True, text=True)
    if options.drop or options.exchange:
        if run.returncode == 0 or (options.exchange and "is wrong" not in run.stdout):
            what = f"without its first '{options.drop}'" if options.drop else "with two operands exchanged"
            sys.exit(f"{what} the kernel does not fail as it should:\n{run.stdout}")
        print("ok: fails as it should")
        return
    print(run.stdout, end="")
    if run.returncode != 0:
        sys.exit(f"exit {run.returncode}\n{run.stderr[:6000]}")


main()

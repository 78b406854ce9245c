#!/usr/bin/env python3
"""Emits plans' kernels and compiles them, warnings being errors: compile_kernels.py --emit EMIT_PLAN --include DIR
[--nvcc NVCC [--device-only] [--arch ARCH]... | --cxx CXX] [--flag FLAG]... [--seconds MOST] [--undefined-none TEXT]
WHAT...
Prints the compiler's own seconds for each. With --mscclc in the place of --emit, WHAT are algorithms' sources, and
there may be --param NAME=VALUE."""
import argparse
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

import kernel_text


def main():
    parser = argparse.ArgumentParser()
    kernel_text.add_arguments(parser)
    parser.add_argument("--include", required=True)
    parser.add_argument("--nvcc")
    parser.add_argument("--arch", action="append", default=[])
    parser.add_argument("--device-only", action="store_true", help="no code for the host, a third of nvcc's time")
    parser.add_argument("--seconds", type=float, help="processor time that one compilation may take")
    parser.add_argument("--undefined-none", metavar="TEXT", help="what no undefined symbol of an object may have in it")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--flag", action="append", default=[])
    parser.add_argument("what", nargs="+")
    options = parser.parse_args()
    if options.device_only and not options.nvcc:
        parser.error("--device-only needs --nvcc")
    if options.undefined_none and (options.device_only or not options.nvcc):
        parser.error("--undefined-none needs an object: use --nvcc, without --device-only")
    if options.nvcc:
        compilers = [[options.nvcc, "-std=c++17", "-arch=" + arch, "-Werror", "all-warnings", "-Xcompiler",
                      "-Wall,-Wextra"] for arch in options.arch or ["sm_90"]]
    else:
        compilers = [[options.cxx, "-std=c++17", "-pthread", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                      "-x", "c++"]]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "kernel.cu")
        for what, compiler in itertools.product(options.what, compilers):
            emitted = kernel_text.of(options, what)
            source.write_text(emitted)
            before = os.times()
            step = "-cubin" if options.device_only else "-c"
            output = [step, "-o", str(pathlib.Path(folder, "kernel.o"))] if options.nvcc else []
            run = subprocess.run([*compiler, *options.flag, "-I", options.include, str(source), *output],
                                 capture_output=True, text=True)
            after = os.times()
            seconds = after.children_user + after.children_system - before.children_user - before.children_system
            good = run.returncode == 0 and "warning" not in run.stderr and seconds <= (options.seconds or seconds)
            if good and options.undefined_none:
                left = subprocess.run(["nm", "--undefined-only", output[-1]], capture_output=True, text=True,
                                      check=True)
                found = [line.split()[-1] for line in left.stdout.splitlines() if options.undefined_none in line]
                good = not found
                run.stderr += f"undefined: {' '.join(found)}\n"
            print(f"{'ok' if good else 'FAIL'} {os.path.basename(what)} {len(emitted)} bytes, {seconds:.1f} s",
                  flush=True)
            if not good:
                print(run.stderr[:4000])
                failed += 1
    sys.exit(1 if failed else 0)


main()

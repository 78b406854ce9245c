#!/usr/bin/env python3
"""Bakes plans and compiles them, warnings being errors: compile_kernels.py --emit EMIT_PLAN --include DIR
[--nvcc NVCC [--arch ARCH]... | --cxx CXX] [--flag FLAG]... [--seconds MOST] WHAT...   Prints the compiler's own seconds
for each. With --mscclc in the place of --emit, WHAT are algorithms' sources, and there may be --param NAME=VALUE."""
import argparse
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--emit")
    parser.add_argument("--mscclc")
    parser.add_argument("--param", action="append", default=[])
    parser.add_argument("--include", required=True)
    parser.add_argument("--nvcc")
    parser.add_argument("--arch", action="append", default=[])
    parser.add_argument("--seconds", type=float, help="processor time that one compilation may take")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--flag", action="append", default=[])
    parser.add_argument("what", nargs="+")
    options = parser.parse_args()
    if options.nvcc:
        compilers = [[options.nvcc, "-std=c++17", "-arch=" + arch, "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra"]
                     for arch in options.arch or ["sm_90"]]
    else:
        compilers = [[options.cxx, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-x", "c++"]]
    parameters = [word for p in options.param for word in ("-P", p)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "kernel.cu")
        for what, compiler in itertools.product(options.what, compilers):
            emit = [options.mscclc, what, *parameters, "--emit-cuda", "-o", "-"] if options.mscclc else [options.emit, what]
            emitted = subprocess.run(emit, check=True, capture_output=True, text=True).stdout
            source.write_text(emitted)
            before = os.times()
            run = subprocess.run([*compiler, *options.flag, "-I", options.include, "-c", str(source),
                                  "-o", str(pathlib.Path(folder, "kernel.o"))], capture_output=True, text=True)
            after = os.times()
            seconds = after.children_user + after.children_system - before.children_user - before.children_system
            good = run.returncode == 0 and "warning" not in run.stderr and seconds <= (options.seconds or seconds)
            print(f"{'ok' if good else 'FAIL'} {os.path.basename(what)} {len(emitted)} bytes, {seconds:.1f} s", flush=True)
            if not good:
                print(run.stderr[:4000])
                failed += 1
    sys.exit(1 if failed else 0)


main()

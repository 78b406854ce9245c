#!/usr/bin/env python3
"""Bakes plans and compiles them, warnings being errors: compile_kernels.py --emit EMIT_PLAN --include DIR
[--nvcc NVCC | --cxx CXX] [--flag FLAG]... WHAT...   Prints the compiler's own seconds for each."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--emit", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--nvcc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--flag", action="append", default=[])
    parser.add_argument("what", nargs="+")
    options = parser.parse_args()
    if options.nvcc:
        compiler = [options.nvcc, "-std=c++17", "-arch=sm_90", "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra"]
    else:
        compiler = [options.cxx, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-x", "c++"]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "kernel.cu")
        for what in options.what:
            emitted = subprocess.run([options.emit, what], check=True, capture_output=True, text=True).stdout
            source.write_text(emitted)
            before = os.times()
            run = subprocess.run([*compiler, *options.flag, "-I", options.include, "-c", str(source),
                                  "-o", str(pathlib.Path(folder, "kernel.o"))], capture_output=True, text=True)
            after = os.times()
            good = run.returncode == 0 and "warning" not in run.stderr
            seconds = after.children_user + after.children_system - before.children_user - before.children_system
            print(f"{'ok' if good else 'FAIL'} {os.path.basename(what)} {len(emitted)} bytes, {seconds:.1f} s", flush=True)
            if not good:
                print(run.stderr[:4000])
                failed += 1
    sys.exit(1 if failed else 0)


main()

#!/usr/bin/env python3
"""Emits a kernel, compiles it for the CPU stand-in, and lets a client of the runtime launch it, which compares what it
makes with its definition: by_client.py --mscclc MSCCLC --client CLIENT --runtime LIBRARY --include DIR [--cxx CXX]
[--flag FLAG]... [--param NAME=VALUE]... [--few-blocks] SOURCE [-- ARGS]. The arguments ARGS are those of the client. A
parameter with commas in its value has several values: one kernel for each."""
import argparse
import itertools
import pathlib
import subprocess
import sys
import tempfile

import kernel_text


def main():
    parser = argparse.ArgumentParser()
    kernel_text.add_arguments(parser)
    parser.add_argument("--client", required=True)
    parser.add_argument("--runtime", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--flag", action="append", default=[])
    parser.add_argument("--few-blocks", action="store_true", help="as for a GPU whose thread blocks are fast")
    parser.add_argument("source")
    parser.add_argument("args", nargs="*")
    options = parser.parse_args()
    names = [parameter.split("=")[0] for parameter in options.param]
    values = [parameter.split("=")[1].split(",") for parameter in options.param]
    for chosen in itertools.product(*values):
        parameters = [f"{name}={value}" for name, value in zip(names, chosen)]
        text = kernel_text.for_client(options.mscclc, options.source, parameters, options.message_size,
                                      few_blocks=options.few_blocks)
        with tempfile.TemporaryDirectory() as folder:
            source, library = pathlib.Path(folder, "kernel.cu"), pathlib.Path(folder, "kernel.so")
            source.write_text(text)
            subprocess.run([options.cxx, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-pthread", "-fPIC", "-shared",
                            *options.flag, "-I", options.include, "-I", str(pathlib.Path(__file__).parent),
                            "-x", "c++", str(source), "-x", "none", options.runtime,
                            "-o", str(library)], check=True)
            run = subprocess.run([options.client, *options.args, str(library)], capture_output=True, text=True)
        print(f"{' '.join(parameters)}\n{run.stdout}", end="")
        if run.returncode != 0:
            sys.exit(f"exit {run.returncode}\n{run.stderr[:6000]}")


main()

#!/usr/bin/env python3
"""Runs kernels of one order of sums on the PTX machine, and compares the bits of sums with those of that order:
bits.py [--quick] [--schedules N]. One tensor is summed at every position of messages of several sizes. With two operands
of a reduction exchanged, the bits have to differ. Exits with 1 where they do not, or where something else is found."""
import argparse
import pathlib
import sys

import kernels_on_cpu
import kernel_text
from kernels_on_cpu import ROOT

TREE = "((0+1)+2)+3"
LAMPORT = "tests/ptx/lamport"
# Programs, and the value of their parameter `order`. Those of auto/ are for one size.
PROGRAMS = {"samples/allreduce_packets_oneshot": None, "samples/auto/allreduce_packets": "Ranks",
            "samples/auto/allreduce_allpairs": "Ranks", "samples/auto/reducescatter_allpairs": "Ranks", LAMPORT: None}
QUICK = ["samples/allreduce_packets_oneshot", "samples/auto/reducescatter_allpairs", LAMPORT]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--schedules", type=int, default=1, help="of each kernel [1]")
    kernels_on_cpu.add_options(parser)
    parser.set_defaults(types="float,Half,Bfloat16,Float8E4m3", sizes="64,272,1040,2304,5120")
    options = parser.parse_args()
    machine = kernels_on_cpu.Machine(options)
    wrong = 0
    for name, order in PROGRAMS.items():
        if options.quick and name not in QUICK:
            continue
        kernel = pathlib.Path(machine.folder.name, "kernel.cu")
        kernels_on_cpu.emit(options, ROOT / f"{name}.cpp", kernel, given=[f"order={order}"] if order else [])
        text = kernel.read_text()
        tree = TREE + (" with -0.0 as +0.0" if name == LAMPORT else "")
        kernel_text.check_order(text, tree)
        library = machine.compile(kernel)
        for seed in range(1, options.schedules + 1):
            result = machine.run(library, seed, bits=tree)
            print(f"{name}: {result.summary.removeprefix('ptx: ')}, {result.forms} runs of a type and packet")
            print("\n".join(result.findings), flush=True)
            wrong += bool(result.findings) or result.forms == 0
        kernel.write_text(kernel_text.with_operands_exchanged(text))
        # One type and one size show that the comparison sees it.
        found = machine.run(machine.compile(kernel, types="float"), 1, bits=tree, sizes="272").findings
        print(f"{name} with operands exchanged: {'fails' if found else 'does not fail, which is wrong'}", flush=True)
        wrong += not any(" wrong" in line and " 0 wrong" not in line for line in found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs the kernels of samples on the PTX machine, and prints what was found: kernels.py [--quick] [--build DIR]
[--schedules N] [--types LIST] [SAMPLE...]. With --quick, a few samples, for the test suite. Exits with 1 on a
finding."""
import argparse
import pathlib
import sys
import time

import kernels_on_cpu

QUICK = ["allgather_hierarchical", "allreduce_packets", "allreduce_pipeline", "auto/allreduce_ring",
         "reducescatter_allpairs"]


def name_of(program):
    return program.relative_to(kernels_on_cpu.ROOT).as_posix().removeprefix("samples/")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="*", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--schedules", type=int, help="of each kernel [2; with --quick 1]")
    kernels_on_cpu.add_options(parser)
    options = parser.parse_args()
    folder = kernels_on_cpu.ROOT / "samples"
    samples = options.samples or ([folder / f"{name}.cpp" for name in QUICK] if options.quick else
                                  sorted([*folder.glob("*.cpp"), *folder.glob("auto/*.cpp")]))
    machine = kernels_on_cpu.Machine(options)
    launches = schedules = 0
    found = []
    for sample in map(pathlib.Path.resolve, samples):
        began = time.monotonic()
        kernel = pathlib.Path(machine.folder.name, sample.stem + ".cu")
        kernels_on_cpu.emit(options, sample, kernel)
        library = machine.compile(kernel)
        for seed in range(1, (options.schedules or (1 if options.quick else 2)) + 1):
            result = machine.run(library, seed)
            launches += result.launches
            schedules += 1
            print(f"{name_of(sample)}: {result.summary.removeprefix('ptx: ')}", flush=True)
            if result.findings:
                found.append(sample.name)
                print("\n".join(result.findings))
        print(f"  {time.monotonic() - began:.1f} s", flush=True)
    print(f"{len(samples)} kernels, {schedules} schedules, {launches} launches, {len(found)} with findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs the kernels of samples on the PTX machine, and prints what was found:
kernels.py [--quick | --full] [--schedules N] [--types LIST] [--instances BYTES:NUMBER,...] [SAMPLE...].
A sample may have parameters behind its name: SAMPLE:NAME=VALUE,...

With --quick, a few samples, for the test suite. With --full, all that there is: every sample with all element types, with
and without staging and graphs; some with 8 ranks, and with 64 threads a block. On two cores that takes several hours.
Exits with 1 on a finding."""
import argparse
import concurrent.futures
import dataclasses
import pathlib
import sys
import time

import kernels_on_cpu
from kernels_on_cpu import INSTANCES, ROOT

QUICK = ["samples/allgather_hierarchical.cpp", "samples/allreduce_packets.cpp", "samples/allreduce_pipeline.cpp",
         "samples/auto/allreduce_nvls.cpp", "samples/auto/allreduce_ring.cpp", "samples/reducescatter_allpairs.cpp",
         "tests/ptx/packet_reads.cpp", "tests/ptx/many_channels.cpp"]
# Beside the samples.
OTHERS = ["tests/ptx/copied_nvls.cpp", "tests/ptx/packet_reads.cpp", "tests/ptx/many_channels.cpp",
          "tests/ptx/broadcast_nvls.cpp", "tests/ptx/lamport.cpp", "tests/ptx/wire_packets.cpp",
          "tests/cuda/hooks.cpp", "tests/cuda/hooks.cpp:function=quantize_by_scale",
          "tests/cuda/hooks.cpp:function=quantize_blocks", "tests/cuda/element_hooks.cpp",
          "tests/cuda/element_hooks.cpp:function=scale", "tests/cuda/packet_hooks.cpp",
          "tests/cuda/packet_hooks.cpp:protocol=Lamport,function=quantize_blocks", "tests/cuda/bf16_wire.cpp",
          "samples/auto/allreduce_norm.cpp:quantize=false", "samples/auto/allreduce_norm.cpp:oneshot=true",
          "samples/auto/allreduce_norm.cpp:oneshot=true,protocol=Lamport",
          "samples/auto/allreduce_packets_oneshot.cpp:protocol=Lamport",
          "samples/auto/allreduce_quantized.cpp:protocol=LL,bf16=true",
          "tests/conformance/plans/single_node/allgather_nvls_zero_copy_pkt.ranks=4.json"]
LARGE = ["samples/allreduce_allpairs.cpp", "samples/allreduce_packets.cpp", "samples/auto/allreduce_nvls.cpp"]  # 8 ranks
WIDE = ["samples/allreduce_ring.cpp", "samples/allreduce_packets.cpp"]  # with 64 threads a block
# With 2, 1, 4, 1 and 2 instances in launches of the usual sizes.
BY_SIZE = ["samples/allgather_allpairs.cpp", "samples/allreduce_nvls.cpp", "samples/allreduce_packets.cpp",
           "samples/allreduce_ring.cpp"]


@dataclasses.dataclass
class Case:
    program: pathlib.Path
    ranks: int = 4
    threads: int = 32
    modes: tuple = ((False, False),)  # staging, graph
    parameters: tuple = ()  # NAME=VALUE, instead of the usual ones
    instances: str = ""  # of launches, by size

    def __str__(self):
        name = self.program.relative_to(ROOT).as_posix().removeprefix("samples/")
        return (name + "".join(f", {parameter}" for parameter in self.parameters) +
                (f", {self.ranks} ranks" if self.ranks != 4 else "") +
                (f", {self.threads} threads" if self.threads != 32 else "") +
                (", blocks by size" if self.instances else ""))


def case_of(sample, **more):
    program, _, parameters = str(sample).partition(":")
    return Case(pathlib.Path(program).resolve(), parameters=tuple(filter(None, parameters.split(","))), **more)


def cases_of(options):
    def named(names):
        return [ROOT / name for name in names]

    programs = sorted([*ROOT.glob("samples/*.cpp"), *ROOT.glob("samples/auto/*.cpp")]) + named(OTHERS)
    if not options.full:
        programs = options.samples or (named(QUICK) if options.quick else programs)
        bySize = named(BY_SIZE[-2:]) if options.quick else []
        return [case_of(program, threads=options.threads, modes=((options.staging, options.graph),),
                        instances=instances)
                for some, instances in ((programs, options.instances), (bySize, INSTANCES)) for program in some]
    plain = ((False, False),)
    modes = (*plain, (True, False), (False, True), (True, True))
    # Clients of their own neither stage nor capture.
    ofEach = [case_of(program, modes=modes) for program in programs]
    for case in ofEach:
        if kernels_on_cpu.own_client_of(case.program):
            case.modes = plain
    return [*ofEach,
            *(case_of(program, ranks=8) for program in named(LARGE)),
            *(case_of(program, threads=64) for program in named(WIDE)),
            *(case_of(program, modes=modes, instances=INSTANCES) for program in named(BY_SIZE))]


def run_case(machine, case, schedules):
    """What was printed, and the results."""
    began = time.monotonic()
    kernel = pathlib.Path(machine.folder.name, f"{case.program.stem}-{hash(str(case)) & 0xffffff:x}.cu")
    kernels_on_cpu.emit(machine.options, case.program, kernel, case.ranks, given=case.parameters)
    if case.instances:
        kernels_on_cpu.give_instances(kernel, case.instances, machine.options.sizes)
    own_client = kernels_on_cpu.own_client_of(case.program)
    types = kernels_on_cpu.types_of(case.program, kernel, machine.options.types)
    library = machine.compile(kernel, types=types)
    lines, results = [], []
    for staging, graph in case.modes:
        for seed in range(1, schedules + 1):
            result = machine.run(library, seed, case.threads, staging, graph, own_client=own_client)
            results.append(result)
            how = ("staged " if staging else "") + ("graph " if graph else "")
            lines.append(f"{case}: {how}{result.summary.removeprefix('ptx: ')}")
            lines += result.findings
    lines.append(f"  {time.monotonic() - began:.1f} s")
    return "\n".join(lines), results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--jobs", type=int, default=2, help="cases at once [2]")
    parser.add_argument("--instances", default="", help="of launches, from sizes on: 0:1,600:2")
    parser.add_argument("--schedules", type=int, default=1, help="of each case [1]")
    kernels_on_cpu.add_options(parser)
    options = parser.parse_args()
    if options.full:
        options.types = "all"
    machine = kernels_on_cpu.Machine(options)
    cases, results, found = cases_of(options), [], 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for text, some in pool.map(lambda case: run_case(machine, case, options.schedules), cases):
            print(text, flush=True)
            results += some
            found += any(result.findings for result in some)
    print(f"{len(cases)} kernels, {sum(r.forms for r in results)} runs of a type, operation and packet, "
          f"{len(results)} schedules, {sum(r.launches for r in results)} launches, "
          f"{sum(r.instructions for r in results)} instructions, {found} kernels with findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What nvcc makes of what only a device tells wrong from right: device_code.py --emit EMIT_PLAN --include DIR
--nvcc NVCC

A packet's word and its flag are one access; accesses through a multicast mapping are fenced from those through the
devices' own addresses; signals and waits reach the whole system, semaphores and barriers the device; waits for relaxed
signals acquire."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import kernel_text

# Example and type -> what its PTX has, and has not.
EXPECTED = {
    ("allreduce_packets", "int32_t"): (
        # So that relaxed signals carry what a launch has copied.
        [r"fence\.acq_rel\.sys;",
         # The launch before is over; blocks are counted as they end.
         r"atom\.relaxed\.gpu\.global\.or\.b64", r"red\.relaxed\.gpu\.global\.add\.u64",
         r"st\.relaxed\.sys\.global\.b64 ", r"st\.relaxed\.sys\.global\.v2\.b64 ", r"ld\.relaxed\.sys\.global\.b64 ",
         r"ld\.relaxed\.sys\.global\.v2\.b64 "],
        [r"multimem", r"ld\.volatile\.global\.v"]),
    ("allgather_switch_packets", "Byte"): (
        [r"fence\.proxy\.alias;(.*\n)+.*multimem\.st\.relaxed\.sys\.global\.u64 (.*\n)+.*fence\.proxy\.alias;"],
        [r"multimem\.st[a-z.]*\.v4"]),
    ("allreduce_switch", "double"): ([r"multimem\.ld_reduce\.relaxed\.sys\.global\.add\.f64"], []),
    ("allreduce_switch", "int64_t"): ([r"multimem\.ld_reduce\.relaxed\.sys\.global\.add\.u64"], []),
    # Switches of this generation add no floats of 8 bits.
    ("allreduce_switch", "Float8E4m3"): (
        [r"cvt\.rn\.f16x2\.e4m3x2 ", r"cvt\.rn\.satfinite\.e4m3x2\.f32 "], [r"multimem\.ld_reduce"]),
    ("allreduce_switch", "Float8E5m2"): (
        [r"cvt\.rn\.f16x2\.e5m2x2 ", r"cvt\.rn\.satfinite\.e5m2x2\.f32 "], [r"multimem\.ld_reduce"]),
    ("allreduce_switch", "int32_t"): (
        # The thread that waits fences, after its wait; the others go on to the reduction, eight loads at once.
        [r"ld\.acquire\.sys\.global\.u64(.*\n)+.*fence\.proxy\.alias;(.*\n)+.*multimem\.ld_reduce\.relaxed\.sys",
         r"(\s*multimem\.ld_reduce\.relaxed\.sys.*\n(?:(?!.*(?:multimem|\bbra\b)).*\n)*){32}",
         r"fence\.acq_rel\.sys;(.*\n)+?.*red\.relaxed\.sys\.global\.add\.u64"],
        [r"fence\.proxy\.alias;\s*\n(?:(?!.*(?:bar\.sync|\bbra\b)).*\n)*.*multimem\.ld_reduce"]),
    ("allreduce_group", "int32_t"): ([r"atom\.acq_rel\.gpu\.global\.add\.u64", r"ld\.acquire\.gpu\.global\.u64"], []),
    ("allgather_pipeline", "Byte"): ([r"red\.release\.gpu\.global\.add\.u32",
                                      r"atom\.acquire\.gpu\.global\.cas\.b32"], []),
    # Relaxed: the signal, not the wait.
    ("allgather_put", "Byte"): ([r"ld\.acquire\.sys\.global\.u64(.*\n)+.*bar\.sync", r"red\.relaxed\.sys\.global\.add\.u64"],
                                [r"ld\.relaxed\.sys\.global\.u64 (.*\n){1,4}.*setp\.ge\.u64"]),
    ("allgather_port", "Byte"): ([r"st\.release\.sys\.global\.u64", r"ld\.acquire\.sys\.global\.u64",
                        r"atom\.acq_rel\.gpu\.global\.add\.u64"], []),
}


def main():
    parser = argparse.ArgumentParser()
    kernel_text.add_arguments(parser)
    parser.add_argument("--include", required=True)
    parser.add_argument("--nvcc", required=True)
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        source, assembly = pathlib.Path(folder, "kernel.cu"), pathlib.Path(folder, "kernel.ptx")

        def compile(example, *definitions):
            source.write_text(kernel_text.of(options, example + ":4"))
            subprocess.run([options.nvcc, "-std=c++17", "-arch=sm_90", *("-D" + one for one in definitions), "-I",
                            options.include, "-ptx", str(source), "-o", str(assembly)], check=True)
            return assembly.read_text()

        for (example, element), (wanted, unwanted) in EXPECTED.items():
            text = compile(example, "MSCCLC_DTYPES=" + element)
            # Generic accesses take longer, and more registers.
            unwanted = [*unwanted, r"\b(?:ld|st|red|atom)\.(?:relaxed|acquire|release|acq_rel)\.(?:sys|gpu)\.[^g]"]
            faults = ["has no " + p for p in wanted if not re.search(p, text)]
            faults += ["has " + p for p in unwanted if re.search(p, text)]
            print(f"{'FAIL' if faults else 'ok'} {example} {element}", *faults, sep="\n  " if faults else " ")
            wrong += len(faults)
    sys.exit(1 if wrong else 0)


main()

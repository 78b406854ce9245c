#!/usr/bin/env python3
"""The programs of this folder whose plan, as the Python DSL prints it, overruns a fixed array of MSCCL++'s executor.
What is emitted is proven, as proofs.txt says.

usage: limits.py MSCCLC

SPLIT ones are emitted within the limits by --target=mscclpp, and overrun them with --target=none; REFUSED ones are not
emitted at all. Every other program stays within the limits at its default parameters as it is.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from proofs import Proofs, arguments, programs

# What a plan may hold at most: execution_common.hpp and execution_kernel.hpp of microsoft/mscclpp.
LIMITS = {"operations": 64, "channels": 16, "remote buffers": 16, "barriers": 16,
          "chunks of an operation": 10, "channels of an operation": 8, "semaphores of an operation": 16}
# Program with its parameters: the limit that it passes, and by what.
SPLIT = {
    "default_algos/allreduce_multi_nodes.ranks=32,gpusPerNode=16": ("chunks of an operation", 16),
    "default_algos/reducescatter_multi_nodes.ranks=32,gpusPerNode=16": ("chunks of an operation", 16),
    "multi_node/allgather.gpusPerNode=16": ("chunks of an operation", 15),
    "multi_node/reducescatter.gpusPerNode=16": ("chunks of an operation", 16),
    "multi_node/reducescatter_pkt": ("chunks of an operation", 14),
    "single_node/allgather_nvls_zero_copy.ranks=16": ("channels of an operation", 15),
    "single_node/allgather_pkt_rppkt.ranks=16": ("chunks of an operation", 15),
    "single_node/allreduce.ranks=16": ("chunks of an operation", 16),
    "single_node/allreduce_naivy.ranks=16": ("chunks of an operation", 16),
    "single_node/allreduce_nvls_zero_copy.ranks=16": ("channels of an operation", 15),
    "single_node/allreduce_pkt.ranks=16": ("chunks of an operation", 16),
}
# Program with its parameters: what the error says.
REFUSED = {
    "alltoall/alltoall_ring.ranks=16": "has 97 operations, pipeline bodies counted; mscclpp-1f5f065d takes 64",
    "alltoall/alltoall_ring_oop.ranks=16": "uses 30 memory channels; mscclpp-1f5f065d takes 16 of a type",
    "alltoall/alltoall_ring_peers.ranks=16": "has 97 operations, pipeline bodies counted; mscclpp-1f5f065d takes 64",
    "single_node/allgather_nvls_zero_copy.ranks=64": "uses 63 memory channels; mscclpp-1f5f065d takes 16 of a type",
    # Not an array that overruns, but an operation that the executor gets wrong or does not know.
    "unit/get_get_fuse_test": "swaps the offsets of a 'get'",
    "unit/get_get_test": "swaps the offsets of a 'get'",
    "unit/switch_reduce_test": "does not know 'switch reduce'",
}


def compiling(mscclc, name, target, out):
    out.unlink(missing_ok=True)
    return [mscclc, *arguments(name), f"--target={target}", "-o", out]


def measure(plan):
    """Returns for each thing in LIMITS the largest number that `plan` has in one place."""
    most = dict.fromkeys(LIMITS, 0)

    def note(what, count):
        most[what] = max(most[what], count)

    for gpu in plan["gpus"]:
        for block in gpu["threadblocks"]:
            for channels in block["channels"]:
                note("channels", len(channels["channel_ids"]))
            for remotes in block["remote_buffer_refs"]:
                note("remote buffers", len(remotes["remote_buffer_ids"]))
            ops = [op for top in block["ops"] for op in [top, *top.get("ops", [])]]
            note("operations", len(ops))
            for op in ops:
                note("chunks of an operation", max(len(op.get("src_buff", [])), len(op.get("dst_buff", []))))
                note("channels of an operation", len(op.get("channel_ids", [])))
                note("semaphores of an operation", len(op.get("semaphore_ids", [])))
                note("barriers", op.get("barrier_id", -1) + 1)
    return most


def check(mscclc, proofs, name, out):
    """Returns what is wrong with `name`; empty if nothing is."""
    command = compiling(mscclc, name, "mscclpp", out)
    if name in REFUSED:
        run = subprocess.run(command, capture_output=True, text=True)
        located = f"{name.split('/')[0]}.cpp:"
        if run.returncode == 1 and not out.exists() and REFUSED[name] in run.stderr and located in run.stderr:
            return ""
        return f"refused with exit code 1 expected, not {run.returncode}\n{run.stderr}"
    run, fault = proofs.run(command, name)
    if fault or run.returncode != 0:
        return fault or run.stderr
    fitted = measure(json.loads(out.read_text("utf-8")))
    for what, limit in LIMITS.items():
        if fitted[what] > limit:
            return f"emitted with {fitted[what]} {what}"
    _, fault = proofs.run(compiling(mscclc, name, "none", out), name)
    if fault:
        return fault
    wide = measure(json.loads(out.read_text("utf-8")))
    what, count = SPLIT.get(name, ("operations", wide["operations"]))
    if wide[what] != count:
        return f"{wide[what]} {what} without a target, not {count}"
    over = [w for w, limit in LIMITS.items() if wide[w] > limit]
    return f"over the limit of {over} without a target" if over and name not in SPLIT else ""


def main():
    mscclc, proofs = sys.argv[1], Proofs()
    names = sorted({*SPLIT, *REFUSED, *programs()})
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if fault := check(mscclc, proofs, name, pathlib.Path(folder) / "plan.json"):
                print(f"{name}: {fault}")
                failed += 1
    print(f"{len(names)} programs, {len(SPLIT)} split, {len(REFUSED)} refused, {failed} wrong")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compiles every program of this folder at -O1, proves it as proofs.txt says, and compares with the plans that the
Python DSL prints for it.

usage: compile.py MSCCLC PLAN_COMPARE

A plan's file name is the program's, with what parameters it has: single_node/allreduce.ranks=4.json.
Where -O1 differs on purpose, CORRECTED says why, and the plan must equal our own golden under corrected/ instead.
"""
import importlib.util
import json
import pathlib
import sys
import tempfile

from proofs import Proofs, arguments, programs

HERE = pathlib.Path(__file__).resolve().parent
ACCUMULATES = "reduces with one destination that is not their first source fuse into one that forgets it does not accumulate"
CORRECTED = {
    "default_algos/reducescatter_multi_nodes.ranks=8,gpusPerNode=4,groupSize=2,instances=2":
        "the packet that a reduce also writes is left unshifted by replication, so that both instances write the same one",
    "unit/read_reduce_read_reduce_fuse_test": ACCUMULATES,
    "unit/reduce_packet_reduce_packets_fuse_test": ACCUMULATES,
    "unit/reduce_reduce_fuse_test": ACCUMULATES,
    "unit/tbg_tbg_reduce_fuse_test": ACCUMULATES,
}
# Programs without a plan of the Python DSL, and why.
WITHOUT = {
    "alltoall/alltoall_pkt": "it calls a put_packet that the DSL no longer has",
    "single_node/allgather_ring": "it begins with a class that the DSL no longer has",
    "unit/put_put_with_signal_fuse_test": "its own check of signals and waits refuses it",
}


def load(path):
    spec = importlib.util.spec_from_file_location("plan_compare", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_plan(mscclc, proofs, name, out):
    """Returns the plan of `name` as JSON; after an error, prints it and returns None."""
    out.unlink(missing_ok=True)
    # The ranks of MSCCL++'s all-reduce over three nodes add in different orders.
    command = [mscclc, *arguments(name), "-O1", "--target=none", "--allow=rank-order", "-o", out]
    run, fault = proofs.run(command, f"corrected/{name}" if name in CORRECTED else name)
    if fault or run.returncode != 0:
        print(f"{name}: {fault or run.stderr}")
        return None
    return json.loads(out.read_text("utf-8"))


def main():
    mscclc, compare_path = sys.argv[1:]
    compare, proofs = load(compare_path), Proofs()
    failed = 0
    missing = set(programs()) - WITHOUT.keys()
    plans = sorted(str(p.relative_to(HERE / "plans").with_suffix("")) for p in (HERE / "plans").rglob("*.json"))
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "plan.json"
        for name in plans:
            missing.discard(name.partition(".")[0])
            ours = compile_plan(mscclc, proofs, name, out)
            if ours is None:
                failed += 1
                continue
            golden = json.loads((HERE / ("corrected" if name in CORRECTED else "plans") / f"{name}.json").read_text("utf-8"))
            found = list(compare.differences(compare.canonical(ours), compare.canonical(golden)))
            for path, a, b in found[:5]:
                print(f"{name}: {path}: {json.dumps(a)[:160]} != {json.dumps(b)[:160]}")
            failed += bool(found)
        failed += sum(compile_plan(mscclc, proofs, program, out) is None for program in WITHOUT)
    for program in sorted(missing):
        print(f"{program}: no plan of this program")
    failed += len(missing)
    print(f"{len(plans)} plans, {len(CORRECTED)} corrected, {failed} wrong")
    return 1 if failed or not plans else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compiles every program of this folder at -O1 and compares with the plans that the Python DSL prints for it.

usage: compile.py MSCCLC PLAN_COMPARE

A plan's file name is the program's, with what parameters it has: single_node/allreduce.ranks=4.json.
Where -O1 differs on purpose, CORRECTED says why, and the plan must equal our own golden under corrected/ instead.
"""
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile

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
WITHOUT = {"unit/put_put_with_signal_fuse_test": "its own check of signals and waits refuses it"}


def load(path):
    spec = importlib.util.spec_from_file_location("plan_compare", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_plan(mscclc, program, parameters, out):
    """The plan of `program` as JSON, or None once its errors are printed."""
    source, algorithm = program.split("/")
    command = [mscclc, HERE / f"{source}.cpp", "--algorithm", algorithm, "-O1", "--no-verify", "--target=none", "-q", "-o", out]
    for parameter in parameters:
        command += ["-P", parameter]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        print(f"{program} {' '.join(parameters)}: exit code {run.returncode}\n{run.stderr}")
        return None
    return json.loads(out.read_text("utf-8"))


def programs():
    for source in sorted(HERE.glob("*.cpp")):
        for algorithm in re.findall(r"^MSCCLC_ALGORITHM void (\w+)\(", source.read_text("utf-8"), re.M):
            yield f"{source.stem}/{algorithm}"


def main():
    mscclc, compare_path = sys.argv[1:]
    compare = load(compare_path)
    failed = 0
    missing = set(programs()) - WITHOUT.keys()
    plans = sorted(str(p.relative_to(HERE / "plans").with_suffix("")) for p in (HERE / "plans").rglob("*.json"))
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "plan.json"
        for name in plans:
            program, _, parameters = name.partition(".")
            missing.discard(program)
            ours = compile_plan(mscclc, program, parameters.split(",") if parameters else [], out)
            if ours is None:
                failed += 1
                continue
            golden = json.loads((HERE / ("corrected" if name in CORRECTED else "plans") / f"{name}.json").read_text("utf-8"))
            found = list(compare.differences(compare.canonical(ours), compare.canonical(golden)))
            for path, a, b in found[:5]:
                print(f"{name}: {path}: {json.dumps(a)[:160]} != {json.dumps(b)[:160]}")
            failed += bool(found)
        failed += sum(compile_plan(mscclc, program, [], out) is None for program in WITHOUT)
    for program in sorted(missing):
        print(f"{program}: no plan of this program")
    failed += len(missing)
    print(f"{len(plans)} plans, {len(CORRECTED)} corrected, {failed} wrong")
    return 1 if failed or not plans else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compiles every program of this folder at -O1 and compares with the plan that the Python DSL prints for it.

usage: compile.py MSCCLC PLAN_COMPARE

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
    "unit/read_reduce_read_reduce_fuse_test": ACCUMULATES,
    "unit/reduce_packet_reduce_packets_fuse_test": ACCUMULATES,
    "unit/reduce_reduce_fuse_test": ACCUMULATES,
    "unit/tbg_tbg_reduce_fuse_test": ACCUMULATES,
}
# No plan of the Python DSL: its own check refuses the first, and the second overruns the executor.
WITHOUT = {"unit/put_put_with_signal_fuse_test", "multi_node/reducescatter_pkt"}


def load(path):
    spec = importlib.util.spec_from_file_location("plan_compare", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    mscclc, compare_path = sys.argv[1:]
    compare = load(compare_path)
    failed = done = 0
    plans = {str(p.relative_to(HERE / "plans").with_suffix("")) for p in (HERE / "plans").rglob("*.json")}
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "plan.json"
        for source in sorted(HERE.glob("*.cpp")):
            for algorithm in re.findall(r"^MSCCLC_ALGORITHM void (\w+)\(", source.read_text("utf-8"), re.M):
                name = f"{source.stem}/{algorithm}"
                run = subprocess.run([mscclc, source, "--algorithm", algorithm, "-O1", "--no-verify", "--target=none", "-q", "-o", out], capture_output=True, text=True)
                if run.returncode != 0:
                    print(f"{name}: exit code {run.returncode}\n{run.stderr}")
                    failed += 1
                    continue
                done += 1
                if name in WITHOUT:
                    continue
                folder_of = "corrected" if name in CORRECTED else "plans"
                golden = json.loads((HERE / folder_of / f"{name}.json").read_text("utf-8"))
                ours = json.loads(out.read_text("utf-8"))
                plans.discard(name)
                found = list(compare.differences(compare.canonical(ours), compare.canonical(golden)))
                for path, a, b in found[:5]:
                    print(f"{name}: {path}: {json.dumps(a)[:160]} != {json.dumps(b)[:160]}")
                failed += bool(found)
    for name in sorted(plans):
        print(f"{name}: no program for this plan")
    failed += len(plans)
    print(f"{done} programs, {len(CORRECTED)} corrected, {failed} wrong")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())

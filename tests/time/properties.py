#!/usr/bin/env python3
"""Estimates hold to what is true of any machine, over every sample, on every machine that is built in.

usage: properties.py MSCCLC

For each sample, machine, runner and size: the estimate is not below what links alone or latencies alone would take, its
parts sum to it, it does not shrink as messages grow, and a resource carries no more than its rate in that time. A sample
that a machine cannot run is refused, with a reason. Prints what does not hold; exit 1 if there is something.
"""
import json
import pathlib
import re
import subprocess
import sys

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"
MACHINES = [path.stem for path in sorted((SAMPLES.parent / "passes/time/machines").glob("*.json"))]
SIZES = [1 << power for power in range(6, 29, 2)]
SLACK = 1e-9  # of rounding, relative


def estimates(mscclc, sample, machine, target, sizes=SIZES):
    """Returns the estimates for those sizes that the program takes, or the reason why there are none."""
    command = [mscclc, str(sample), "--no-verify", "--estimate", "--json", "--machine", machine, f"--target={target}",
               "--size", ",".join(map(str, sizes))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return json.loads(done.stdout)["estimates"], ""
    limit = re.search(r"the program takes messages of \d+ to (\d+) bytes", done.stderr)
    if limit and sizes[-1] > int(limit[1]) > sizes[0]:
        return estimates(mscclc, sample, machine, target, [size for size in sizes if size <= int(limit[1])])
    return [], done.stderr


def faults(rows):
    """Returns what is wrong with the estimates of one program on one machine, by size."""
    before = 0
    for row in rows:
        size, us = row["bytes"], row["us"]
        for bound in ("links_us", "latencies_us"):
            if row[bound] > us * (1 + SLACK):
                yield f"{size} bytes: {us} us is below {bound}, {row[bound]} us"
        spent = sum(row["spent_us"].values())
        if abs(spent - us) > us * SLACK:
            yield f"{size} bytes: the parts sum to {spent} us, not to {us} us"
        if row["spent_us"][row["bound"]] != max(row["spent_us"].values()):
            yield f"{size} bytes: bound by {row['bound']}, which is not the largest part"
        if us < before * (1 - SLACK):
            yield f"{size} bytes: {us} us, after {before} us for a smaller message"
        before = us
        for link in row["traffic"] if not row["extrapolated"] else []:
            if link["bytes"] / link["GBps"] / 1e3 > us * (1 + SLACK):
                yield f"{size} bytes: {link['kind']} of rank {link['rank']} carries {link['bytes']} bytes in {us} us"


def main():
    mscclc = sys.argv[1]
    bad = told = refused = 0
    for sample in sorted(SAMPLES.glob("*.cpp")):
        for machine in MACHINES:
            for target in ("mscclpp", "none"):
                rows, why = estimates(mscclc, sample, machine, target)
                if not rows:
                    refused += 1
                    if f"cannot run on {machine}" not in why:
                        print(f"{sample.name} on {machine}, --target={target}: {why}")
                        bad += 1
                    continue
                told += len(rows)
                for fault in faults(rows):
                    print(f"{sample.name} on {machine}, --target={target}, {fault}")
                    bad += 1
    print(f"{told} estimates, {refused} programs refused, {bad} faults")
    return 1 if bad or told < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())

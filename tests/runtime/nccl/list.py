#!/usr/bin/env python3
"""Whether the kernels that are installed win against NCCL's published times, by the time model.

usage: list.py MSCCLC SAMPLES PUBLISHED LINE...

LINE is one of list.cmake: COLLECTIVE SAMPLE RANKS MIN MAX IN_PLACE [PARAMETER=VALUE...]. PUBLISHED is a table of NCCL's
times (published.csv). A kernel wins at a published size if it takes less, though it take OFF times what the model says
(nine of ten predictions are that good) and copy its data to windows and back."""
import csv
import json
import pathlib
import subprocess
import sys

OFF = 1.26


def estimate(mscclc, source, ranks, parameters, machine, sizes):
    """Returns for each size the microseconds of the kernel, and those of copying input and output once each."""
    command = [mscclc, str(source), "-O2", "--target=none", "--estimate", "--json", "--machine", machine, "--size",
               ",".join(map(str, sizes))]
    for parameter in [f"ranks={ranks}", *parameters]:
        command += ["-P", parameter]
    done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    times = {}
    for one in done["estimates"]:
        memory = max(link["GBps"] for link in one["traffic"] if link["kind"] == "memory")
        times[one["bytes"]] = one["us"], 4 * one["bytes"] / memory / 1000  # twice read and written
    return times


def main():
    mscclc, samples, published, *lines = sys.argv[1:]
    with open(published, encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if not row["collective"].startswith("#")]
    for line in lines:
        collective, sample, ranks, least, most, _, *parameters = line.split()
        least, most = int(least), int(most)
        of_it = [row for row in rows if row["collective"] == collective and row["ranks"] == ranks]
        assert of_it, f"{line}: no times of NCCL are published"
        assert most <= max(int(row["message_bytes"]) for row in of_it), f"{line}: beyond the largest published size"
        for machine in {row["machine"] for row in of_it}:
            nccl = {int(row["message_bytes"]): float(row["us"]) for row in of_it if row["machine"] == machine}
            sizes = [size for size in sorted(nccl) if max(least, 1024) <= size <= most]
            for size, (kernel, copies) in estimate(mscclc, pathlib.Path(samples, sample + ".cpp"), ranks, parameters,
                                                   machine, sizes).items():
                said = f"{sample}, {ranks} ranks on {machine}, {size} bytes: {kernel:.1f} us, {copies:.1f} us for copies; NCCL {nccl[size]} us"
                print(said)
                assert OFF * kernel + copies < nccl[size], f"{said}: does not win"


main()

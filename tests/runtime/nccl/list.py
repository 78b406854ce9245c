#!/usr/bin/env python3
"""Whether the kernels that are installed win against NCCL's published times, by the time model.

usage: list.py MSCCLC SAMPLES PACKAGE LINE...

PACKAGE is the Python package mscclc. LINE is one of list.cmake: COLLECTIVE SAMPLE RANKS MIN MAX IN_PLACE
[PARAMETER=VALUE...]."""
import os
import pathlib
import sys


def main():
    tool, samples, package, *lines = sys.argv[1:]
    os.environ["MSCCLC_TOOL"] = tool
    sys.path.insert(0, str(pathlib.Path(package).parent))
    from mscclc.baseline import baselines, copies, wins
    from mscclc.tool import estimate

    known = baselines(pathlib.Path(package, "published.csv"))
    for line in lines:
        collective, sample, ranks, least, most, _, *parameters = line.split()
        of_it = {call: nccl for call, nccl in known.items() if call[:2] == (collective, int(ranks))}
        assert of_it, f"{line}: no times of NCCL are published"
        assert int(most) <= max(nccl.largest for nccl in of_it.values()), f"{line}: beyond the largest published size"
        params = {"ranks": ranks, **dict(one.split("=") for one in parameters)}
        for (_, _, machine), nccl in of_it.items():
            sizes = [size for size in nccl.sizes if max(int(least), 1024) <= size <= int(most)]
            for one in estimate(pathlib.Path(samples, sample + ".cpp"), sizes, machine=machine, params=params,
                                options=["-O2", "--target=none"]):
                said = (f"{sample}, {ranks} ranks on {machine}, {one.bytes} bytes: {one.microseconds:.1f} us, "
                        f"{copies(one):.1f} us for copies; NCCL {nccl.at(one.bytes)} us")
                print(said)
                assert wins(one.microseconds, copies(one), nccl.at(one.bytes)), f"{said}: does not win"


main()

#!/usr/bin/env python3
"""Takes each MSCCL schedule of some folders all the way: proven with blocks chosen and kept, run at two sizes at least in
both ways, a plan within the limits of MSCCL++'s executor, and a kernel. Schedules that say that they are wrong are left
out: those with the word "expected-error". Prints how many schedules there were; exit 1 if something failed.

usage: xml.py MSCCLC FOLDER...
"""
import pathlib
import re
import subprocess
import sys
import tempfile


# What is said of schedules whose outputs nobody states, of those with packets, which name no least size, and of those
# whose ranks add in different orders.
KNOWN_WARNINGS = ("states no result", "its outputs are compared with nothing", "treats these as two buffers",
                  "a launch of 0 bytes changes halves of double scratch",
                  "ranks end with different bits where elements are floats")


def what_failed(arguments, run):
    """Returns what is wrong with the result of mscclc; nothing if all is well."""
    told = [line for line in run.stderr.splitlines() if re.search(r": (warning|error): ", line)]
    known = [line for line in told if ": warning: " in line and any(words in line for words in KNOWN_WARNINGS)]
    if run.returncode != 0 or told != known:
        return f"exit code {run.returncode}\n{run.stdout}{run.stderr}"
    right = re.findall(r"^ *\d+ .* (?:yes|ran)$", run.stdout, re.MULTILINE)
    if "--run" in arguments and len(right) < 2:
        return f"right at fewer than two sizes\n{run.stdout}"
    return None


def main():
    mscclc, folders = sys.argv[1], [pathlib.Path(folder) for folder in sys.argv[2:]]
    schedules = [schedule for folder in folders for schedule in sorted(folder.glob("*.xml"))
                 if "expected-error" not in schedule.read_text(encoding="utf-8")]
    failed = 0
    with tempfile.TemporaryDirectory() as out:
        for schedule in schedules:
            plan, kernel = f"{out}/{schedule.stem}.json", f"{out}/{schedule.stem}.cu"
            # What was written is proven once more, as it stands, within the executor's limits.
            for arguments in ([schedule, "--verify"], [schedule, "--keep-blocks", "--verify"],
                              [schedule, "--run", "--schedules", "5"],
                              [schedule, "--keep-blocks", "--run", "--schedules", "2"], [schedule, "-o", plan],
                              [schedule, "--emit-cuda", "-o", kernel], [plan, "--verify", "--target", "mscclpp"]):
                run = subprocess.run([mscclc, *arguments], capture_output=True, text=True)
                what = what_failed(arguments, run)
                if what:
                    print(f"{schedule.name}: mscclc {' '.join(map(str, arguments))}: {what}")
                    failed += 1
    print(f"{len(schedules)} schedules, {failed} failures")
    return 1 if failed or not schedules else 0


if __name__ == "__main__":
    sys.exit(main())

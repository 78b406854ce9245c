#!/usr/bin/env python3
"""Takes each MSCCL schedule of a folder all the way: proven with blocks chosen and kept, run at two sizes, a plan within
the limits of MSCCL++'s executor, and a kernel. Prints how many schedules there were; exit 1 if something failed.

usage: xml.py MSCCLC FOLDER
"""
import pathlib
import subprocess
import sys
import tempfile


def main():
    mscclc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    schedules = sorted(folder.glob("*.xml"))
    failed = 0
    with tempfile.TemporaryDirectory() as out:
        for schedule in schedules:
            plan, kernel = f"{out}/{schedule.stem}.json", f"{out}/{schedule.stem}.cu"
            for arguments in (["--verify"], ["--keep-blocks", "--verify"], ["--run", "--size", "64K,1M", "--schedules", "5"],
                              ["-o", plan], ["--emit-cuda", "-o", kernel]):
                run = subprocess.run([mscclc, str(schedule), *arguments], capture_output=True, text=True)
                if run.returncode != 0 or run.stderr:
                    print(f"{schedule.name} {' '.join(arguments)}: exit code {run.returncode}\n{run.stdout}{run.stderr}")
                    failed += 1
            # What was written is proven once more, as it stands, within the executor's limits.
            run = subprocess.run([mscclc, plan, "--verify", "--target", "mscclpp"], capture_output=True, text=True)
            if run.returncode != 0:
                print(f"the plan of {schedule.name}: exit code {run.returncode}\n{run.stderr}")
                failed += 1
    print(f"{len(schedules)} schedules, {failed} failures")
    return 1 if failed or not schedules else 0


if __name__ == "__main__":
    sys.exit(main())

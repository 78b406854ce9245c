"""usage: run_plan.py MSCCLC: lesson 7's line of mpirun and its script, with stand-ins for cupy and mscclpp in host memory.

The script must pass with right data, and find a wrong element of any rank.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LESSONS = HERE.parents[1] / "samples" / "tutorial"


def main():
    line = re.search(r"^mpirun .*run_plan\.py .*$", (LESSONS / "7-in-mscclpp.md").read_text(encoding="utf-8"), re.M)[0]
    line = line.replace(" python ", f" {sys.executable} ")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="mscclc-run-plan-") as folder:
        os.symlink(LESSONS / "run_plan.py", os.path.join(folder, "run_plan.py"))
        search = {"PYTHONPATH": str(HERE / "stand_ins"), "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        for lesson in ("first_allgather", "small_allreduce"):
            subprocess.run([sys.argv[1], LESSONS / f"{lesson}.cpp", "-P", "ranks=2", "-o", "plan.json"], cwd=folder, check=True)
            for spoiled in ("", "0", "1"):
                result = subprocess.run(line, shell=True, cwd=folder, env={**os.environ, **search, "SPOILED": spoiled}, capture_output=True,
                                        text=True, timeout=120, check=False)
                wrong = sorted(map(int, re.findall(r": (\d+) of 262144 elements are wrong", result.stdout)))
                right = (result.returncode == 0) == (spoiled == "") and wrong[-1:] == [1 if spoiled else 0]
                failed += not right
                print(f"{'ok   ' if right else 'FAIL '} {lesson}, spoiled: {spoiled or 'nothing'}: exit code {result.returncode}, wrong {wrong}"
                      + ("" if right else "\n" + result.stdout + result.stderr))
    print(f"{6 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""usage: every_sample.py MSCCLC FOLDER: proves each source at several sizes, and runs it at one. Those over nodes are named
`…hierarchical`, and have the parameters `nodes` and `gpus`; the others have `ranks`."""
import pathlib
import re
import subprocess
import sys

mscclc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
for source in sorted(folder.glob("*.cpp")):
    of_nodes = "hierarchical" in source.stem
    many = ["-P", "nodes=1..3", "-P", "gpus=2,3"] if of_nodes else ["-P", "ranks=2..8"]
    one = ["-P", "nodes=2", "-P", "gpus=3"] if of_nodes else ["-P", "ranks=3"]
    proof = subprocess.run([mscclc, source, "--verify", *many], check=True, capture_output=True, text=True).stdout
    run = [mscclc, source, "--run", *one, "--schedules", "5", "--dtype", "i32"]
    rows = subprocess.run(run, check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [row for row in rows if not row.startswith((source.stem, " " * 8 + "size"))]
    if not rows or not all(re.fullmatch(r" *(\d+|in turn) +5 +0 +yes", row) for row in rows):
        sys.exit(f"{source.name}: {rows}")
    print(f"{source.stem}: proven {proof.count('proven')} times, run right")

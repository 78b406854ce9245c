"""usage: statements.py MSCCLC SAMPLES: what each of SAMPLES/*.cpp and its twin in SAMPLES/auto record at 8 ranks. Exit 1 if
a twin is missing or has more than half as many statements as the sample has operations."""
import pathlib
import re
import subprocess
import sys


def recorded(source, sizes):
    command = [mscclc, source, "--passes=", "--no-verify", "--emit-ir", "-o", "-"]
    for size in sizes:
        command += ["-P", size]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return len(re.findall(r"^(?! *collective ).*@\d+$", text, re.M))


mscclc, samples = sys.argv[1], pathlib.Path(sys.argv[2])
count = bad = 0
for source in sorted(samples.glob("*.cpp")):
    nodes = "hierarchical" in source.stem
    operations = recorded(source, ["gpusPerNode=4"] if nodes else ["ranks=8"])
    statements = recorded(samples / "auto" / source.name, ["nodes=2", "gpus=4"] if nodes else ["ranks=8"])
    print(f"{source.stem}: {operations} operations, {statements} statements")
    count += 1
    bad += 2 * statements > operations
print(f"{count} samples, {bad} too long")
sys.exit(1 if bad else 0)

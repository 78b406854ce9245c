"""usage: each_needed.py FILE…: explains each sample at -O2 and says which of its syncs nothing needs.

A sync that its put brings along counts as needed, as the put is.
"""
import json
import subprocess
import sys

for path in sys.argv[1:]:
    run = subprocess.run(["mscclc", path, "-O2", "--explain", "--json"], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        print(path, run.stderr)
        continue
    syncs = json.loads(run.stdout)["syncs"]
    for sync in syncs:
        if not sync["needed"] and sync["reason"] != "of-put":
            print(sync["where"], sync["sync"], sync["text"])
        if not sync["where"].startswith(path) or not sync["at"].startswith(path):
            print("not at a line of the source:", sync)
print(len(sys.argv) - 1, "explained")

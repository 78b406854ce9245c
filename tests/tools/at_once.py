#!/usr/bin/env python3
"""at_once.py PROGRAM NAME=VALUE… [-- NAME=VALUE…]…: runs the program several times at once, each time in an environment
with other settings. Prints the output of runs that fail, and exits with 1 if there are any."""

import os
import subprocess
import sys

program, *rest = sys.argv[1:]
runs = [[]]
for word in rest:
    if word == "--":
        runs.append([])
    else:
        runs[-1].append(word)
begun = [
    subprocess.Popen(
        [program],
        env=os.environ | dict(word.split("=", 1) for word in settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    for settings in runs
]
outputs = [run.communicate()[0] for run in begun]
failed = [(settings, run, output) for settings, run, output in zip(runs, begun, outputs) if run.returncode]
for settings, run, output in failed:
    print(f"{' '.join(settings)}: exit code {run.returncode}\n{output}")
sys.exit(bool(failed))

#!/usr/bin/env python3
"""mscclc-perf --calibrate on the CPU stand-in: a machine file comes out that mscclc takes; and what is refused.

usage: run_host.py MSCCLC_PERF EXPERIMENTS OTHER_LIBRARY MSCCLC ALGORITHM

The times say nothing here. OTHER_LIBRARY holds kernels without programs.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

COLUMNS = ["kernel", "bytes", "type", "op", "packet", "microseconds", "algbw", "busbw", "of_copy", "wrong"]
PERF, EXPERIMENTS, OTHER, MSCCLC, ALGORITHM = sys.argv[1:]


def run(*words):
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=250)
    print("+", *words, f"-> {done.returncode}\n{done.stdout}{done.stderr}", flush=True)
    return done


def refuse(code, said, *words):
    """mscclc-perf ends with `code` and one line that says why."""
    done = run(PERF, *words)
    if done.returncode != code or said not in done.stderr or not done.stderr.startswith("mscclc-perf: "):
        sys.exit(f"expected exit code {code} and '{said}'")


def calibrate(folder):
    output, rows = folder / "mine.json", folder / "rows.json"
    few = ["-b", "1K", "-e", "64K", "-f", "64", "-n", "2", "-w", "1", "-r", "1"]
    if run(PERF, "--calibrate", "-H", "-o", output, "-J", rows, "-l", "b200x8", *few).returncode != 0:
        sys.exit("calibrating failed")
    machine = json.loads(output.read_text(encoding="utf-8"))
    parameters = machine["parameters"]
    certainties = {key: parameter["certainty"] for key, parameter in parameters.items()}
    written = json.loads(rows.read_text(encoding="utf-8"))
    if not written or any(list(row) != COLUMNS or row["microseconds"] <= 0 for row in written):
        sys.exit(f"rows: {written}")
    if machine["name"] != "mine" or "estimates are off by a factor of" not in machine["description"]:
        sys.exit(f"name or description: {machine['name']}, {machine['description']}")
    # Nothing that was run goes through a network card, or an executor; the host has no multicast.
    if any(certainties[key] != "borrowed" for key in ("nic", "nic_latency", "plan_load", "decode")):
        sys.exit(f"what was not measured is kept: {certainties}")
    if parameters["multimem"] != {"value": 0, "source": "none of it was seen", "certainty": "assumed"}:
        sys.exit(f"there is no multicast here: {parameters['multimem']}")
    borrowed = {"value": 48.35, "source": "as of b200x8: no experiment measures it", "certainty": "borrowed"}
    if parameters["nic"] != borrowed:
        sys.exit(f"no network card is used: {parameters['nic']}")
    estimate = run(MSCCLC, ALGORITHM, "--target=none", "--estimate", "--json", "--machine", output, "--size", "1K,1M")
    if estimate.returncode != 0 or len(json.loads(estimate.stdout)["estimates"]) != 2:
        sys.exit("mscclc does not take the machine file")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        calibrate(folder)
        output = folder / "none.json"
        refuse(2, "--calibrate needs the machine file to write", "--calibrate", "-H", EXPERIMENTS)
        refuse(2, "leave out -P", "--calibrate", "-H", "-P", "2", "-o", output, EXPERIMENTS)
        refuse(2, "--output is of --calibrate", "--output", output, EXPERIMENTS)
        refuse(1, "holds no experiments", "--calibrate", "-H", "-o", output, OTHER)
        refuse(1, "--like h1: 'h1' is neither a machine", "--calibrate", "-H", "-l", "h1", "-o", output, EXPERIMENTS)
        refuse(1, "cannot write", "--calibrate", "-H", "-b", "1K", "-e", "1K", "-n", "1", "-w", "0", "-r", "1", "-o",
               folder / "missing" / "mine.json", EXPERIMENTS)
        if output.exists():
            sys.exit("a file is written in spite of an error")


main()

#!/usr/bin/env python3
"""Synthesises for random machines: each program must be proven and run right.

usage: random_machines.py MSCCLC COUNT [SEED]

A machine has 2 to 12 GPUs on one or two nodes, up to two switches in a node, uneven links, and one or two networks.
For each one a collective is drawn. Prints each failure with its machine file, and counts. A machine may be refused if
GPUs would have to signal each other that no link joins. Exits with 1 if there was a failure, or if more than a quarter
were refused.
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

BASE = pathlib.Path(__file__).parents[2] / "passes/time/machines/h100x8.json"
COLLECTIVES = ["allgather", "allreduce", "reducescatter", "broadcast", "reduce"]


def machine(draw):
    """Returns a machine file, and its number of nodes. Each pair of GPUs with a tree between them is connected."""
    file = json.loads(BASE.read_text())
    nodes = draw.choice([1, 1, 2])
    gpus = draw.randint(1 if nodes == 2 else 2, 12 // nodes)
    names = [f"gpu{g}" for g in range(gpus)]
    switches = [f"hub{s}" for s in range(draw.randint(0, 2))]
    rates = [draw.randint(1, 5), draw.randint(20, 300), 48.35]
    links = []

    def connect(a, b):
        links.append({"ends": [a, b], "rate": draw.choice(rates)})

    vertices = names + switches
    for at in range(1, len(vertices)):
        connect(vertices[at], vertices[draw.randrange(at)])
    for _ in range(draw.randint(0, 2 * len(vertices))):
        a, b = draw.choice(vertices), draw.choice(vertices)
        if a != b:
            connect(a, b)
    if len(names) > 2 and draw.random() < 0.3:  # a ring in one direction
        ring = draw.sample(names, draw.randint(3, len(names)))
        rate = draw.choice(rates)
        links += [{"from": a, "to": b, "rate": rate} for a, b in zip(ring, ring[1:] + ring[:1])]
    networks = [f"net{n}" for n in range(draw.randint(1, 2))]
    for gpu in names:  # each network has one GPU of each node at least
        for network in networks:
            if gpu == names[0] or draw.random() < 0.7:
                connect(gpu, network)
    file.update(name="random", topology="links", gpus_per_node=gpus, links=links,
                switches=[{"name": s} for s in switches] + [{"name": n, "between_nodes": True} for n in networks])
    file["parameters"]["multimem"]["value"] = 0
    return file, nodes, gpus * nodes


def run(command):
    """Returns the end of a run of 64K, or of the nearest size if the program's chunks do not divide that.

    A program that is scheduled for a long message would by default run one, too, so that its pipelines turn over.
    """
    size = "64K"
    while True:
        done = subprocess.run(command + ["--run", "--schedules", "5", "--size", size], capture_output=True, text=True,
                              check=False)
        nearest = re.search(r"and (\d+) are the nearest|(\d+) is the nearest", done.stderr)
        if size != "64K" or not nearest or "[size-refused]" not in done.stderr:
            return done
        size = nearest[1] or nearest[2]


def main():
    mscclc, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    failures = refused = 0
    taken = {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "machine.json"
        for number in range(seed, seed + count):
            draw = random.Random(number)
            file, nodes, ranks = machine(draw)
            path.write_text(json.dumps(file))
            collective = draw.choice(COLLECTIVES)
            command = [mscclc, "--synthesize", collective, "--machine", f"{path}*{nodes}",
                       "--message-size", draw.choice(["1K", "1M", "256M"])]
            if collective in ("broadcast", "reduce"):
                command += ["--root", str(draw.randrange(ranks))]
            done = run(command)
            algorithm = done.stderr.split("'")[1] if "'" in done.stderr else "none"
            taken[algorithm] = taken.get(algorithm, 0) + 1
            if done.returncode == 1 and "no schedule of any algorithm fits" in done.stderr:
                refused += 1
                print(f"seed {number}, {ranks} ranks: {collective} is refused", flush=True)
            elif done.returncode != 0:
                failures += 1
                print(f"seed {number}, {ranks} ranks: {' '.join(command[1:])}\n{done.stdout}{done.stderr}")
                print(json.dumps({key: file[key] for key in ("gpus_per_node", "switches", "links")}))
    print(f"{count} machines, {failures} failures, {refused} refused; taken: " +
          ", ".join(f"{name} {times}" for name, times in sorted(taken.items(), key=lambda one: -one[1])))
    return 1 if failures or refused > count / 4 else 0


if __name__ == "__main__":
    sys.exit(main())

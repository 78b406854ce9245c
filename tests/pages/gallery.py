#!/usr/bin/env python3
"""Keeps samples/README.md, the gallery, equal to the samples and to what the time model says of them.

usage: gallery.py --mscclc PROGRAM [--update | --pictures]

Each sample begins with what it does, `When:` it is of use, and a command. The gallery has these, and modelled times for the
parameters of the command. A movement program is scheduled for each size. Published times of NCCL stand below, of
runtime-min/python/mscclc/published.csv, and above them what `--synthesize` finds. --update writes the lists anew; exit 1 if
they are old. --pictures draws the pictures anew, by Chromium: parts of pages of `--emit-html`.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "samples/README.md"
PUBLISHED = ROOT / "runtime-min/python/mscclc/published.csv"
MACHINES = ("h100x8", "gb200x72", "mi300x8")
SIZES = {"8K": 8 << 10, "256K": 256 << 10, "1M": 1 << 20, "64M": 64 << 20}
# By the beginning of a sample's name: the collective's title, and its name in published.csv.
COLLECTIVES = {
    "allgather": "All-gather",
    "allreduce": "All-reduce",
    "reducescatter": "Reduce-scatter",
    "alltoall": "All-to-all",
    "moe": "Mixture of experts",
    "broadcast": "Broadcast",
    "reduce_": "Reduce",
    "gather": "Gather",
    "scatter": "Scatter",
    "sendrecv": "Send and receive",
}
FOLDERS = {"auto": "movement", "": "thread blocks", "chunks": "chunk language"}
# What --synthesize can make, and for which machine of 8 GPUs.
SYNTHESISED = ("allgather", "allreduce", "reducescatter", "alltoall", "broadcast", "reduce_")
SYNTHESISED_FOR = "h100x8"
# By the name of a picture: the arguments of its page.
PICTURES = {
    "packets-8K": "samples/auto/allreduce_packets.cpp -P ranks=8 --size 8K --machine h100x8",
    "ring-64M": "samples/auto/allreduce_ring.cpp -P ranks=8 --size 64M --machine h100x8",
    "nvls-64M": "samples/auto/allreduce_nvls.cpp -P ranks=8 --size 64M --machine h100x8",
    "hierarchical-64M": "samples/auto/allreduce_hierarchical.cpp -P nodes=2 -P gpus=8 --size 64M --machine h100x8*2",
}
LIST = re.compile(r"(<!-- list: (\w+) -->\n).*?(<!-- end -->)", re.S)


class Sample:
    """A sample: where it is, and what the comment at its top says."""

    def __init__(self, path):
        self.path = path
        self.folder = path.parent.name if path.parent.name in FOLDERS else ""
        comment = []
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("//"):
                break
            comment.append(line[2:].strip())
        text = " ".join(comment)
        self.what = re.split(r": ", text.split(" When:")[0], maxsplit=1)[-1].split(". ")[0].strip().rstrip(".")
        self.when = re.split(r"\. (?=[A-Z])|\.? +mscclc |; (?=A kernel)", text.split("When: ")[1] + " ")[0].strip().rstrip(".")
        command = shlex.split(re.search(r"mscclc (\S+\.cpp.*?)(?: -o| --emit| --message| -P order|$)", " ".join(comment))[1])
        # Nodes that a program does not name itself; and what no plan can hold.
        self.nodes = "*2" if "hierarchical" in path.name else ""
        self.options = ["--target=none"] if re.search(r"mscclc \S+\.cpp.*? --emit-cuda", text) else []
        self.parameters = [word for option, word in zip(command, command[1:]) if option == "-P"]

    @property
    def collective(self):
        """The key of its collective in COLLECTIVES."""
        return next(name for name in COLLECTIVES if self.path.name.startswith(name))

    def times(self, mscclc, machine):
        """Returns the modelled times (microseconds) by size; None where the machine cannot run it."""
        options = self.options + [option for parameter in self.parameters for option in ("-P", parameter)]
        sizes = [[size] for size in SIZES] if self.folder == "auto" or "Schedule::Auto" in self.path.read_text() else [list(SIZES)]
        found = {}
        for some in sizes:
            schedule = ["--message-size", some[0]] if len(sizes) > 1 else []
            done = subprocess.run([mscclc, self.path, "-q", "--no-verify", *options, *schedule, "--machine", machine + self.nodes, "--estimate", "--json", "--size",
                                   ",".join(some)], capture_output=True, text=True, check=False)
            if done.returncode:
                return None
            found |= {row["bytes"]: row["us"] for row in json.loads(done.stdout)["estimates"]}
        return [found.get(size) for size in SIZES.values()]


def shown_one(time):
    """Returns a time as text: three digits at most before the point, one behind it."""
    return "—" if time is None else f"{time:.1f}" if time < 100 else f"{time:.0f}"


def shown(times):
    """Returns times as text."""
    return "—" if times is None else " / ".join(map(shown_one, times))


def synthesised(mscclc, collective):
    """Returns the names and modelled times of what --synthesize finds for each size, as text."""
    found = []
    for size in SIZES:
        done = subprocess.run([mscclc, "-q", "--synthesize", collective.rstrip("_"), "--machine", SYNTHESISED_FOR, "--message-size", size, "--estimate", "--json",
                               "--size", size], capture_output=True, text=True, check=True)
        made = json.loads(done.stdout)
        found.append(f"{made['program'].partition('_')[2]} {shown_one(made['estimates'][0]['us'])}")
    return " / ".join(found)


def published(collective, machine):
    """Returns NCCL's published times for 8 ranks at the sizes, or nothing."""
    with open(PUBLISHED, newline="", encoding="utf-8") as text:
        rows = {int(row["message_bytes"]): float(row["us"]) for row in csv.DictReader(text)
                if (row["collective"], row["ranks"], row["machine"]) == (collective, "8", machine)}
    return [rows.get(size) for size in SIZES.values()] if rows else None


def samples():
    """Returns all samples of the gallery."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / "samples" / folder).glob("*.cpp"))]
    return [Sample(path) for path in paths]


def uses():
    """Yields the table of all samples."""
    yield from ["| sample | written in | what it does | when to use it |", "|---|---|---|---|"]
    found = samples()
    for collective in COLLECTIVES:
        for sample in found:
            if sample.collective == collective:
                name = sample.path.relative_to(PAGE.parent).as_posix()
                what = sample.what[0].upper() + sample.what[1:]
                when = sample.when[0].upper() + sample.when[1:]
                yield f"| [`{name}`]({name}) | {FOLDERS[sample.folder]} | {what} | {when} |"


def modelled(mscclc):
    """Yields the tables of times."""
    found = samples()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        times = {(sample, machine): pool.submit(sample.times, mscclc, machine) for sample in found for machine in MACHINES}
        made = {collective: pool.submit(synthesised, mscclc, collective) for collective in SYNTHESISED}
    for collective, title in COLLECTIVES.items():
        yield from ["", f"### {title}", "", f"| sample | parameters | {' | '.join(MACHINES)} |", "|---|---|" + "---|" * len(MACHINES)]
        for sample in found:
            if sample.collective == collective:
                row = [shown(times[sample, machine].result()) for machine in MACHINES]
                yield f"| `{sample.path.relative_to(PAGE.parent).as_posix()}` | {', '.join(sample.parameters)} | {' | '.join(row)} |"
        if collective in made:
            row = [made[collective].result() if machine == SYNTHESISED_FOR else "" for machine in MACHINES]
            yield f"| `--synthesize {collective.rstrip('_')}` | | {' | '.join(row)} |"
        theirs = [published(collective, machine) for machine in MACHINES]
        if any(theirs):
            yield f"| NCCL, published | ranks=8 | {' | '.join(shown(row) if row else '' for row in theirs)} |"


def draw(mscclc):
    """Draws the pictures: the timeline of a page, and the use of links below it."""
    sys.path.insert(0, str(ROOT / "tests/view"))
    import chromium
    page = chromium.Page(chromium.find(), 1280, 600)
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in PICTURES.items():
            made = f"{folder}/{name}.html"
            subprocess.run([mscclc, "-q", *arguments.split(), "--emit-html", "-o", made], check=True, cwd=ROOT)
            page.open(made)
            page.screenshot(PAGE.parent / "pictures" / f"{name}.png", element="section.left")
    page.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mscclc", type=pathlib.Path, required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--pictures", action="store_true")
    options = parser.parse_args()
    if options.pictures:
        draw(options.mscclc.resolve())
        return 0
    made = {"USES": list(uses()), "TIMES": list(modelled(options.mscclc.resolve()))}
    page = PAGE.read_text(encoding="utf-8")
    renewed = LIST.sub(lambda match: match[1] + "\n".join(made[match[2]]) + "\n" + match[3], page)
    if options.update:
        PAGE.write_text(renewed, encoding="utf-8")
        return 0
    old = page.splitlines()
    different = [line for line in renewed.splitlines() if line not in old]
    for line in different:
        print(f"samples/README.md: a list is old (--update writes it anew): {line}")
    print(f"{len(samples())} samples, {len(different)} differences")
    return 1 if renewed != page else 0


if __name__ == "__main__":
    sys.exit(main())

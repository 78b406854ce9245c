#!/usr/bin/env python3
"""Draws comments at random, to be read without the code around them.

    tests/tools/draw_comments.py [--count 200] [--seed 1] [FOLDER…]

A comment is a run of lines that begin with // or ///, or one that stands behind code. Tests and samples are left out.
The same seed draws the same comments from the same sources. Each is printed with its place.
"""

import argparse
import pathlib
import random
import re

ROOMS = ["compiler", "frontend", "ir", "passes", "backend-json", "backend-cuda", "runtime-min"]
ENDINGS = {".h", ".cpp", ".cuh", ".def", ".hpp"}
ALONE = re.compile(r"^\s*//[/!<]*\s?(.*)$")
BEHIND = re.compile(r"^[^\"']*[;{},)]\s*//[/!<]*\s?(.*)$")


def comments(path):
    """Returns the comments of a file, as pairs of a line number and a text of at least three words."""
    found, begin, words = [], 0, []
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate([*lines, ""], 1):
        alone, behind = ALONE.match(line), BEHIND.match(line)
        if alone:
            begin = begin or number
            words.append(alone.group(1))
            continue
        if words:
            found.append((begin, " ".join(words)))
            begin, words = 0, []
        if behind:
            found.append((number, behind.group(1)))
    return [(number, " ".join(text.split())) for number, text in found if len(text.split()) > 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("folders", nargs="*", default=ROOMS)
    arguments = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    drawn = []
    for folder in arguments.folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in ENDINGS:
                drawn += [(path.relative_to(root), number, text) for number, text in comments(path)]
    for path, number, text in random.Random(arguments.seed).sample(drawn, min(arguments.count, len(drawn))):
        print(f"{path}:{number}: {text}\n")


if __name__ == "__main__":
    main()

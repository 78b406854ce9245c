#!/usr/bin/env python3
"""Makes a corpus for the plan reader's fuzzer: golden plans, small ones first, and seeded mutations of them.

usage: make_plan_corpus.py PLANS_FOLDER OUT_FOLDER
"""
import copy
import json
import pathlib
import random
import sys

SEED = 20260820
LARGEST_TEXT = 6000
MUTANTS_PER_PLAN = 12
VALUES = [None, True, -1, 0, 1, 7, 255, 2**31, 2**32, 2**64 - 1, 2**64, 0.5, 1e30, "", "memory", "port", "switch", "i",
          "\ud83d\ude00", "pipeline", [], {}, [[]], [0, 0], {"index": 0}]


def places(node, found):
    """All (container, key) pairs below `node`."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else []
    for key, value in items:
        found.append((node, key))
        places(value, found)
    return found


def mutate(plan, rng):
    for _ in range(rng.randint(1, 3)):
        found = places(plan, [])
        if not found:
            return
        container, key = rng.choice(found)
        action = rng.randrange(4)
        if action == 0:
            container[key] = rng.choice(VALUES)
        elif action == 1:
            del container[key]
        elif action == 2 and isinstance(container, list):
            container.insert(key, copy.deepcopy(container[key]))
        elif isinstance(container, dict):
            other, other_key = rng.choice(found)
            container[key] = copy.deepcopy(other[other_key])


def main():
    plans_folder, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(SEED)
    for path in sorted(plans_folder.rglob("*.json")):
        plan = json.loads(path.read_text(encoding="utf-8"))
        text = json.dumps(plan, separators=(",", ":"))
        if len(text) > LARGEST_TEXT:
            plan["gpus"] = plan["gpus"][:1]
            text = json.dumps(plan, separators=(",", ":"))[:LARGEST_TEXT]
        (out / f"{path.stem}.json").write_text(text, encoding="utf-8")
        for number in range(MUTANTS_PER_PLAN):
            mutant = copy.deepcopy(plan)
            mutate(mutant, rng)
            text = json.dumps(mutant, separators=(",", ":"))[:LARGEST_TEXT]
            (out / f"{path.stem}-{number}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

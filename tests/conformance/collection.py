#!/usr/bin/env python3
"""Every plan of COLLECTION is kept under PLANS, byte for byte.

usage: collection.py COLLECTION PLANS
"""
import pathlib
import sys


def main():
    collection, plans = map(pathlib.Path, sys.argv[1:])
    wanted = sorted(p.relative_to(collection) for p in collection.rglob("*.json"))
    wrong = [p for p in wanted if not (plans / p).is_file() or (plans / p).read_bytes() != (collection / p).read_bytes()]
    for path in wrong:
        print(f"{path} is missing or differs")
    print(f"{len(wanted)} plans, {len(wrong)} wrong")
    return 1 if wrong or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())

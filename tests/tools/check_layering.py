#!/usr/bin/env python3
"""Checks who includes whom: arrows between the rooms go downwards only.

Prints each include that a room may not have; exit 1 if there is one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = {
    "ir": [],
    "frontend": ["ir"],
    "passes": ["ir"],
    "backend-json": ["ir"],
    "backend-cuda": ["ir", "runtime-min"],
    "runtime-min": [],
    "compiler": ["ir", "frontend", "passes", "backend-json", "backend-cuda"],
    "samples": [],
}
# Which outside headers a room may see.
ONLY_IN = {"clang/": ["frontend"], "llvm/": ["frontend"], "nlohmann/": ["backend-json"], "CLI/": ["compiler"], "cuda": ["runtime-min"]}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def main():
    bad = 0
    seen = 0
    for room, below in ROOMS.items():
        for path in sorted((ROOT / room).rglob("*")):
            if path.suffix not in (".h", ".hpp", ".cpp", ".cuh", ".cu", ".inc"):
                continue
            seen += 1
            for quote, name in INCLUDE.findall(path.read_text(encoding="utf-8")):
                target = name.split("/")[0]
                wrong = quote == '"' and target in ROOMS and target != room and target not in below
                wrong |= any(name.startswith(p) and room not in allowed for p, allowed in ONLY_IN.items() if quote == "<")
                # A template holds the text of what is emitted, not includes of its own.
                if wrong and "templates" not in path.parts:
                    print(f"{path.relative_to(ROOT)}: {room} may not include {name}")
                    bad += 1
    print(f"{seen} files, {bad} forbidden includes")
    return 1 if bad or not seen else 0


if __name__ == "__main__":
    sys.exit(main())

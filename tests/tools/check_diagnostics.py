#!/usr/bin/env python3
"""Checks that every diagnostic has a test that names its text.

A diagnostic counts as tested when a long run of fixed words in its format, or its name, stands in a file under tests/.
Prints those that are not; exit 1 if there is one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = r'((?:"(?:[^"\\]|\\.)*"\s*)+)\)'
DIAG = re.compile(r'\bDIAG\(\s*(\w+)\s*,\s*(\w+)\s*,\s*' + TEXT, re.S)
ALLOWABLE = re.compile(r'\bALLOWABLE\(\s*(\w+)\s*,\s*"([\w-]+)"\s*,\s*"(?:[^"\\]|\\.)*"\s*,\s*' + TEXT, re.S)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def fixed_pieces(text):
    """The pieces of the format between its arguments that are long enough to know it by; at least the longest."""
    pieces = [p.strip(" '\"") for p in re.split(r"\{\d\}", text)]
    longest = max(len(p) for p in pieces)
    return [p for p in pieces if len(p) >= min(24, longest)]


def main():
    tests = []
    for path in sorted((ROOT / "tests").rglob("*")):
        if path.is_file() and path.suffix in (".cpp", ".h", ".ir", ".json", ".test", ".xml", ".py", ".sh", ".cmake"):
            if path.stat().st_size < 1 << 20 and "tools" not in path.parts:
                tests.append(path.read_text(encoding="utf-8", errors="replace"))
    corpus = re.sub(r'"\s*\n\s*"', "", "\n".join(tests)).replace('\\"', '"')
    corpus = re.sub(r"\s+", " ", corpus)
    total = untested = 0
    rooms = ("backend-cuda", "backend-json", "compiler", "frontend", "ir", "passes")
    for definition in sorted(path for room in rooms for path in (ROOT / room).rglob("*.def")):
        table = definition.read_text(encoding="utf-8")
        for name, severity, literal in DIAG.findall(table) + ALLOWABLE.findall(table):
            text = "".join(STRING.findall(literal)).replace('\\"', '"')
            total += 1
            pieces = [re.sub(r"\s+", " ", p) for p in fixed_pieces(text)]
            # A test may quote the text in two parts; the first two thirds of a piece are enough.
            known = any(p[: max(12, len(p) * 2 // 3)] in corpus for p in pieces)
            if not known and not re.search(rf"\b{name}\b", corpus):
                print(f"{definition.relative_to(ROOT)}: {name} ({severity}) has no test: {text}")
                untested += 1
    print(f"{total} diagnostics, {untested} without a test")
    return 1 if untested or not total else 0


if __name__ == "__main__":
    sys.exit(main())

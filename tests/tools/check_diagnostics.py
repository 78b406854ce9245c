#!/usr/bin/env python3
"""Checks that every diagnostic has a test that names its text.

A diagnostic counts as tested when the longest run of fixed words in its format stands in a file under tests/.
Prints those that are not; exit 1 if there is one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIAG = re.compile(r'DIAG\(\s*(\w+)\s*,\s*(\w+)\s*,\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', re.S)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def fixed_words(text):
    """The longest piece of the format between its arguments."""
    pieces = re.split(r"\{\d\}", text)
    return max((p.strip(" '\"") for p in pieces), key=len)


def main():
    tests = []
    for path in sorted((ROOT / "tests").rglob("*")):
        if path.is_file() and path.suffix in (".cpp", ".h", ".ir", ".json", ".test", ".py", ".sh", ".cmake"):
            if path.stat().st_size < 1 << 20 and "tools" not in path.parts:
                tests.append(path.read_text(encoding="utf-8", errors="replace"))
    corpus = re.sub(r'"\s*\n\s*"', "", "\n".join(tests)).replace('\\"', '"')
    corpus = re.sub(r"\s+", " ", corpus)
    total = untested = 0
    for definition in sorted(ROOT.glob("*/*.def")):
        for name, severity, literal in DIAG.findall(definition.read_text(encoding="utf-8")):
            text = "".join(STRING.findall(literal)).replace('\\"', '"')
            total += 1
            words = re.sub(r"\s+", " ", fixed_words(text))
            # A test may quote the text in two pieces; half of the words at one place are enough.
            half = words[: max(12, len(words) * 2 // 3)]
            if words not in corpus and half not in corpus and not re.search(rf"\b{name}\b", corpus):
                print(f"{definition.relative_to(ROOT)}: {name} ({severity}) has no test: {text}")
                untested += 1
    print(f"{total} diagnostics, {untested} without a test")
    return 1 if untested or not total else 0


if __name__ == "__main__":
    sys.exit(main())

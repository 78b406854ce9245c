#!/usr/bin/env python3
"""Checks that every diagnostic has a test that names its text, and that every warning and error is explained.

usage: check_diagnostics.py [ROOT]

A diagnostic counts as tested when something that a test compares with has most of the fixed words of its format, in their
order, or its name. That is an expectation of verify_diagnostics.py, a line of FileCheck, what is looked for by grep, or a
string of a test in C++, Python or CMake. Comments and inputs do not count. Formats without fixed words are those of texts
that are made elsewhere. A warning or error is explained by a section of a page beside its `.def` file,
*diagnostics*.md: the heading is its name in kebab case, then follow the meaning, an indented example, and how to mend it.
Prints those that are not tested or not explained, and sections of no diagnostic; exit 1 if there is one.
"""
import pathlib
import re
import sys

ROOMS = ("backend-cuda", "backend-json", "compiler", "frontend", "ir", "passes")
TEXT = r'((?:"(?:[^"\\]|\\.)*"\s*)+)\)'
DIAG = re.compile(r"\bDIAG\(\s*(\w+)\s*,\s*(\w+)\s*,\s*" + TEXT, re.S)
ALLOWABLE = re.compile(r'\bALLOWABLE\(\s*(\w+)\s*,\s*"([\w-]+)"\s*,\s*"(?:[^"\\]|\\.)*"\s*,\s*' + TEXT, re.S)

STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
RAW_STRING = re.compile(r'R"(\w*)\((.*?)\)\1"', re.S)
COMMENT_OR_STRING = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.S)
PYTHON_COMMENT = re.compile(r'^\s*(?:#.*$|""".*?""")', re.M | re.S)
PYTHON_STRING = re.compile(r'"""(.*?)"""|"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'', re.S)
EXPECTATION = re.compile(r'[\w-]+-(?:error|warning|remark|note)(?:-re)?(?:@(?:"[^"]*"|\S+))?[ ]*(?:\d+\+?)?[ ]*\{\{(.*)\}\}')
CHECK = re.compile(r"^[\s/#*;!<-]*(?!RUN:|REQUIRES:|UNSUPPORTED:)[A-Z][A-Z0-9_-]*?(?<!-NOT)(?<!-EMPTY):(.*)$", re.M)
GREP = re.compile(r"\bgrep (?:-\w+ )*(?:\"([^\"]*)\"|'([^']*)')")

MOST_BYTES = 1 << 20
LEAST_WORDS, MOST_WORDS = 20, 40  # bytes of fixed words by which a diagnostic is known


def compared(path, text):
    """Returns the texts with which the test in the file compares."""
    if "lit" in path.parts:
        return EXPECTATION.findall(text) + CHECK.findall(text) + ["".join(words) for words in GREP.findall(text)]
    if path.suffix in (".cpp", ".h"):
        raw = [body for _, body in RAW_STRING.findall(text)]
        text = COMMENT_OR_STRING.sub(lambda match: match.group(1) or " ", RAW_STRING.sub('""', text))
        return raw + STRING.findall(re.sub(r'"\s*\n\s*"', "", text))
    if path.suffix == ".py":
        return ["".join(kinds) for kinds in PYTHON_STRING.findall(PYTHON_COMMENT.sub("", text))]
    if path.name == "CMakeLists.txt" or path.suffix == ".cmake":
        return STRING.findall(re.sub(r"^\s*#.*$", "", text, flags=re.M))
    return []


def plain(text):
    """Returns the text in the form that is read: without escapes, each gap as one blank."""
    return re.sub(r"\s+", " ", text.replace("\\n", " ").replace("\\", "")).strip()


def texts_of_tests(root):
    found = set()
    for path in sorted((root / "tests").rglob("*")):
        if path.is_file() and not {"tools", "bench"} & set(path.parts) and path.stat().st_size < MOST_BYTES:
            text = path.read_text(encoding="utf-8", errors="replace")
            found.update(map(plain, compared(path.relative_to(root), text)))
    return sorted(found)


def words_in(text, pieces):
    """Returns how many bytes of these pieces the text contains, one after the other. It may end within a piece."""
    at = found = 0
    for piece in pieces:
        place = text.find(piece, at)
        if place < 0:
            return found + max((n for n in range(4, len(piece)) if text.endswith(piece[:n])), default=0)
        at = place + len(piece)
        found += len(piece)
    return found


def is_tested(name, format_text, tests):
    pieces = [piece for piece in map(plain, re.split(r"\{\d\}", format_text)) if piece]
    words = sum(map(len, pieces))
    needed = min(words, max(LEAST_WORDS, min(MOST_WORDS, max(map(len, pieces), default=0) * 2 // 3)))
    by_name = re.compile(rf"(?<![\w-]){name}(?![\w-])")
    for text in tests:
        if name in text and by_name.search(text):
            return True
        for first, piece in enumerate(pieces):  # a test may leave out how the text begins
            if piece[:8] in text and words_in(text, pieces[first:]) >= needed:
                return True
    return needed == 0


def sections_beside(definition):
    """Returns the sections of the pages beside the .def file, by their headings."""
    found = {}
    for page in sorted(definition.parent.glob("*diagnostics*.md")):
        for section in page.read_text(encoding="utf-8").split("\n## ")[1:]:
            heading, _, body = section.partition("\n")
            found[heading] = body
    return found


def is_explained(body):
    """Returns whether a section has a meaning, an indented example, and text after it."""
    kinds = ["example" if part.startswith("    ") else "text" for part in body.strip("\n").split("\n\n") if part.strip()]
    return len(kinds) >= 3 and kinds[0] == "text" and "example" in kinds[1:-1] and kinds[-1] == "text"


def unexplained(definition, table):
    """Returns what is wrong with the explanations of a .def file, one line for each problem."""
    names = {name.replace("_", "-") for name, severity, _ in DIAG.findall(table) if severity != "Note"}
    names |= {name.replace("_", "-") for name, _, _ in ALLOWABLE.findall(table)}
    sections = sections_beside(definition)
    problems = [f"{name} has no explanation in a page beside it: meaning, indented example, how to mend it"
                for name in sorted(names) if not is_explained(sections.get(name, ""))]
    if names:
        problems += [f"the page beside it explains {name}, which is no diagnostic" for name in sorted(sections.keys() - names)]
    return problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    tests = texts_of_tests(root)
    total = untested = wrong = 0
    for definition in sorted(path for room in ROOMS for path in (root / room).rglob("*.def")):
        table = definition.read_text(encoding="utf-8")
        for name, severity, literal in DIAG.findall(table) + ALLOWABLE.findall(table):
            text = "".join(STRING.findall(literal)).replace('\\"', '"')
            total += 1
            if not is_tested(name, text, tests):
                print(f"{definition.relative_to(root)}: {name} ({severity}) has no test: {text}")
                untested += 1
        for problem in unexplained(definition, table):
            print(f"{definition.relative_to(root)}: {problem}")
            wrong += 1
    print(f"{total} diagnostics, {untested} without a test, {wrong} with a wrong explanation or none")
    return 1 if untested or wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main())

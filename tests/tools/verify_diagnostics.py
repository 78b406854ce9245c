#!/usr/bin/env python3
"""Runs mscclc on a file and compares what it reports with what comments of the file expect, as Clang's -verify does.

usage: verify_diagnostics.py --program=MSCCLC [--prefix=NAME] FILE [ARGUMENT...]

  // expected-error {{text}}            at this line
  // expected-error@+1:10 {{text}}      at the next line, column 10; @-2 and @7 are other lines, @:10 is this one
  // expected-error@+1:3|4 {{text}}     at one of two columns
  // expected-note@"rank 1" {{text}}    at a place in words, which the report begins with; "" is no place at all
  // expected-note@other.h:7:3 {{text}} in another file
  // expected-note@* {{text}}           at any place
  // expected-error-re@+1 {{a {{[0-9]+}} b}}   text with regular expressions in it
  // expected-note@+1 2 {{text}}        twice; 1+ is once or more, 0+ any number of times
  // expected-no-diagnostics            nothing is reported

A message begins with the text, or is all of it. --prefix=NAME takes NAME-error and so on instead of expected-error. The
arguments go to mscclc. The file's expectations decide how it must end: with 1 and no output where there is an error,
with 0 where there is none. Prints what is missing and what is not expected, with exit 1; exit 2 for wrong expectations.
"""
import os
import re
import subprocess
import sys
import tempfile

KINDS = ("error", "warning", "remark", "note")
EXPECTATION = re.compile(r"([\w-]+?)-(error|warning|remark|note)(-re)?(@(?:\"[^\"]*\"|\S+))?[ ]*(\d+\+?)?[ ]*\{\{(.*)\}\}[ ]*$")
PLACED = re.compile(rf"^(?P<file>[^\n]*?):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<kind>{'|'.join(KINDS)}): (?P<text>.*)$")
IN_WORDS = re.compile(rf"^(?:(?P<file>.*?): )?(?P<kind>{'|'.join(KINDS)}): (?P<text>.*)$")
CARET = re.compile(r"^\s*\^[~ ]*$")
OUTPUT_OPTIONS = ("-o", "--verify", "--run", "--diff", "--list")


class Malformed(Exception):
    """Raised for an expectation that is empty or cannot be read."""


class Expectation:
    def __init__(self, number, match):
        _, self.kind, regex, place, count, text = match.groups()
        self.number, self.seen = number, 0
        self.least = int(count.rstrip("+")) if count else 1
        self.most = float("inf") if count and count.endswith("+") else self.least
        self.text = text
        if not text:
            raise Malformed(f"line {number}: an expectation needs a text")
        parts = re.split(r"\{\{(.*?)\}\}", text) if regex else [text]
        self.pattern = re.compile("".join(f"(?:{p})" if i % 2 else re.escape(p) for i, p in enumerate(parts)))
        self.place = (place or "@")[1:]
        self.set_place()

    def set_place(self):
        """Sets file, line and columns; None means any. A file of "" is the one that is read."""
        self.words, self.file, self.line, self.columns = None, "", self.number, None
        if self.place.startswith('"'):
            self.words = self.place.strip('"')
            return
        if self.place == "*":
            self.file = self.line = None
            return
        match = re.fullmatch(r"(?:([^:]*[^:\d+-][^:]*):)?([+-]?\d+)?(?::([\d|]+))?", self.place)
        if not match:
            raise Malformed(f"line {self.number}: '@{self.place}' is no place")
        self.file = match.group(1) or ""
        if match.group(2):
            self.line = int(match.group(2)) + (self.number if match.group(2)[0] in "+-" else 0)
        if match.group(3):
            self.columns = [int(column) for column in match.group(3).split("|")]

    def fits(self, found, main_file):
        if found["kind"] != self.kind or not self.pattern.match(found["text"]) or self.seen >= self.most:
            return False
        if self.file is None:
            return True
        if self.words is not None:
            return found["line"] is None and found["file"] == self.words
        if found["line"] is None:
            return False
        same_file = found["file"] == main_file if not self.file else ("/" + found["file"]).endswith("/" + self.file)
        return same_file and found["line"] == self.line and (not self.columns or found["column"] in self.columns)

    def __str__(self):
        if self.words is not None:
            return f"{self.kind} at '{self.words}': {self.text}"
        if self.file is None:
            return f"{self.kind} anywhere: {self.text}"
        column = ":" + "|".join(map(str, self.columns)) if self.columns else ""
        return f"{self.kind} at {self.file + ':' if self.file else ''}{self.line}{column}: {self.text}"


def expectations(lines, prefix):
    """Returns what the comments expect. At least one comment must expect something, or state that nothing is expected.
    """
    found, nothing = [], False
    for number, line in enumerate(lines, 1):
        comment = re.search(rf"(?://|#|;)[ ]*({re.escape(prefix)}-(?:error|warning|remark|note|no-diagnostics).*)$", line)
        if not comment:
            continue
        if comment.group(1).rstrip() == prefix + "-no-diagnostics":
            nothing = True
            continue
        match = EXPECTATION.fullmatch(comment.group(1))
        if not match or match.group(1) != prefix:
            raise Malformed(f"line {number}: cannot read '{comment.group(1)}'")
        found.append(Expectation(number, match))
    if nothing == bool(found):
        raise Malformed(f"{prefix}-no-diagnostics among expectations" if nothing else f"no comment expects anything by '{prefix}-'")
    return found


def reported(text):
    """Returns the diagnostics in mscclc's output, and the lines that belong to none."""
    lines, found, others = text.splitlines(), [], []
    for number, line in enumerate(lines):
        if CARET.match(line) or number + 1 < len(lines) and CARET.match(lines[number + 1]):
            continue  # a line of the source, and the caret below it
        match = PLACED.match(line) or IN_WORDS.match(line)
        if match:
            item = {"column": None, "line": None, **match.groupdict()}
            item["line"] = int(item["line"]) if item["line"] else None
            item["column"] = int(item["column"]) if item["column"] else 0
            item["file"] = item["file"] or ""
            item["shown"] = line
            found.append(item)
        elif not re.match(r"\d+ (error|warning)s?\b.* generated", line) and line.strip():
            others.append(line)
    return found, others


def run(program, path, arguments):
    """Runs mscclc. Returns its exit code, what it reported, and whether it wrote its output."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out")
        own = not any(a.split("=")[0] in OUTPUT_OPTIONS for a in arguments)
        at = arguments.index("--") if "--" in arguments else len(arguments)
        command = [program, path, *arguments[:at], *(["-o", output] if own else []), *arguments[at:]]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        written = os.path.exists(output) if own else None
        return done.returncode, done.stderr.decode("utf-8", "replace"), written


def compare(path, prefix, program, arguments):
    """Returns what is wrong, one line for each problem, and what mscclc reported."""
    with open(path, encoding="utf-8", errors="replace") as file:
        expected = expectations(file.read().splitlines(), prefix)
    code, text, written = run(program, path, arguments)
    found, others = reported(text)
    problems = []
    for item in found:
        # One of which more are needed comes first, then the nearest to what is read first.
        fitting = sorted((e for e in expected if e.fits(item, path)), key=lambda e: e.seen >= e.least)
        if fitting:
            fitting[0].seen += 1
        else:
            problems.append(f"not expected: {item['shown']}")
    problems += [f"expected by line {e.number}, and not reported{' so often' if e.seen else ''}: {e}"
                 for e in expected if e.seen < e.least]
    errors = any(e.kind == "error" and e.least for e in expected)
    if code != int(errors):
        problems.append(f"mscclc ended with {code}, not {int(errors)}")
    if written is not None and written == errors:
        problems.append("there is an output in spite of errors" if written else "there is no output")
    return problems + ([f"also printed: {line}" for line in others] if problems else []), text


def main():
    options = {"--program": None, "--prefix": "expected"}
    arguments = sys.argv[1:]
    while arguments and arguments[0].split("=")[0] in options:
        name, _, value = arguments.pop(0).partition("=")
        options[name] = value
    if not arguments or not options["--program"]:
        print(__doc__)
        return 2
    path = arguments[0]
    try:
        problems, _ = compare(path, options["--prefix"], options["--program"], arguments[1:])
    except (Malformed, OSError) as error:
        print(f"{path}: {error}")
        return 2
    for problem in problems:
        print(f"{path}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

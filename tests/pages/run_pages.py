#!/usr/bin/env python3
"""Runs the commands and the code of pages, as a reader would.

usage: run_pages.py --mscclc PROGRAM [--prefix BUILD] [--root FOLDER] [--update] PAGE...

Each page runs in a copy of its folder, where the rest of the checkout is reached by links. Its blocks run in turn:

- `console`: lines that begin with `$ ` are commands (a `\\` at the end continues one), and below each stands what it
  prints. `…` is any text, and a line of it any lines. A command may fail if what it prints has `error:`, `exit code` or
  `differ` in it. --update writes anew what is printed.
- `sh`: commands of which each must succeed.
- `cpp`: an algorithm, which must be proven. `python`: a script, which must succeed. `json`, `xml`: must be read.
- `text`, `md`: no code.

A comment before a block says more, several of them on lines of their own:

    <!-- file: NAME -->        the block is this file. If the checkout has it, it has the block's lines.
    <!-- run: COMMAND -->      runs before the block, unseen by the reader
    <!-- needs: NAME, … -->    runs only where these are; else "[SKIP]" says so. NEEDS has the names
    <!-- within: TEXT -->      the block stands in an algorithm, after this text
    <!-- tested by: FILE -->   this test takes the block from the page, and runs it
    <!-- not run: REASON -->   for what only a user can run; is listed as "[SKIP]"

With `<!-- spans: COMMAND -->` at the top of a page, this runs, and then each command in the page's tables: text in
backquotes that begins with `mscclc `, without placeholders in capitals. Options in backquotes must be in `mscclc --help` on every page.

Exit code 1 if something differs, with the place.
"""
import argparse
import dataclasses
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMENT = re.compile(r"^<!-- (file|run|needs|within|tested by|not run|spans): (.*?) -->$")
LANGUAGES = {"console", "sh", "cpp", "python", "json", "xml", "cmake", "text", "md", "yaml", "dockerfile"}
SECONDS = 300


def module(name):
    """Returns a function that says whether Python has a module."""
    return lambda: subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True, check=False).returncode == 0


def program(name):
    """Returns a function that says whether there is a program."""
    return lambda: shutil.which(name) is not None


OF_NVCC = {"--use_fast_math"}

# What a block may need, and how it is looked for.
NEEDS = {
    "bash": program("bash"),
    "nvcc": program("nvcc"),
    "mpirun": program("mpirun"),
    "a GPU": lambda: pathlib.Path("/dev/nvidia0").exists(),
    "two GPUs": lambda: pathlib.Path("/dev/nvidia1").exists(),
    "numpy": module("numpy"),
    "torch": module("torch"),
    "cupy": module("cupy"),
    "mpi4py": module("mpi4py"),
    "mscclpp": module("mscclpp"),
    "the Python DSL": module("mscclpp.language.program"),
    "the runtime": lambda: False,  # main() asks the build folder
}


@dataclasses.dataclass
class Block:
    """A fenced block: its language, its lines, the line number of its fence, and the comments before it."""
    language: str
    lines: list
    at: int
    comments: list


def blocks_of(lines):
    """Yields the blocks of a page."""
    comments, fence = [], None
    for number, line in enumerate(lines, 1):
        if fence is None and line.startswith("```"):
            fence, body = number, []
            language = line[3:].strip()
        elif fence is not None and line == "```":
            yield Block(language, body, fence, comments)
            comments, fence = [], None
        elif fence is not None:
            body.append(line)
        elif found := COMMENT.match(line):
            comments.append(found.groups())
        elif line.strip():
            comments = []


def matches(shown, printed):
    """Returns whether the text of a page is what was printed, where `…` is any text."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "…" else ".*".join(map(re.escape, line.split("…"))) + "\n" for line in shown)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def may_fail(shown):
    return any(word in line for line in shown for word in ("error:", "exit code", "differ"))


def install(options, prefix):
    """Links what is built to where an installation has it. Returns the folder for pkg-config."""
    folder = prefix / "lib/pkgconfig"
    folder.mkdir(parents=True)
    (prefix / "include").symlink_to(ROOT / "runtime-min/include")
    for library in options.prefix.glob("runtime-min/libmscclc_runtime.so*"):
        (prefix / "lib" / library.name).symlink_to(library)
    if (file := options.prefix / "runtime-min/mscclc.pc").is_file():
        shutil.copy(file, folder)
    return folder


class Page:
    """A page that runs in `folder`, a copy of its own."""

    def __init__(self, path, options, scratch):
        self.path, self.options = path, options
        self.name = path.relative_to(options.root)
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.problems, self.skipped, self.ran = [], [], 0
        self.folder = self.link(scratch)
        self.environment = {
            **os.environ,
            "PATH": f"{scratch}/bin:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT / "runtime-min/python"), os.environ.get("PYTHONPATH")])),
            "MSCCLC_CACHE": f"{scratch}/cache",
            "MSCCLC": str(options.mscclc),
            "LC_ALL": "C.UTF-8",
        }
        if options.prefix:
            self.environment["MSCCLC_PREFIX"] = str(options.prefix)
            self.environment["PKG_CONFIG_PATH"] = str(install(options, scratch / "prefix"))
            self.environment["LD_LIBRARY_PATH"] = f"{scratch}/prefix/lib"

    def link(self, scratch):
        """Links the checkout into `scratch`, and returns the folder there of the page, with links to its files."""
        here, there = self.options.root, scratch / "checkout"
        for part in [*self.name.parent.parts, None]:
            there.mkdir(parents=True)
            for entry in here.iterdir():
                if entry.name != part and not entry.name.startswith((".git", "build")):
                    (there / entry.name).symlink_to(entry)
            if part:
                here, there = here / part, there / part
        programs = scratch / "bin"
        programs.mkdir()
        (programs / "mscclc").symlink_to(self.options.mscclc)
        for python in ("python", "python3"):
            (programs / python).symlink_to(sys.executable)
        scripts = scratch / "checkout/scripts"
        if scripts.is_symlink():  # builds nothing: the program is built
            scripts.unlink()
            scripts.mkdir()
            (scripts / "mscclc").symlink_to(self.options.mscclc)
            (scripts / "compiler-explorer").symlink_to(self.options.root / "scripts/compiler-explorer")
        return there

    def problem(self, at, text):
        self.problems.append(f"{self.name}:{at}: {text}")

    def run(self, command):
        """Returns the exit code and the lines that a command prints."""
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False)
        self.ran += 1
        return done.returncode, [line.rstrip() for line in done.stdout.splitlines()]

    def must(self, at, command):
        code, printed = self.run(command)
        if code:
            self.problem(at, f"exit code {code} of {command}\n  " + "\n  ".join(printed[:20]))
        return printed

    def console(self, block):
        """Runs the commands of a block, and returns its lines with what they print now."""
        now, lines = [], block.lines
        if not lines or not lines[0].startswith("$ "):
            self.problem(block.at, "a console block begins with `$ ` and a command")
        at = 0
        while at < len(lines):
            begin = at
            while at + 1 < len(lines) and lines[at].endswith("\\"):
                at += 1
            at += 1
            end = at
            while end < len(lines) and not lines[end].startswith("$ "):
                end += 1
            shown = [line.rstrip() for line in lines[at:end]]
            code, printed = self.run("\n".join(lines[begin:at])[2:])
            if code and not may_fail(printed):
                printed.append(f"exit code {code}")
            if not matches(shown, printed):
                if not self.options.update:
                    self.problem(block.at + 1 + begin, "another text is printed:\n  " + "\n  ".join(printed))
                shown = printed
            now += lines[begin:at] + shown
            at = end
        return now

    def source(self, block, comments):
        """Proves an algorithm, or compiles a part of one."""
        text = "\n".join(block.lines) + "\n"
        within = comments.get("within")
        if within is not None:
            text = f"#include <mscclc/chunks.hpp>\nusing namespace mscclc;\n{within}\n{text}"
            text += "}" * (within.count("{") - within.count("}"))
        path = self.folder / (comments.get("file") or f"block{block.at}.cpp")
        if not path.exists():
            path.write_text(text, encoding="utf-8")
        what = "--emit-ir --passes=none" if within is not None else "--verify"
        if path.suffix == ".cpp" and "MSCCLC_ALGORITHM" in text:
            self.must(block.at, f"mscclc {path.name} -q {what}")

    def block(self, block):
        """Runs a block. Returns its lines as they should be."""
        comments = dict(block.comments)
        if block.language not in LANGUAGES and "tested by" not in comments:
            self.problem(block.at, f"'{block.language}' is none of {', '.join(sorted(LANGUAGES))}")
        if "not run" in comments:
            self.skipped.append(f"{self.name}:{block.at}: {comments['not run']}")
            return block.lines
        if "tested by" in comments:
            test = self.options.root / comments["tested by"]
            if not test.is_file():
                self.problem(block.at, f"there is no {comments['tested by']}")
            return block.lines
        needs = [name.strip() for name in comments.get("needs", "").split(",") if name.strip()]
        for name in [name for name in needs if name not in NEEDS]:
            self.problem(block.at, f"nobody looks for {name}")
        missing = [name for name in needs if name in NEEDS and not self.options.present(name)]
        if missing:
            self.skipped.append(f"{self.name}:{block.at}: needs {', '.join(missing)}")
            return block.lines
        for kind, command in block.comments:
            if kind == "run":
                self.must(block.at, command)
        text = "\n".join(block.lines) + "\n"
        if "file" in comments:
            path = self.folder / comments["file"]
            if path.resolve().is_relative_to(self.options.root.resolve()):
                if text not in path.read_text(encoding="utf-8"):
                    self.problem(block.at, f"{comments['file']} does not have these lines")
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        if block.language == "console":
            return self.console(block)
        if block.language == "sh":
            self.must(block.at, f"set -e\n{text}")
        if block.language == "cpp":
            self.source(block, comments)
        if block.language == "python" and "file" not in comments:
            (self.folder / "block.py").write_text(text, encoding="utf-8")
            self.must(block.at, "python block.py")
        if block.language == "json" and "file" not in comments:
            (self.folder / "block.json").write_text(text, encoding="utf-8")
            self.must(block.at, "python -m json.tool block.json")
        return block.lines

    def spans(self, setup):
        """Runs the commands of tables, each on the files that `setup` made."""
        self.must(1, setup)
        made = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink()}
        fenced = False
        for number, line in enumerate(self.lines, 1):
            fenced ^= line.startswith("```")
            for span in re.findall(r"`(mscclc [^`]+)`", line) if line.startswith("|") and not fenced else []:
                if not re.search(r"\b[A-Z]{2,}\b", span.replace("MSCCLC_", "")):
                    for path, content in made.items():
                        path.write_bytes(content)
                    self.must(number, span)

    def check_options(self):
        """Options of mscclc that a page names must exist."""
        fenced = False
        for number, line in enumerate(self.lines, 1):
            fenced ^= line.startswith("```")
            spans = [line] if fenced and re.match(r"(\$ )?mscclc ", line) else []
            spans += [] if fenced else [span for span in re.findall(r"`([^`]+)`", line) if re.match(r"mscclc |--[a-z]", span)]
            for span in spans:
                for name in re.findall(r"(?<![\w-])--[a-z][\w-]*", span.split(" -- ")[0]):
                    if name not in self.options.known:
                        self.problem(number, f"there is no option {name}")

    def check(self):
        """Runs the page. With --update, writes anew what its commands print."""
        for line in self.lines:
            if (found := COMMENT.match(line)) and found[1] == "spans":
                self.spans(found[2])
        renewed = [(block, self.block(block)) for block in blocks_of(self.lines)]
        self.check_options()
        for block, lines in reversed(renewed):
            self.lines[block.at:block.at + len(block.lines)] = lines
        if self.options.update:
            self.path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")


def known_options(mscclc, root):
    """Returns the options of mscclc, and those of the programs beside it, by their sources."""
    text = subprocess.run([mscclc, "--help"], capture_output=True, text=True, check=True).stdout
    for pattern in ("runtime-min/python/mscclc/*.py", "runtime-min/mscclc-perf/*.cpp", "scripts/*", "tests/*/*.py", "tests/*/run",
                    "tests/tools/*", "compiler/init.cpp"):
        text += "".join(path.read_text(encoding="utf-8") for path in root.glob(pattern) if path.is_file())
    return OF_NVCC | set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mscclc", type=pathlib.Path, required=True, help="the program")
    parser.add_argument("--prefix", type=pathlib.Path, help="the build folder, for the Python package")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the checkout, or a copy")
    parser.add_argument("--update", action="store_true", help="write anew what commands print")
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    options.mscclc, options.root = options.mscclc.resolve(), options.root.resolve()
    options.known = known_options(options.mscclc, options.root)
    if options.prefix:
        options.prefix = options.prefix.resolve()
        NEEDS["the runtime"] = lambda: shutil.which("pkg-config") and any(options.prefix.glob("runtime-min/libmscclc_runtime.so*"))
    options.present = functools.cache(lambda name: NEEDS[name]())
    bad = 0
    for path in options.pages:
        with tempfile.TemporaryDirectory() as scratch:
            page = Page(path.resolve(), options, pathlib.Path(scratch))
            page.check()
        for line in page.problems:
            print(line)
        for line in page.skipped:
            print(f"[SKIP] {line}")
        print(f"{page.name}: {page.ran} commands, {len(page.skipped)} skipped, {len(page.problems)} findings")
        bad += len(page.problems)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

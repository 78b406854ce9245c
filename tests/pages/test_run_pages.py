#!/usr/bin/env python3
"""Tests run_pages.py: pages of a few lines, and a program `mscclc` that prints its arguments.
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).with_name("run_pages.py")
PROGRAM = """#!/bin/sh
case "$*" in
  --help) echo "  --verify"; echo "  --size" ;;
  *bad*) echo "mscclc: error: bad"; exit 1 ;;
  *) echo "ran $*"; echo "in 7 us" ;;
esac
"""


class RunPages(unittest.TestCase):
    def run_page(self, text, *options):
        """Returns the exit code, what is printed without the last line, and the page afterwards."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder, "checkout")
            (root / "room").mkdir(parents=True)
            (root / "room/there.cpp").write_text("int a;\nint b;\n")
            page = root / "room/page.md"
            page.write_text(text)
            program = pathlib.Path(folder, "mscclc")
            program.write_text(PROGRAM)
            program.chmod(0o755)
            run = subprocess.run([sys.executable, RUN, "--mscclc", program, "--root", root, *options, page], capture_output=True,
                                 text=True, check=False)
            return run.returncode, run.stdout + run.stderr, page.read_text()

    def accepts(self, text):
        code, said, _ = self.run_page(text)
        self.assertEqual(code, 0, said)
        return said

    def refuses(self, text, expected):
        code, said, _ = self.run_page(text)
        self.assertEqual(code, 1, said)
        self.assertIn(expected, said)

    def test_console(self):
        self.accepts("```console\n$ mscclc a \\\n  b\nran a b\nin … us\n$ mscclc c\n…\n```\n")
        self.refuses("text\n```console\n$ mscclc a\nran b\nin 7 us\n```\n", "room/page.md:3: another text is printed:\n  ran a\n")
        self.refuses("```console\nmscclc a\n```\n", "page.md:1: a console block begins with")
        self.accepts("```console\n$ mscclc bad\nmscclc: error: bad\n```\n")
        self.refuses("```console\n$ (exit 3)\n```\n", "exit code 3")

    def test_update(self):
        page = "```console\n$ mscclc a\nold\n$ mscclc b\n…\n```\n\n```console\n$ mscclc c\n```\n"
        code, _, written = self.run_page(page, "--update")
        self.assertEqual(code, 0)
        self.assertEqual(written, "```console\n$ mscclc a\nran a\nin 7 us\n$ mscclc b\n…\n```\n\n```console\n$ mscclc c\nran c\nin 7 us\n```\n")

    def test_scripts(self):
        self.accepts("```sh\nmscclc a\ntest -f there.cpp\n```\n")
        self.refuses("```sh\nfalse\ntrue\n```\n", "page.md:1: exit code 1")
        self.accepts("<!-- run: echo 1 > one -->\n```sh\ntest -f one\n```\n")
        self.accepts("```python\nassert 1 + 1 == 2\n```\n")
        self.refuses("```python\nassert 1 + 1 == 3\n```\n", "AssertionError")
        self.refuses("```\nmscclc a\n```\n", "page.md:1: '' is none of")

    def test_sources(self):
        self.accepts("<!-- file: there.cpp -->\n```cpp\nint b;\n```\n")
        self.refuses("<!-- file: there.cpp -->\n```cpp\nint c;\n```\n", "page.md:2: there.cpp does not have these lines")
        self.accepts("<!-- file: new.txt -->\n```text\na\n```\n```console\n$ cat new.txt\na\n```\n")
        self.refuses("```cpp\nMSCCLC_ALGORITHM void bad() {}\n// bad\n```\n```console\n$ mscclc bad\n```\n", "another text")

    def test_needs(self):
        self.assertIn("[SKIP] room/page.md:2: takes a day", self.accepts("<!-- not run: takes a day -->\n```sh\nfalse\n```\n"))
        self.refuses("<!-- needs: luck -->\n```sh\nfalse\n```\n", "nobody looks for luck")
        self.accepts("<!-- tested by: room/there.cpp -->\n```sh\nfalse\n```\n")
        self.refuses("<!-- tested by: room/gone.cpp -->\n```sh\nfalse\n```\n", "there is no room/gone.cpp")

    def test_tables_and_options(self):
        self.accepts("<!-- spans: touch x -->\n| a | `mscclc x --verify` |\n| b | `mscclc NAME` |\n\n`mscclc bad`\n")
        self.refuses("<!-- spans: touch x -->\n| a | `mscclc bad` |\n", "page.md:2: exit code 1")
        self.refuses("`mscclc x --verfy`\n", "page.md:1: there is no option --verfy")
        self.accepts("`mscclc x --verify -- --anything`, `--size`\n")


if __name__ == "__main__":
    unittest.main()

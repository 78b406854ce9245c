#!/usr/bin/env python3
"""Tests check_dialect_page.py: a copy of the page and its tables, with one thing changed."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK = pathlib.Path(__file__).with_name("check_dialect_page.py")
PAGE, DIAGNOSTICS = "frontend/dsl/README.md", "frontend/diagnostics.def"
RULES, ALLOWED = "frontend/clang/dialect_rules.def", "frontend/eval/allowed_symbols.def"
REFERENCE, FROM_PYTHON = "frontend/dsl/reference.md", "frontend/dsl/from-python.md"
COLLECTIVES, CLASSES = "runtime-min/include/mscclc/collectives.def", "frontend/dsl/include/mscclc/program.hpp"


class CheckDialectPage(unittest.TestCase):
    def check(self, file, old, new, *options):
        """Returns exit code and output of the check after replacing `old` by `new` in `file`, and the page afterwards.
        """
        with tempfile.TemporaryDirectory() as folder:
            headers = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / CLASSES).parent.glob("*.hpp"))]
            for name in (PAGE, REFERENCE, FROM_PYTHON, DIAGNOSTICS, RULES, ALLOWED, COLLECTIVES, *headers):
                to = pathlib.Path(folder, name)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, to)
            changed = pathlib.Path(folder, file)
            text = changed.read_text(encoding="utf-8")
            self.assertIn(old, text)
            changed.write_text(text.replace(old, new, 1), encoding="utf-8")
            run = subprocess.run([sys.executable, CHECK, *options, folder], capture_output=True, text=True, check=False)
            return run.returncode, run.stdout, pathlib.Path(folder, PAGE).read_text(encoding="utf-8")

    def refuses(self, file, old, new, said, page=PAGE):
        code, output, _ = self.check(file, old, new)
        self.assertEqual(code, 1, output)
        self.assertIn(f"{page}: {said}", output)

    def test_the_page_as_it_is(self):
        code, output, _ = self.check(PAGE, "# The language", "# The language")
        self.assertEqual(code, 0, output)

    def test_a_new_diagnostic(self):
        self.refuses(DIAGNOSTICS, "DIAG(refused_goto,", 'DIAG(refused_new_thing, Error, "no: use another")\nDIAG(refused_goto,',
                     "refused_new_thing has 0 rows, not 1: no: use another")

    def test_a_diagnostic_that_is_gone(self):
        self.refuses(DIAGNOSTICS, "DIAG(refused_goto,", "DIAG(refused_jump,", "the page has a row for refused_goto")

    def test_another_advice(self):
        self.refuses(DIAGNOSTICS, "goto is not part of the language: use a loop", "goto is not part of the language: use a while",
                     "refused_goto: the error says 'use a while, or return from a function', the page 'use a loop,")

    def test_another_message(self):
        self.refuses(DIAGNOSTICS, "a call through a null pointer", "a call through nothing",
                     "null_call: the error is 'a call through nothing', the page shows 'a call through a null pointer'")

    def test_a_row_twice(self):
        row = "| an assumption does not hold | again | `false_assumption` |\n"
        self.refuses(PAGE, "| an assumption", row + "| an assumption", "false_assumption has 2 rows, not 1")

    def test_lists(self):
        self.refuses(RULES, '"print", ', "", "a list is old")
        self.refuses(ALLOWED, '"memcmp"', '"memcmp", "memmem"', "a list is old")
        self.refuses(PAGE, "`alias`, ", "", "a list has what is gone")
        self.refuses(PAGE, "<!-- list: Attribute -->", "", "the page has the lists")

    def test_collectives(self):
        self.refuses(COLLECTIVES, 'COLLECTIVE(SendRecv, "sendrecv", Share', 'COLLECTIVE(SendRecv, "sendrecv", Whole', "a list is old")
        self.refuses(CLASSES, "/// Every rank gets the input of the root:", "/// All get the input of the root:", "a list is old")
        self.refuses(PAGE, "| `AllGather(ranks, chunkFactor,", "| `AllGather(ranks,", "a list has what is gone")

    def test_headers(self):
        types, rank, chunks = (f"frontend/dsl/include/mscclc/{name}.hpp" for name in ("types", "rank", "chunks"))
        for file, old, new, line, page in (
            (types, "fuse = true", "fuse = false", "| `.fuse` | bool | `false` | Fuse adjacent", REFERENCE),
            (types, "  bool fuse = true;", "  bool fuse = true;\n  /// New.\n  Sync added = Sync::None;",
             "| `.added` | Sync | `Sync::None` | New. |", REFERENCE),
            (types, "{ Sum, Min, Max, Prod }", "{ Sum, Min }", "| `ReduceOp` | `Sum`, `Min` |", REFERENCE),
            (rank, "void copy(const Chunk &dst, const Chunk &src, On on,", "void copy(const Chunk &dst, On on,",
             "| `.copy(Chunk dst, On on)` | Copies `src` to `dst`. |", REFERENCE),
            (rank, "Python: copy_packets.", "Python: pack.", "| `pack` | `Rank::copyPackets(", FROM_PYTHON),
            (chunks, "/// flush(dst, buffer", "/// drain(dst, buffer", "| `drain(dst, buffer", FROM_PYTHON),
        ):
            with self.subTest(new=new):
                self.refuses(file, old, new, f"a list is old (--update writes it anew): {line}", page)

    def test_update(self):
        code, _, page = self.check(RULES, '"naked"', '"bare"', "--update")
        self.assertEqual(code, 0)
        self.assertIn("| `bare`, `interrupt` | write the function in C++ |", page)


if __name__ == "__main__":
    unittest.main()

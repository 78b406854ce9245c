#!/usr/bin/env python3
"""Tests check_diagnostics.py: small trees with one diagnostic, and files that test it or do not."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("check_diagnostics.py")
EXPLAINED = "# Page\n\n## chunk-lost\n\nA chunk is lost.\n\n    copy(a, b)\n\nKeep it.\n"
DIAGNOSTIC = 'DIAG(chunk_lost, Error, "chunk {0} of rank {1} is lost: keep it in scratch")\n'


class CheckDiagnostics(unittest.TestCase):
    def lines_of(self, name, text, diagnostic, page):
        """Returns what the check prints of a diagnostic, its page, and a file of this name under tests/."""
        with tempfile.TemporaryDirectory() as root:
            for path, content in (("ir/diagnostics.def", diagnostic), ("ir/diagnostics.md", page), ("tests/" + name, text)):
                path = pathlib.Path(root, path)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
            run = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True, check=False)
        lines = run.stdout.splitlines()
        self.assertEqual(run.returncode, int(len(lines) > 1))
        return lines

    def is_tested(self, name, text, diagnostic=DIAGNOSTIC):
        """Returns whether a file of this name under tests/ tests the diagnostic."""
        page = EXPLAINED.replace("chunk-lost", re.search(r"\((\w+)", diagnostic)[1].replace("_", "-"))
        lines = self.lines_of(name, text, diagnostic, page)
        self.assertIn(f"1 diagnostics, {len(lines) - 1} without a test, 0 ", lines[-1])
        return len(lines) == 1

    def is_explained(self, page, diagnostic=DIAGNOSTIC):
        """Returns whether the page explains the diagnostic, and nothing else."""
        lines = self.lines_of("lit/a.test", "CHECK: chunk {{[0-9]+}} of rank 1 is lost: keep it in\n", diagnostic, page)
        return len(lines) == 1

    def test_explanation(self):
        self.assertTrue(self.is_explained(EXPLAINED))
        self.assertFalse(self.is_explained(""))
        self.assertFalse(self.is_explained(EXPLAINED.replace("chunk-lost", "chunk-found")))
        self.assertFalse(self.is_explained(EXPLAINED + "\n## chunk-found\n\nOther.\n\n    x\n\nNo.\n"))
        self.assertFalse(self.is_explained(EXPLAINED.replace("    copy(a, b)\n\n", "")))
        self.assertFalse(self.is_explained(EXPLAINED.replace("\nKeep it.\n", "")))

    def test_notes_are_not_explained(self):
        note = DIAGNOSTIC.replace("Error", "Note")
        self.assertTrue(self.is_explained("", note))

    def test_expectation(self):
        self.assertTrue(self.is_tested("lit/a.ir", "// expected-error@+1:3 {{chunk 2 of rank 1 is lost: keep it}}\n"))
        self.assertTrue(self.is_tested("lit/a.ir", '// expected-error@"rank 1" 2 {{chunk 2 of rank 1 is lost: keep it}}\n'))

    def test_line_of_filecheck(self):
        self.assertTrue(self.is_tested("lit/a.test", "CHECK: error: chunk {{[0-9]+}} of rank 1 is lost: keep it in\n"))
        self.assertTrue(self.is_tested("lit/a.ir", "// LOST-NEXT: of rank 1 is lost: keep it in\n"))

    def test_what_is_not_there(self):
        self.assertFalse(self.is_tested("lit/a.test", "CHECK-NOT: chunk 2 of rank 1 is lost: keep it in scratch\n"))

    def test_grep(self):
        self.assertTrue(self.is_tested("lit/a.test", "RUN: mscclc %s 2>&1 | grep -c 'of rank 1 is lost: keep it in scratch'\n"))

    def test_comment(self):
        self.assertFalse(self.is_tested("lit/a.ir", "// chunk 2 of rank 1 is lost: keep it in scratch (chunk_lost)\n"))
        self.assertFalse(self.is_tested("unit/ir/a_test.cpp", "// chunk_lost: chunk 2 of rank 1 is lost: keep it in scratch\n"))
        self.assertFalse(self.is_tested("python/test_a.py", "# chunk 2 of rank 1 is lost: keep it in scratch\n"))

    def test_string(self):
        self.assertTrue(self.is_tested("unit/ir/a_test.cpp", 'CHECK(said() == "chunk 2 of rank 1 is "\n  "lost: keep it in");\n'))
        self.assertTrue(self.is_tested("unit/ir/a_test.cpp", 'CHECK(said() == "4 chunk_lost");\n'))
        self.assertTrue(self.is_tested("python/test_a.py", "assert 'rank 1 is lost: keep it in scratch' in said\n"))

    def test_few_words(self):
        self.assertFalse(self.is_tested("lit/a.test", "CHECK: is lost: k\n"))
        self.assertFalse(self.is_tested("lit/a.test", "CHECK: of rank 1\n"))
        self.assertFalse(self.is_tested("lit/a.test", "CHECK: it takes 3\n", 'DIAG(a, Error, "it takes {0}, not {1}")\n'))


if __name__ == "__main__":
    unittest.main()

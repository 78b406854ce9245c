#!/usr/bin/env python3
"""Tests reduce: texts whose smallest interesting form is known."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

REDUCE = pathlib.Path(__file__).with_name("reduce")

PROGRAM = """program {
  rank 0 {
    block 0 {
      put a
      signal b
    }
    block 1 {
      wait c
    }
  }
  rank 1 {
    block 0 {
      wait b
    }
  }
}
"""


class Reduce(unittest.TestCase):
    def reduce(self, text, *command):
        """Returns exit code, output, and the smaller text (None if none was written)."""
        with tempfile.TemporaryDirectory() as folder:
            given, small = pathlib.Path(folder, "given.ir"), pathlib.Path(folder, "small.ir")
            given.write_text(text, encoding="utf-8")
            run = subprocess.run([sys.executable, REDUCE, given, "-o", small, "--timeout", "5", "--", *command],
                                 capture_output=True, text=True, check=False)
            return run.returncode, run.stdout + run.stderr, small.read_text(encoding="utf-8") if small.exists() else None

    def test_keeps_a_line_and_the_blocks_around_it(self):
        code, said, small = self.reduce(PROGRAM, "sh", "-c", 'grep -q "signal b" "$1" && grep -q "rank 0" "$1"', "sh")
        self.assertEqual(code, 0)
        self.assertEqual(small, "program {\n  rank 0 {\n    block 0 {\n      signal b\n    }\n  }\n}\n")
        self.assertIn("16 lines became 7", said)

    def test_drops_blocks_that_only_go_together(self):
        # Interesting only with both ranks or with none.
        script = '[ "$(grep -c rank "$1")" != 1 ] && grep -q program "$1"'
        self.assertEqual(self.reduce(PROGRAM, "sh", "-c", script, "sh")[2], "program {\n}\n")

    def test_refuses_what_is_not_interesting_to_begin_with(self):
        code, said, small = self.reduce(PROGRAM, "grep", "-q", "flush")
        self.assertEqual((code, small), (1, None))
        self.assertIn("does not find", said)

    def test_a_candidate_that_hangs_is_not_interesting(self):
        with tempfile.TemporaryDirectory() as folder:
            given, small = pathlib.Path(folder, "given.ir"), pathlib.Path(folder, "small.ir")
            given.write_text("a\nb\n", encoding="utf-8")
            script = 'grep -q b "$1" || sleep 20'
            subprocess.run([sys.executable, REDUCE, given, "-o", small, "--timeout", "0.3", "--", "sh", "-c", script, "sh"],
                           check=True, capture_output=True)
            self.assertEqual(small.read_text(encoding="utf-8"), "b\n")


if __name__ == "__main__":
    unittest.main()

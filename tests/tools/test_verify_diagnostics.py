#!/usr/bin/env python3
"""Tests verify_diagnostics.py: what a stand-in for mscclc reports, and what a file expects of it."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).with_name("verify_diagnostics.py")
STAND_IN = """#!{python}
import sys
open("arguments", "w").write(" ".join(sys.argv[1:]))
sys.stderr.write({report!r}.replace("FILE", sys.argv[1]))
if {writes} and "-o" in sys.argv:
    open(sys.argv[sys.argv.index("-o") + 1], "w").write("output")
sys.exit({code})
"""
ERROR = "FILE:2:7: error: bad thing\n  bad(\n      ^\n1 error generated.\n"


class VerifyDiagnostics(unittest.TestCase):
    def verify(self, source, report, code=1, writes=False, arguments=(), prefix=None):
        """Returns exit code and output of the tool for a program that prints `report` and ends with `code`."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "mscclc")
            program.write_text(STAND_IN.format(python=sys.executable, report=report, writes=writes, code=code))
            program.chmod(0o755)
            path = pathlib.Path(folder, "a.cpp")
            path.write_text(source)
            run = subprocess.run([sys.executable, TOOL, f"--program={program}", *([f"--prefix={prefix}"] if prefix else []),
                                  path, *arguments], cwd=folder, capture_output=True, text=True, check=False)
            given = pathlib.Path(folder, "arguments")
            self.arguments = given.read_text().split() if given.exists() else None
            return run.returncode, run.stdout.replace(str(path), "a.cpp")

    def accepts(self, source, report, **more):
        self.assertEqual(self.verify(source, report, **more), (0, ""))

    def refuses(self, source, report, *said, **more):
        code, output = self.verify(source, report, **more)
        self.assertEqual(code, 1, output)
        for words in said:
            self.assertIn("a.cpp: " + words, output)

    def malformed(self, source, said, **more):
        code, output = self.verify(source, ERROR, **more)
        self.assertEqual((code, output), (2, f"a.cpp: {said}\n"))
        self.assertIsNone(self.arguments, "mscclc is not run for a file that expects nothing")

    def test_places(self):
        for place in ("@+1", "@+1:7", "@2", "@2:7", "@2:3|7", "@*"):
            self.accepts(f"// expected-error{place} {{{{bad thing}}}}\n", ERROR)
        self.accepts("\nbad( // expected-error {{bad thing}}\n", ERROR)
        self.accepts("\nbad( // expected-error@:7 {{bad thing}}\n", ERROR)
        self.accepts("\n\n// expected-error@-1:7 {{bad thing}}\n", ERROR)

    def test_wrong_line(self):
        self.refuses("// expected-error@+2 {{bad thing}}\n", ERROR, "not expected: a.cpp:2:7: error: bad thing",
                     "expected by line 1, and not reported: error at 3: bad thing")

    def test_wrong_column(self):
        self.refuses("// expected-error@+1:6 {{bad thing}}\n", ERROR,
                     "expected by line 1, and not reported: error at 2:6: bad thing")
        self.refuses("// expected-error@+1:6|8 {{bad thing}}\n", ERROR, "expected by line 1")

    def test_wrong_kind(self):
        self.refuses("// expected-warning@+1 {{bad thing}}\n", ERROR, "not expected: a.cpp:2:7: error: bad thing",
                     "expected by line 1, and not reported: warning at 2: bad thing", "mscclc ended with 1, not 0")

    def test_texts(self):
        self.accepts("// expected-error@+1 {{bad}}\n", ERROR)
        self.refuses("// expected-error@+1 {{thing}}\n", ERROR, "not expected")
        self.refuses("// expected-error@+1 {{bad thing too}}\n", ERROR, "not expected")
        self.refuses("// expected-error@+1 {{b.d thing}}\n", ERROR, "not expected")
        self.accepts("// expected-error-re@+1 {{b{{.}}d thing}}\n", ERROR)
        self.refuses("// expected-error-re@+1 {{b{{[0-9]}}d thing}}\n", ERROR, "not expected")

    def test_missing(self):
        self.refuses("// expected-error@+1 {{bad thing}}\n// expected-note@5 {{here}}\n", ERROR,
                     "expected by line 2, and not reported: note at 5: here")

    def test_not_expected(self):
        report = ERROR + "FILE:9:1: note: here\n"
        self.refuses("// expected-error@+1 {{bad thing}}\n", report, "not expected: a.cpp:9:1: note: here")

    def test_counts(self):
        twice = ERROR + ERROR
        self.refuses("// expected-error@+1 {{bad}}\n", twice, "not expected")
        self.accepts("// expected-error@+1 2 {{bad}}\n", twice)
        self.accepts("// expected-error@+1 1+ {{bad}}\n", twice)
        self.refuses("// expected-error@+1 3 {{bad}}\n", twice, "expected by line 1, and not reported so often")
        self.refuses("// expected-error@+1 3+ {{bad}}\n", twice, "expected by line 1, and not reported so often")
        self.accepts("// expected-error@+1 2 {{bad}}\n// expected-note@* 0+ {{here}}\n", twice)

    def test_places_in_words(self):
        report = ERROR + "rank 1: note: it ends\nmscclc: note: and 3 more like it\nnote: (61 more)\n"
        lines = '// expected-error@+1 {{bad}}\n// expected-note@"rank 1" {{it ends}}\n'
        more = '// expected-note@"mscclc" {{and 3 more like it}}\n// expected-note@"" {{(61 more)}}\n'
        self.accepts(lines + more, report)
        self.refuses(lines + more.replace("mscclc", "rank 2"), report, "not expected: mscclc: note: and 3 more like it",
                     "expected by line 3, and not reported: note at 'rank 2': and 3 more like it")

    def test_other_files(self):
        report = ERROR + "folder/b.h:4:2: note: here\n"
        line = "// expected-error@+1 {{bad}}\n"
        self.accepts(line + "// expected-note@b.h:4:2 {{here}}\n", report)
        self.refuses(line + "// expected-note@4:2 {{here}}\n", report, "not expected: folder/b.h:4:2: note: here")
        self.refuses(line + "// expected-note@c.h:4:2 {{here}}\n", report, "not expected: folder/b.h:4:2: note: here")

    def test_lines_of_the_source_are_no_reports(self):
        self.accepts("// expected-error@+1 {{bad thing}}\n",
                     "FILE:2:7: error: bad thing\n// a.cpp:1:1: error: told by a comment\n   ^\n")

    def test_prefix(self):
        source = "// expected-error@+1 {{other}}\n// mine-error@2 {{bad}}\n"
        self.accepts(source, ERROR, prefix="mine")
        self.refuses(source, ERROR, "not expected")

    def test_nothing_is_expected(self):
        self.accepts("// expected-no-diagnostics\n", "", code=0, writes=True)
        self.refuses("// expected-no-diagnostics\n", ERROR, "not expected", writes=True)

    def test_exit_code(self):
        self.refuses("// expected-error@+1 {{bad thing}}\n", ERROR, "mscclc ended with 3, not 1", code=3)
        self.refuses("// expected-no-diagnostics\n", "", "mscclc ended with 1, not 0", writes=True)

    def test_output(self):
        source = "// expected-error@+1 {{bad thing}}\n"
        self.refuses(source, ERROR, "there is an output in spite of errors", writes=True)
        self.refuses("// expected-no-diagnostics\n", "", "there is no output", code=0)
        self.accepts(source, ERROR, arguments=["--verify"])
        self.assertEqual(self.arguments[1:], ["--verify"])

    def test_arguments(self):
        self.accepts("// expected-error@+1 {{bad thing}}\n", ERROR, arguments=["-O0", "--", "-DX"])
        self.assertEqual([self.arguments[1], *self.arguments[2:3], *self.arguments[4:]], ["-O0", "-o", "--", "-DX"])

    def test_malformed(self):
        self.malformed("", "no comment expects anything by 'expected-'")
        self.malformed("// expected-error@+1 {{bad}}\n", "no comment expects anything by 'other-'", prefix="other")
        self.malformed("// expected-error@+1 bad\n", "line 1: cannot read 'expected-error@+1 bad'")
        self.malformed("// expected-error@+1 {{}}\n", "line 1: an expectation needs a text")
        self.malformed("// expected-error@next {{bad}}\n", "line 1: '@next' is no place")
        self.malformed("// expected-error {{bad}}\n// expected-no-diagnostics\n",
                       "expected-no-diagnostics among expectations")


if __name__ == "__main__":
    unittest.main()

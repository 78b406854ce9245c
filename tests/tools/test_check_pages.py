#!/usr/bin/env python3
"""Tests check_pages.py: a page of one line beside a file `room/part.h`."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("check_pages.py")


class CheckPages(unittest.TestCase):
    def check(self, line, page="README.md"):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "room").mkdir()
            (root / "room/part.h").write_text("")
            (root / page).write_text(f"# A page\n{line}\n")
            run = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True, check=False)
            return run.returncode, run.stdout

    def accepts(self, line, **more):
        self.assertEqual(self.check(line, **more), (0, "1 pages, 0 findings\n"))

    def refuses(self, line, path, page="README.md"):
        self.assertEqual(self.check(line, page=page), (1, f"{page}:2: there is no {path}\n1 pages, 1 findings\n"))

    def test_links(self):
        self.accepts("[a](room/part.h), [a](room), [a](https://example.org/room/gone.h)")
        self.accepts("[a](part.h), [a](../room/part.h)", page="room/README.md")
        self.refuses("[a](room/gone.h)", "room/gone.h")
        self.refuses("[a](gone.h)", "gone.h")

    def test_headings(self):
        self.accepts("[a](#a-page), [a](README.md#a-page), [a](https://example.org#gone)")
        for link, named in (("#gone", "the page"), ("README.md#gone", "README.md")):
            with self.subTest(link=link):
                said = f"README.md:2: {named} has no heading #gone\n1 pages, 1 findings\n"
                self.assertEqual(self.check(f"[a]({link})"), (1, said))

    def test_code_has_no_links(self):
        self.accepts("```cpp\n[&](Buffer buffer)\n```\n`operator[](integer index)`")

    def test_paths(self):
        self.accepts("`room/part.h`, `room/`, `room/*.h`, `room/NAME.h`, `elsewhere/gone.h`, `gone.h`")
        self.refuses("`room/gone.h`", "room/gone.h")
        self.refuses("`room/gone.h`", "room/gone.h", page="room/README.md")
        self.refuses("`room/*.cpp`", "room/*.cpp")

    def test_rooms(self):
        for room, sources, others, findings in [
            ("room", 11, [], ["room: 11 sources, and no README.md"]),
            ("room/inner", 11, [], ["room/inner: 11 sources, and no README.md"]),
            ("room", 11, ["README.md"], []),
            ("room", 10, ["notes.txt"], []),
            ("samples", 11, [], []),
            ("tests/unit", 11, [], []),
        ]:
            with self.subTest(room=room, sources=sources), tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder)
                (root / room).mkdir(parents=True)
                for name in [f"part{i}.cpp" for i in range(sources)] + others:
                    (root / room / name).write_text("")
                (root / "README.md").write_text("# A page\n")
                run = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True, check=False)
                self.assertEqual(run.stdout.splitlines()[:-1], findings)
                self.assertEqual(run.returncode, 1 if findings else 0)

    def test_a_tree_without_pages_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True, check=False)
            self.assertEqual((run.returncode, run.stdout), (1, "0 pages, 0 findings\n"))


if __name__ == "__main__":
    unittest.main()

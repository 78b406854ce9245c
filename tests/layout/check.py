#!/usr/bin/env python3
"""usage: check.py CC TOOLS WORK

Lays a small program out with cmake/layout: the functions that run are known, also those of a child process, the result is
BOLT's work and runs as before; and where the tools are missing, a training fails or gives something else, it is a copy.
"""
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LAYOUT = HERE.parents[1] / "cmake/layout"
sys.dont_write_bytecode = True
sys.path.insert(0, str(LAYOUT))
from touched_functions import touched_functions  # noqa: E402


def expect(condition, what):
    if not condition:
        sys.exit(f"error: {what}")


def lay_out(program, output, work, tools, *training):
    done = subprocess.run([sys.executable, LAYOUT / "optimize_layout.py", "--tools", tools, "--work", work, program, output,
                           "--", *training], capture_output=True, text=True)
    expect(done.returncode == 0, f"optimize_layout.py ended with {done.returncode}: {done.stderr}")
    return done.stderr


def main():
    cc, tools, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    program, output = work / "program", work / "laid_out"
    subprocess.run([cc, "-O1", "-no-pie", "-fno-reorder-blocks-and-partition", "-Wl,--emit-relocs", HERE / "program.c",
                    HERE / "namesake.c", "-o", program], check=True)

    try:
        names = touched_functions(program, work / "copy", [["123", str(work / "sum")]])
    except OSError as error:
        print(f"[SKIP] no process may trace another here: {error}")
        return
    expect((work / "sum").read_text() == "6\n", "the traced program gives a wrong result")
    for name in ("main", "called_in_child", "write_result"):
        expect(name in names, f"{name} ran and is not known")
    expect("never_called" not in names, "never_called did not run")
    expect("add_digit/1" in names and "add_digit/2" not in names, "which of two local functions ran is not known")

    said = lay_out(program, output, work / "layout", tools, "987", "$OUT")
    expect(said == "", f"unexpected words: {said}")
    expect(b".note.bolt_info" in output.read_bytes(), "the output is not BOLT's")
    subprocess.run([output, "44", work / "sum"], check=True)
    expect((work / "sum").read_text() == "8\n", "the laid out program gives a wrong result")
    profile = (work / "layout/profile.fdata").read_text()
    for name in ("called_in_child", "add_digit/1"):
        expect(name in profile, f"the profile does not know {name}")

    for why, folder, *training in (("No such file", work / "nowhere", "1", "$OUT"), ("ended with status", tools, "1"),
                                   ("No such file", tools, "--version")):
        output.unlink()
        said = lay_out(program, output, work / "other", folder, *training)
        expect("is left as it is: " in said and why in said, f"unexpected words: {said!r}")
        expect(output.read_bytes() == program.read_bytes(), "the output is no copy")
    print("ok")


if __name__ == "__main__":
    main()

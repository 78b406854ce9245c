"""Calls of the compiler, and its errors as exceptions."""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import threading

import pytest

import mscclc
from conftest import SAMPLES
from mscclc import tool
from mscclc.errors import parse_diagnostics

WRONG = """#include <mscclc/dsl.hpp>
using namespace mscclc;
MSCCLC_ALGORITHM void wrong(int ranks = 2) {
  CollectiveProgram program("wrong", AllGather(ranks, 1, true));
  Rank(9).output();
}
"""


def test_a_plan():
    plan = mscclc.compile(SAMPLES / "sendrecv.cpp", params={"ranks": 4})
    assert (plan.name, plan.collective, plan.ranks) == ("sendrecv", "sendrecv", 4)
    assert "proven: 4 ranks" in plan.verify()


def test_a_plan_is_saved_and_read(tmp_path):
    plan = mscclc.compile(SAMPLES / "sendrecv.cpp")
    plan.save(tmp_path / "plan.json")
    again = mscclc.Plan.load(tmp_path / "plan.json")
    assert again.json == plan.json
    assert "proven: 2 ranks" in again.verify()


def test_many_sizes_are_proven():
    assert mscclc.verify(SAMPLES / "sendrecv.cpp", params={"ranks": "2..4"}).count("proven") == 3


def test_estimates_grow_with_the_message():
    small, large = mscclc.estimate(
        SAMPLES / "allreduce_allpairs.cpp", [1024, 1 << 26], machine="h100x8", params={"ranks": 8}
    )
    assert (small.bytes, large.bytes) == (1024, 1 << 26)
    assert 0 < small.microseconds < large.microseconds and small.bus_bandwidth < large.bus_bandwidth
    assert small.bound == small.details["bound"]


def test_one_size_is_a_list_of_one():
    plan = mscclc.compile(SAMPLES / "sendrecv.cpp")
    assert plan.estimate(1 << 20) == plan.estimate([1 << 20])
    with pytest.raises(TypeError, match="sizes are numbers of bytes, not a text: '1M'"):
        plan.estimate("1M")


def test_options_are_a_list_and_write_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError, match=r"options are a list of arguments, as in \['-O2', '-DX'\], not a text"):
        mscclc.compile(SAMPLES / "sendrecv.cpp", options="-O2 -DX")
    for options in (["-o", "plan.json"], ["-oplan.json"]):
        with pytest.raises(mscclc.ToolError, match="-o is refused"):
            mscclc.compile(SAMPLES / "sendrecv.cpp", options=options)
    assert not list(tmp_path.iterdir())


def test_outputs_are_kept_until_a_file_changes(tmp_path, monkeypatch):
    source, header, table = tmp_path / "mine.cpp", tmp_path / "parts/mine.hpp", tmp_path / "table.json"
    header.parent.mkdir()
    for file in (source, header, table):
        file.write_text("1")
    calls = []
    monkeypatch.setattr(tool, "_run", lambda *_: calls.append(None) or str(len(calls)))

    def said():
        with tool.remembering(tmp_path / "kept"):
            return tool.run_tool(tool.Program(str(source)), f"--machine={table}")

    assert (said(), said()) == ("1", "1")
    for number, file in enumerate((source, header, table), 2):
        file.write_text("longer" * number)
        assert (said(), said()) == (str(number), str(number))


def test_threads_keep_the_same_output(tmp_path, monkeypatch):
    """Both have written before one of them renames what it wrote."""
    both, replace = threading.Barrier(2, timeout=20), os.replace

    def late(*files):
        both.wait()
        replace(*files)

    monkeypatch.setattr(tool, "_run", lambda *_: "it")
    monkeypatch.setattr("os.replace", late)
    with tool.remembering(tmp_path), concurrent.futures.ThreadPoolExecutor(2) as pool:
        said = [pool.submit(tool.run_tool, tool.Program("mine.ir")) for _ in range(2)]
        assert [one.result() for one in said] == ["it", "it"]
    assert [file.read_text() for file in tmp_path.iterdir()] == ["it"]


def test_a_wrong_machine_is_a_wrong_call():
    with pytest.raises(mscclc.ToolError, match="'nowhere' is neither a machine"):
        mscclc.estimate(SAMPLES / "sendrecv.cpp", 1024, machine="nowhere")


def test_an_error_has_its_place(tmp_path):
    (tmp_path / "wrong.cpp").write_text(WRONG)
    with pytest.raises(mscclc.CompileError) as caught:
        mscclc.compile(tmp_path / "wrong.cpp")
    [error] = caught.value.diagnostics
    assert (error.file, error.line, error.column, error.severity) == (str(tmp_path / "wrong.cpp"), 5, 3, "error")
    assert error.text.startswith("rank 9 is out of range")
    assert f"{tmp_path}/wrong.cpp:5:3: error: rank 9" in str(caught.value)


def test_a_text_instead_of_a_file():
    with pytest.raises(mscclc.CompileError) as caught:
        mscclc.compile("mine.cpp", text=WRONG)
    assert [(one.line, one.column) for one in caught.value.diagnostics] == [(5, 3)]
    assert (
        mscclc.compile(
            "mine.cpp",
            text=WRONG.replace("Rank(9).output();", "")
            .replace("AllGather(ranks", "AllGather(1")
            .replace("ranks = 2", "ranks = 1"),
        ).ranks
        == 1
    )


def test_what_is_not_proven_has_notes():
    text = WRONG.replace("Rank(9).output();", "")
    with pytest.raises(mscclc.CompileError) as caught:
        mscclc.compile("mine.cpp", text=text)
    assert caught.value.diagnostics and "mine.cpp" not in caught.value.diagnostics[0].text


def test_wrong_parameters_and_files():
    with pytest.raises(mscclc.CompileError, match="no parameter 'foo'"):
        mscclc.compile(SAMPLES / "sendrecv.cpp", params={"foo": 2})
    with pytest.raises(mscclc.CompileError, match="cannot read") as caught:
        mscclc.compile("nowhere.cpp")
    assert caught.value.diagnostics[0].line == 0
    with pytest.raises(mscclc.UsageError, match="--no-such-option"):
        mscclc.compile(SAMPLES / "sendrecv.cpp", options=["--no-such-option"])


def test_notes_belong_to_their_error():
    found = parse_diagnostics("a b.cpp:3:4: error: one\n  code\nc.cpp:1:2: note: two\nd.json: warning: three: four\n")
    assert [(str(one), len(one.notes)) for one in found] == [
        ("a b.cpp:3:4: error: one", 1),
        ("d.json: warning: three: four", 0),
    ]


@pytest.mark.parametrize(
    "variable, call, error",
    [
        ("MSCCLC_TOOL", "mscclc.compile('a.cpp')", "ToolError"),
        ("MSCCLC_RUNTIME", "mscclc.Communicator(2)", "LibraryError"),
        ("MSCCLC_INCLUDE", "mscclc.kernels.build_library('', 'host')", "LibraryError"),
    ],
)
def test_what_is_missing_is_named(monkeypatch, tmp_path, variable, call, error):
    run = f"import mscclc\ntry:\n  {call}\nexcept mscclc.{error} as error:\n  print(error)"
    # In a checkout, its build folder would be found.
    shutil.copytree(pathlib.Path(mscclc.__file__).parent, tmp_path / "alone/mscclc")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "alone"))
    for value, text in ((str(tmp_path / "gone"), "there is no such file"), ("", f"set {variable} to")):
        monkeypatch.setenv(variable, value)
        monkeypatch.setenv("PATH", str(tmp_path))
        done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
        assert text in done.stdout, done.stdout


def test_a_library_that_is_none_is_refused(monkeypatch, tmp_path):
    (tmp_path / "text.so").write_text("no library")
    monkeypatch.setenv("MSCCLC_RUNTIME", str(tmp_path / "text.so"))
    run = "import mscclc\ntry:\n  mscclc.runtime_version()\nexcept mscclc.LibraryError as error:\n  print(error)"
    assert (
        "cannot be loaded"
        in subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True).stdout
    )


def test_the_package_needs_no_torch_and_no_numpy():
    run = "import sys, mscclc; print([name for name in ('torch', 'numpy') if name in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_names_of_diagnostics():
    found = parse_diagnostics("a.cpp:3:4: error: one [--allow=rank-order] [ranks-differ]\nd.json: warning: odd [-Wfoo]\n")
    assert [(one.name, one.text) for one in found] == [
        ("ranks-differ", "one [--allow=rank-order]"),
        ("", "odd [-Wfoo]"),
    ]

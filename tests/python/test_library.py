"""python -m mscclc library: kernels for each size, by the time model."""

import json
import pathlib
import shutil
import time

import numpy as np
import pytest

import mscclc
from conftest import SAMPLES
from mscclc import abi
from mscclc.__main__ import main
from mscclc.baseline import Baseline, baselines
from mscclc.candidates import Candidate, default_sources
from mscclc.library import best_ranges, calls_of, costs_of_one_order, make_library, of_one_order
from mscclc.tool import Plan, run_tool


published = pathlib.Path(mscclc.__file__).with_name("published.csv")


class Timed(Candidate):
    """A candidate for `least` to `most` bytes. It takes `fixed` microseconds, and the given time for each KiB."""

    def __init__(self, fixed, each, most=1 << 40, least=0):
        super().__init__(None, f"minMessageBytes = {least}, maxMessageBytes = {most};")
        self.fixed, self.each = fixed, each

    def time(self, sizes, machine, far=False):
        self.times |= {size: self.fixed + self.each * size / 1024 for size in sizes if self.least <= size <= self.most}


def ranges(candidates, sizes):
    """What is listed: the number of a candidate, or None for NCCL, and its sizes."""
    return [
        (candidates.index(one.candidate) if one.candidate else None, one.least, one.most)
        for one in best_ranges(candidates, sizes, "h100x8")
    ]


def test_each_size_has_the_fastest():
    quick, wide = Timed(2, 1), Timed(10, 0.1)  # they meet at 9102 bytes, between 8192 and 9216
    sizes = [1024 << step for step in range(8)]
    assert ranges([wide, quick], sizes) == [(1, 0, 8192), (0, 8193, 1 << 40)]
    assert ranges([quick], sizes) == [(0, 0, 1 << 40)]
    assert ranges([Timed(2, 1, 4096), wide], sizes) == [(0, 0, 4096), (1, 4097, 1 << 40)]
    assert ranges([Timed(2, 1, 4096)], sizes) == [(0, 0, 4096), (None, 4097, 131072)]


def test_nccl_has_what_no_candidate_takes():
    sizes = [1024 << step for step in range(8)]
    late = Timed(10, 0.1, least=8192)
    assert ranges([Timed(2, 1, 4096), late], sizes) == [(0, 0, 4096), (None, 4097, 8191), (1, 8192, 1 << 40)]
    assert ranges([Timed(2, 1, 4500), late], sizes) == [(0, 0, 4500), (None, 4501, 8191), (1, 8192, 1 << 40)]
    assert ranges([Timed(2, 1, 8191), late], sizes) == [(0, 0, 8191), (1, 8192, 1 << 40)]
    assert ranges([late], sizes) == [(None, 0, 8191), (0, 8192, 1 << 40)]
    assert ranges([Timed(1, 1, 2048, least=2000), late], sizes) == [
        (None, 0, 1999), (0, 2000, 2048), (None, 2049, 8191), (1, 8192, 1 << 40)
    ]


def test_candidates_that_may_be_faster_are_listed_with_the_best():
    sizes = [1024 << step for step in range(8)]
    quick, wide, near, slow = Timed(2, 1), Timed(10, 0.1), Timed(2.2, 1.1), Timed(4, 2)
    first, last = best_ranges([slow, wide, near, quick], sizes, "h100x8")
    assert (first.candidate, last.candidate) == (quick, wide)
    assert first.others([slow, wide, near, quick], sizes, 2) == [wide, near]
    assert last.others([slow, wide, near, quick], sizes, 2) == []
    assert first.others([slow, wide, near, quick], sizes, 0) == []
    [nccl] = best_ranges([slow, near, quick], sizes, "h100x8", Baseline.unknown)
    assert nccl.candidate is None and nccl.others([slow, near, quick], sizes, 2) == [quick, near]


def test_sizes_that_nccl_does_faster_are_left_to_it():
    nccl = Baseline([1024, 4096, 16384], [2, 8, 8])
    assert [nccl.at(size) for size in (1, 1024, 2048, 4096, 10000, 16384, 32768)] == pytest.approx([2, 2, 4, 8, 8, 8, 0])
    quick = Timed(1, 0.5)  # its estimate may be off by a quarter
    sizes = [1024 << step for step in range(6)]

    def listed(candidates):
        found = best_ranges(candidates, sizes, "h100x8", nccl)
        return [(one.candidate is not None, one.least, one.most) for one in found]

    assert listed([quick]) == [(True, 0, 8192), (False, 8193, 32768)]
    assert listed([Timed(3, 0.1)]) == [(False, 0, 2048), (True, 2049, 16384), (False, 16385, 32768)]
    assert listed([Timed(9, 1)]) == [(False, 0, 32768)]
    # It may lose between two sizes at which it wins.
    hump = Baseline([1024, 4096, 16384], [8, 2, 18])
    found = best_ranges([quick], sizes, "h100x8", hump)
    assert [(one.candidate is quick, one.least, one.most) for one in found] == [
        (True, 0, 2048), (False, 2049, 8192), (True, 8193, 16384), (False, 16385, 32768)
    ]


def test_a_table_of_times(tmp_path):
    known = baselines(published)
    assert known["allreduce", 8, "h100x8"].largest == 64 << 20
    table = tmp_path / "times.csv"
    for text in ("collective,ranks\nallreduce,8\n", "collective,ranks,machine,message_bytes,us\nallreduce,8,h100x8,1K,2\n"):
        table.write_text(text)
        with pytest.raises(ValueError, match="no table of times"):
            baselines(table)


def test_kernels_of_one_order():
    def summing(order, *times, **limits):
        candidate = Timed(*times, **limits)
        candidate.emitted = f"// Written by mscclc\n// Sums: {order}\n{candidate.emitted}" if order else candidate.emitted
        return candidate

    sizes = [1024 << step for step in range(8)]
    chain, quick, tree = summing("0+1", 2, 1), summing("0+1", 1, 2), summing("1+0", 1, 0.5)
    either = summing("in an order that depends on the chunk", 0, 0)
    assert of_one_order([chain, either, quick], sizes, "h100x8") == [chain, quick]
    assert of_one_order([chain, either, quick, tree], sizes, "h100x8") == [tree]
    assert of_one_order([chain, summing("1+0", 0, 0, most=4096)], sizes, "h100x8") == [chain]  # takes all sizes
    assert of_one_order([either], sizes, "h100x8") == []
    free = summing("in an order that depends on the chunk", 1, 1)
    assert [*costs_of_one_order([chain], [chain, free], [1024, 4096], "h100x8")] == [
        "1024 bytes: 3.00 us in one order, 2.00 us in any, 1.50 x",
        "4096 bytes: 6.00 us in one order, 5.00 us in any, 1.20 x",
    ]
    gathers = [summing(None, 2, 1), summing(None, 1, 2)]
    assert of_one_order(gathers, sizes, "h100x8") == gathers


def test_a_most_of_gibibytes_is_read():
    emitted = "constexpr uint64_t minMessageBytes = 2147483648u, maxMessageBytes = 4294967296u;"
    candidate = Candidate(None, emitted)
    assert (candidate.least, candidate.most) == (1 << 31, 1 << 32)


def test_a_folder_of_the_fastest(tmp_path, selector, capsys):
    sources = [str(SAMPLES / f"{name}.cpp") for name in ("allreduce_packets", "allreduce_allpairs")]
    arguments = ["library", *sources, "-o", str(tmp_path), "--ranks", "2", "--platform", "host", "--types", "f32"]
    arguments += ["-P", "threadBlocks=1", "--sizes", "1K,64K,16M"]
    assert main(arguments) == 0  # no times of NCCL are known for 2 ranks
    small, large = json.loads((tmp_path / "manifest.json").read_text())["collectives"][0]["entries"]
    assert (small["nccl"], small["min"], small["max"] + 1, large["max"]) == (True, 0, large["min"], 16 << 20)
    assert "kernel" not in small and "plan" not in small
    assert [one["name"] for one in small["candidates"]] == ["allreduce_packets"]
    assert large["candidates"][0]["name"] == "allreduce_allpairs"
    assert mscclc.register_folder(tmp_path) == []
    capsys.readouterr()
    assert main([*arguments, "--baseline", "none"]) == 0
    assert "allreduce of 0 to " in capsys.readouterr().out
    made = json.loads((tmp_path / "manifest.json").read_text())
    [listed] = made["collectives"]
    small, large = listed["entries"]
    assert (small["name"], large["name"]) == ("allreduce_packets", "allreduce_allpairs")
    assert small["max"] + 1 == large["min"] and (small["min"], large["max"]) == (0, 1 << 40)
    assert small["sums"] == large["sums"] == "0+1"  # of two ranks there is one order
    assert small["parameters"] == {"threadBlocks": "1", "ranks": "2"} and small["predicted_us"]["1024"] > 0
    plan = json.loads((tmp_path / large["plan"]).read_text())
    assert (plan["name"], plan["min_message_size"]) == ("allreduce_allpairs", large["min"])
    assert [kernel.sums for kernel in mscclc.register_folder(tmp_path)] == ["0+1", "0+1"]
    with mscclc.Communicator(2, platform="host", wait_timeout=20) as ranks:
        for count, name in ((256, "allreduce_packets"), (small["max"], "allreduce_allpairs")):
            arrays = [np.full(count, rank + 1, np.float32) for rank in range(2)]
            assert ranks.run("allreduce", arrays).name == name
            assert (arrays[1] == 3).all()


def test_programs_of_moves_are_scheduled_for_each_size(tmp_path, capsys):
    source = str(SAMPLES / "auto/allgather_allpairs.cpp")
    arguments = ["library", source, "-o", str(tmp_path), "--ranks", "4", "--platform", "host", "--sizes", "1K,2K,4M"]
    arguments += ["--types", "f32"]
    assert main([*arguments, "--baseline", "none"]) == 0
    said = capsys.readouterr().out
    assert ", scheduled for 1024, 2048 bytes" in said and ", scheduled for 4194304 bytes" in said, said
    small, large = json.loads((tmp_path / "manifest.json").read_text())["collectives"][0]["entries"]
    assert (small["scheduled_for"], large["scheduled_for"]) == (1024, 4 << 20)
    assert small["source"] == large["source"] == source and small["parameters"] == {"ranks": "4"}
    assert small["kernel"] != large["kernel"] and small["predicted_us"]["1024"] < 4


def test_a_program_of_moves_is_not_scheduled_for_sizes_that_it_refuses(tmp_path, capsys):
    text = (SAMPLES / "auto/allgather_allpairs.cpp").read_text()
    source = tmp_path / "short.cpp"
    source.write_text(text.replace(".schedule =", ".maxMessageSize = 65536, .schedule ="))
    arguments = ["library", str(source), "-o", str(tmp_path), "--ranks", "2", "--platform", "host", "--sizes", "1K,4M"]
    arguments += ["--types", "f32"]
    assert main([*arguments, "--baseline", "none"]) == 0
    assert capsys.readouterr().out.count(", scheduled for 1024 bytes") == 1
    entry, nccl = json.loads((tmp_path / "manifest.json").read_text())["collectives"][0]["entries"]
    assert (entry["min"], entry["max"], nccl["min"], nccl["nccl"]) == (0, 1024, 1025, True)


def test_a_program_of_moves_may_need_options_for_its_source(tmp_path):
    text = (SAMPLES / "auto/allgather_allpairs.cpp").read_text()
    source = tmp_path / "shared_name.cpp"
    source.write_text('#include "name.h"\n' + text.replace('"allgather_allpairs"', "NAME PART"))
    folder = tmp_path / "headers"
    folder.mkdir()
    (folder / "name.h").write_text('#define NAME "named"\n')
    arguments = ["library", str(source), "-o", str(tmp_path / "made"), "--ranks", "2", "--sizes", "1K", "--platform", "none"]
    arguments += [f"--option=-I{folder}", "--option=-D", "--option=PART=", "--option=-O1", "--baseline", "none"]
    assert main(arguments) == 0
    entry = json.loads((tmp_path / "made/manifest.json").read_text())["collectives"][0]["entries"][0]
    assert entry["scheduled_for"] == 1024


def test_the_samples_for_several_numbers_of_ranks(tmp_path, capsys, monkeypatch):
    names = {source.stem for source in default_sources()}
    assert {"allreduce_ring", "alltoall", "reducescatter_allpairs", "broadcast_tree"} <= names
    assert not {name for name in names if "hierarchical" in name}
    folder = tmp_path / "samples"
    (folder / "auto").mkdir(parents=True)
    for name in ("allgather_allpairs", "allreduce_allpairs", "allgather_hierarchical"):
        shutil.copy(SAMPLES / f"auto/{name}.cpp", folder / "auto")
    monkeypatch.setenv("MSCCLC_SAMPLES", str(folder))
    arguments = ["library", "-o", str(tmp_path), "--ranks", "4,2", "--platform", "host", "--sizes", "64M"]
    arguments += ["--types", "f32"]
    assert main([*arguments, "--baseline", "none"]) == 0
    assert "allreduce_allpairs.cpp order=Any inplace=true ranks=4, scheduled for 67108864 bytes" in capsys.readouterr().out
    made = json.loads((tmp_path / "manifest.json").read_text())["collectives"]
    lists = [(one["collective"], one["ranks"], one["ranks_per_node"]) for one in made]
    assert lists == [("allgather", 2, 2), ("allreduce", 2, 2), ("allgather", 4, 4), ("allreduce", 4, 4)]
    assert all(one["entries"][0]["scheduled_for"] == 64 << 20 for one in made)


def test_the_default_lists(tmp_path, capsys, monkeypatch):
    """There is one for each number of GPUs of a node that the machine has, and for each number of nodes."""
    folder, machine = tmp_path / "samples", tmp_path / "pairs.json"
    (folder / "auto").mkdir(parents=True)
    for name in ("allgather_allpairs", "allgather_hierarchical"):
        shutil.copy(SAMPLES / f"auto/{name}.cpp", folder / "auto")
    monkeypatch.setenv("MSCCLC_SAMPLES", str(folder))
    text = (SAMPLES.parent / "passes/time/machines/h100x8.json").read_text()
    machine.write_text(text.replace('"gpus_per_node": 8', '"gpus_per_node": 2'))
    arguments = ["library", "-o", str(tmp_path / "made"), "--platform", "none", "--sizes", "1M", "--machine", str(machine)]
    assert main(arguments) == 0
    made = json.loads((tmp_path / "made/manifest.json").read_text())["collectives"]
    lists = [(one["collective"], one["ranks"], one["ranks_per_node"]) for one in made]
    assert lists == [("allgather", 2 * nodes, 2) for nodes in (1, 2, 4, 8)]
    assert all({entry["in_place"] for entry in one["entries"]} == {False, True} for one in made)
    said = capsys.readouterr().out
    assert said.count("left out: ") == 12, said
    assert f"left out: 16 GPUs of a node on {machine}*8: " in said


def test_a_program_that_moves_nothing_is_left_to_nccl(tmp_path):
    source, table = tmp_path / "nothing.cpp", tmp_path / "times.csv"
    source.write_text(
        "#include <mscclc/dsl.hpp>\nusing namespace mscclc;\nMSCCLC_ALGORITHM void nothing(int ranks = 1) {\n"
        '  CollectiveProgram program("nothing", AllReduce(ranks, 1, true), {.schedule = Schedule::Auto});\n}\n'
    )
    table.write_text("collective,ranks,machine,message_bytes,us\nallreduce,1,h100x8,1024,1000\n")
    how = dict(ranks=1, sizes=[1024], platform="none")
    [listed] = make_library(tmp_path, [source], **how, baseline=table)["collectives"]
    assert [entry["nccl"] for entry in listed["entries"]] == [True]
    [listed] = make_library(tmp_path, [source], **how, baseline=None)["collectives"]
    assert [entry["name"] for entry in listed["entries"]] == ["nothing"]


def test_the_tool_schedules_for_the_machine(tmp_path, monkeypatch):
    called, of_source = [], []

    def run(program, *options):
        called.append(options)
        if program.text is None:
            of_source.append(options)
        return run_tool(program, *options)

    monkeypatch.setattr("mscclc.candidates.run_tool", run)
    how = dict(ranks=2, sizes=[1024, 1 << 20], baseline=None, platform="none", machine="mi300x8", others=0)
    make_library(tmp_path, [SAMPLES / "auto/allgather_allpairs.cpp"], **how)
    read = [options for options in of_source if "--no-verify" in options or "--list" in options]
    assert read == [("--list", "--json"), ("--emit-ir", "--passes=none", "--no-verify")]  # not once more for each size
    assert ("--emit-json", "--no-verify", "--machine", "mi300x8") in called
    scheduled = [options for options in called if "--list" not in options and "--passes=none" not in options]
    assert all(options[options.index("--machine") + 1] == "mi300x8" for options in scheduled)
    make_library(tmp_path, [SAMPLES / "allgather_allpairs.cpp"], **how)
    assert ("--emit-json", "--no-verify") in called  # it leaves nothing to schedule


def test_several_nodes_and_an_interrupted_run(tmp_path, monkeypatch):
    names = {source.stem for source in default_sources(2)}
    assert {"allreduce_hierarchical", "alltoall_hierarchical"} <= names and "allreduce_ring" not in names
    source, lines = SAMPLES / "auto/allgather_hierarchical.cpp", []
    how = dict(ranks=2, nodes=[2, 1], sizes=[1 << 20], baseline=None, platform="none")
    monkeypatch.setattr("mscclc.library.best_ranges", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_library(tmp_path, [source], **how)
    monkeypatch.undo()
    kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / ".unfinished").iterdir()}
    assert kept and not (tmp_path / "manifest.json").exists()
    monkeypatch.setattr("mscclc.library.shutil.rmtree", lambda *_, **__: None)
    made = make_library(tmp_path, [source], **how, tell=lines.append)
    now = {path.name: path.stat().st_mtime_ns for path in (tmp_path / ".unfinished").iterdir()}
    assert kept.items() <= now.items()  # what was done is not done again
    assert f"2 of 2 done: {source} for 4 ranks" in lines
    assert [(one["ranks"], one["ranks_per_node"]) for one in made["collectives"]] == [(2, 2), (4, 2)]
    [entry] = made["collectives"][1]["entries"]
    assert entry["parameters"] == {"nodes": "2", "gpus": "2"} and "sha256" not in entry
    assert "portPut" in (tmp_path / entry["kernel"]).with_suffix(".cu").read_text()
    for wrong in (dict(ranks=3, ranks_per_node=2), dict(ranks=4, ranks_per_node=2, nodes=2)):
        with pytest.raises(ValueError, match="node"):
            make_library(tmp_path, [source], **{**how, "nodes": 1, **wrong})


def test_a_wrong_machine_is_a_wrong_argument(tmp_path, capsys):
    source = str(SAMPLES / "auto/allgather_ring.cpp")
    for sources in ([], [source]):
        assert main(["library", *sources, "--machine", "nowhere", "-o", str(tmp_path), "--platform", "none"]) == 2
        assert capsys.readouterr().err.startswith("mscclc: error: --machine nowhere: 'nowhere' is neither a machine (")


def test_an_error_ends_the_tries(tmp_path, monkeypatch):
    tried = []

    def fails(source, *_):
        tried.append(source)
        if len(tried) > 1:
            time.sleep(0.02)
        raise mscclc.ToolError("it is missing")

    monkeypatch.setattr("mscclc.library.candidates_of", fails)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    with pytest.raises(mscclc.ToolError, match="it is missing"):
        make_library(tmp_path, [f"{number}.cpp" for number in range(100)], ranks=2, sizes=[1024])
    assert len(tried) < 50


#: A wide and a narrow type. Tests cuda.bits.* run the same kernels with all types.
DTYPES = ["f32", "f8e4m3"]


def inputs_of(dtype, ranks, count):
    """Returns random bits of finite floats, one row for each rank: of any sign and mantissa, and near 1."""
    random, bytes_of = np.random.default_rng(1), abi.DTYPE_BYTES[abi.SHORT_NAMES[dtype]]
    bits, exponent = {"f32": (32, 23), "f16": (16, 10), "bf16": (16, 7), "f8e4m3": (8, 3), "f8e5m2": (8, 2)}[dtype]
    bias = {"f32": 127, "bf16": 127, "f16": 15, "f8e5m2": 15, "f8e4m3": 7}[dtype]
    shape = (ranks, count)
    powers = random.integers(bias - 3, bias + 4, shape)
    made = random.integers(0, 2, shape) << (bits - 1) | powers << exponent | random.integers(0, 1 << exponent, shape)
    return made.astype(f"u{bytes_of}")


def test_an_invariant_library(tmp_path, selector, capsys):
    """One tensor, at 50 positions in messages of 20 sizes, ends with the same bits, whatever kernel is chosen."""
    ranks, length, positions = 4, 24, 50
    names = ["allreduce_packets_oneshot", "allreduce_packets", "allreduce_allpairs"]
    arguments = ["library", *(str(SAMPLES / f"auto/{name}.cpp") for name in names), "-o", str(tmp_path), "--ranks", "4"]
    arguments += ["-P", "order=Ranks,Written", "--sizes", "1K,64K,16M", "--platform", "host", "--invariant"]
    assert main([*arguments, "--types", ",".join(DTYPES)]) == 0
    assert "allreduce of 1024 bytes: " in capsys.readouterr().out
    entries = json.loads((tmp_path / "manifest.json").read_text())["collectives"][0]["entries"]
    assert all("kernel" in entry for entry in entries)
    assert {entry["sums"] for entry in entries} == {"((0+1)+2)+3"} and len(entries) > 1
    mscclc.register_folder(tmp_path)
    used = set()
    with mscclc.Communicator(ranks, platform="host", wait_timeout=60) as communicator:
        for dtype in DTYPES:
            tensor, sums = inputs_of(dtype, ranks, length), set()
            for size in np.geomspace(length * positions, 1 << 16, 20).astype(int):
                count = int(size) // ranks * ranks
                starts = np.linspace(0, count - length, positions).astype(int)
                data = np.zeros((ranks, count), tensor.dtype)
                for start in starts:
                    data[:, start : start + length] = tensor
                kernel, results = reduced(communicator, data, abi.SHORT_NAMES[dtype])
                used.add(kernel.name)
                sums |= {result[start : start + length].tobytes() for result in results for start in starts}
            assert len(sums) == 1, (dtype, len(sums))
    assert len(used) > 1, used


def reduced(communicator, data, dtype):
    """Runs an all-reduce of bits as elements of a type. Returns the kernel and the outputs."""
    for in_place in (True, False):
        try:
            kernel = mscclc.selector.default.select(
                mscclc.Query("allreduce", len(data), dtype, "sum", in_place, data[0].nbytes)
            )
            break
        except mscclc.NoKernelError:
            assert in_place
    given = communicator.allocate(data[0].nbytes)
    made = None if in_place else communicator.allocate(data[0].nbytes)
    for rank, row in enumerate(data):
        given.write(rank, row.view(np.uint8))
    communicator.launch(kernel, given, made, message_bytes=data[0].nbytes, dtype=dtype)
    communicator.synchronize()
    results = np.empty_like(data)
    for rank, row in enumerate(results):
        (made or given).read(rank, row.view(np.uint8))
    for buffer in filter(None, (given, made)):
        buffer.release()
    return kernel, results


def test_a_folder_has_no_list_of_kernels_that_are_replaced(tmp_path, monkeypatch):
    """A program that runs a kernel keeps the file of it."""
    how = dict(ranks=2, sizes=[1024], baseline=None, platform="host", types=["f32"])
    made = make_library(tmp_path, [SAMPLES / "allgather_allpairs.cpp"], **how)
    kernel = tmp_path / made["collectives"][0]["entries"][0]["kernel"]
    other = tmp_path / "other.so"
    other.write_bytes(b"built anew")
    monkeypatch.setattr("mscclc.library.build_library", lambda *_: other)
    with kernel.open("rb") as loaded:
        before = loaded.read()
        monkeypatch.setattr("mscclc.library.named_sums", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            make_library(tmp_path, [SAMPLES / "allgather_allpairs.cpp"], **how)
        loaded.seek(0)
        assert loaded.read() == before and kernel.read_bytes() == b"built anew"
    assert not (tmp_path / "manifest.json").exists()


def test_each_root_has_its_plan(tmp_path):
    how = dict(ranks=2, sizes=[1024], baseline=None, platform="none", params={"root": ["0", "1"]})
    made = make_library(tmp_path, [SAMPLES / "broadcast_chain.cpp"], **how)
    plans = [entry["plan"] for listed in made["collectives"] for entry in listed["entries"]]
    assert len({(tmp_path / plan).read_text() for plan in plans}) == len(set(plans)) == 2


def test_what_is_not_proven_is_left_out(tmp_path):
    """A program that sends rank 0 nothing takes the least time, and is wrong."""
    wrong, right, lines = tmp_path / "wrong.cpp", SAMPLES / "allgather_allpairs.cpp", []
    wrong.write_text(right.read_text().replace("    link.channel.put", "    if (link.dst != 0) link.channel.put"))
    how = dict(ranks=2, sizes=[1024], baseline=None, platform="none", tell=lines.append)
    [listed] = make_library(tmp_path, [wrong, right], **how)["collectives"]
    [entry] = listed["entries"]
    assert entry["source"] == str(right) and "candidates" not in entry
    [why] = [line for line in lines if line.startswith("left out")]
    assert why.startswith(f"left out: {wrong} ranks=2: ") and "output[1] of rank 0 is never written" in why
    assert [path.stem for path in tmp_path.glob("*.cu")] == [pathlib.Path(entry["kernel"]).stem]
    with pytest.raises(ValueError, match="no algorithm is left"):
        make_library(tmp_path, [wrong], **how)
    assert "left out: allgather, in place: no algorithm is proven" in lines


def test_calls_in_place_and_types_are_apart():
    def one(in_place, types):
        emitted = f"#define MSCCLC_DTYPES {types}\n#define MSCCLC_REDUCE_OPS {'Sum' if types != 'Byte' else 'NoReduce'}\n"
        return Candidate(Plan(None, json.dumps({"inplace": in_place, "gpus": []})), emitted)

    all_of_them, floats = one(True, "float, Half, int32_t"), one(True, "float, Half")
    apart, moves = one(False, "float"), one(False, "Byte")
    found = calls_of([apart, all_of_them, floats])
    assert [(calls.keys, calls.candidates) for calls in found] == [
        ({"in_place": True, "types": ["f32", "f16"]}, [all_of_them, floats]),
        ({"in_place": True, "types": ["i32"]}, [all_of_them]),
        ({"in_place": False, "types": ["f32"]}, [apart]),
    ]
    [calls] = calls_of([moves])
    assert (calls.keys, calls.candidates) == ({"in_place": False}, [moves])
    [calls] = calls_of([moves, apart])  # what moves any type runs that of the others, too
    assert (calls.types, calls.candidates) == (["f32"], [moves, apart])


def test_calls_in_place_and_others_have_entries_for_each_size(tmp_path):
    sources = [SAMPLES / f"auto/{name}.cpp" for name in ("allreduce_packets_oneshot", "allreduce_allpairs")]
    how = dict(ranks=2, sizes=[1 << step for step in range(10, 33, 2)], platform="none", others=0)
    for baseline in (None, published):
        [listed] = make_library(tmp_path, sources, **how, baseline=baseline)["collectives"]
        assert all(entry["types"] == ["f32", "f16", "bf16", "i32", "u32", "u8"] for entry in listed["entries"])
        for in_place, name in ((True, "allreduce_allpairs"), (False, "allreduce_packets_oneshot")):
            entries = [entry for entry in listed["entries"] if entry["in_place"] is in_place]
            assert entries[0]["min"] == 0 and entries[-1]["max"] >= 4 << 30
            assert all(before["max"] + 1 == after["min"] for before, after in zip(entries, entries[1:]))
            kernels = {entry.get("name", "NCCL") for entry in entries}
            assert kernels == {"NCCL" if baseline else name}  # no times of two ranks are published


def test_mistakes_are_said(tmp_path, capsys):
    source = str(SAMPLES / "sendrecv.cpp")
    assert main(["library", source, "-o", str(tmp_path), "--ranks", "3", "-P", "ranks=2"]) == 1
    said = capsys.readouterr()
    assert "it is for 2 ranks" in said.out and said.err == "mscclc: no algorithm is left\n"
    assert main(["library", source, "-o", str(tmp_path), "-P", "ranks=2", "-P", "lanes=1,2"]) == 2
    assert capsys.readouterr().err == "mscclc: no source has a parameter 'lanes'\n"
    for wrong in (
        *(["--sizes", sizes] for sizes in ("0", "1K..x", "4K..1K")),
        *(["-P", values] for values in ("steps", "threadBlocks=3..1", "threadBlocks=1..999999999", "ranks=x")),
        *(["--ranks", "0"], ["--nodes", "2,x"]),
    ):
        with pytest.raises(SystemExit):
            main(["library", source, "-o", str(tmp_path), "--ranks", "2", *wrong])
    assert "argument --nodes: '2,x' is no list of numbers from 1 on; it is one such as 2,4,8" in capsys.readouterr().err
    assert not (tmp_path / "manifest.json").exists()


def test_an_interruption_is_said(tmp_path, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("mscclc.library.best_ranges", interrupted)
    source = str(SAMPLES / "allgather_allpairs.cpp")
    assert main(["library", source, "-o", str(tmp_path), "--ranks", "2", "--sizes", "1K", "--platform", "none"]) == 130
    assert capsys.readouterr().err == "mscclc: interrupted; the same command goes on\n"

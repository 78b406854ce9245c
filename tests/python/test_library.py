"""python -m mscclc library: kernels for each size, by the time model."""

import json

import numpy as np
import pytest

import mscclc
from conftest import SAMPLES
from mscclc.__main__ import main
from mscclc.library import Candidate, best_ranges, of_one_order


class Timed(Candidate):
    """A candidate for `least` to `most` bytes. It takes `fixed` microseconds, and the given time for each KiB."""

    def __init__(self, fixed, each, most=1 << 40, least=0):
        super().__init__(None, f"minMessageBytes = {least}, maxMessageBytes = {most};")
        self.fixed, self.each = fixed, each

    def time(self, sizes, machine):
        self.times |= {size: self.fixed + self.each * size / 1024 for size in sizes if self.least <= size <= self.most}


def ranges(candidates, sizes):
    return [
        (candidates.index(one.candidate), one.least, one.most) for one in best_ranges(candidates, sizes, "h100x8")
    ]


def test_each_size_has_the_fastest():
    quick, wide = Timed(2, 1), Timed(10, 0.1)  # they meet at 9102 bytes, between 8192 and 9216
    sizes = [1024 << step for step in range(8)]
    assert ranges([wide, quick], sizes) == [(1, 0, 8192), (0, 8193, 1 << 40)]
    assert ranges([quick], sizes) == [(0, 0, 1 << 40)]
    assert ranges([Timed(2, 1, 4096), wide], sizes) == [(0, 0, 4096), (1, 4097, 1 << 40)]
    assert ranges([Timed(2, 1, 4096)], sizes) == [(0, 0, 4096)]


def test_a_gap_between_two_ends_the_list():
    sizes = [1024 << step for step in range(8)]
    assert ranges([Timed(2, 1, 4096), Timed(10, 0.1, least=8192)], sizes) == [(0, 0, 4096)]
    assert ranges([Timed(2, 1, 4500), Timed(10, 0.1, least=8192)], sizes) == [(0, 0, 4500)]
    assert ranges([Timed(2, 1, 8191), Timed(10, 0.1, least=8192)], sizes) == [(0, 0, 8191), (1, 8192, 1 << 40)]


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
    gathers = [summing(None, 2, 1), summing(None, 1, 2)]
    assert of_one_order(gathers, sizes, "h100x8") == gathers


def test_a_most_of_gibibytes_is_read():
    emitted = "constexpr uint64_t minMessageBytes = 2147483648u, maxMessageBytes = 4294967296u;"
    candidate = Candidate(None, emitted)
    assert (candidate.least, candidate.most) == (1 << 31, 1 << 32)


def test_a_folder_of_the_fastest(tmp_path, selector, capsys):
    sources = [str(SAMPLES / f"{name}.cpp") for name in ("allreduce_packets", "allreduce_allpairs")]
    arguments = ["library", *sources, "-o", str(tmp_path), "--ranks", "2", "--platform", "host", "--types", "f32"]
    assert main([*arguments, "-P", "threadBlocks=1", "--sizes", "1K,64K,16M"]) == 0
    assert "allreduce of 0 to " in capsys.readouterr().out
    made = json.loads((tmp_path / "manifest.json").read_text())
    [listed] = made["collectives"]
    small, large = listed["entries"]
    assert (small["name"], large["name"]) == ("allreduce_packets", "allreduce_allpairs")
    assert small["max"] + 1 == large["min"] and (small["min"], large["max"]) == (0, 1 << 40)
    assert small["sums"] == large["sums"] == "0+1"  # of two ranks there is one order
    assert small["parameters"] == {"threadBlocks": "1", "ranks": "2"} and small["predicted_us"]["1024"] > 0
    mscclc.register_folder(tmp_path)
    with mscclc.Communicator(2, platform="host", wait_timeout=20) as ranks:
        for count, name in ((256, "allreduce_packets"), (small["max"], "allreduce_allpairs")):
            arrays = [np.full(count, rank + 1, np.float32) for rank in range(2)]
            assert ranks.run("allreduce", arrays).name == name
            assert (arrays[1] == 3).all()


def test_mistakes_are_said(tmp_path, capsys):
    source = str(SAMPLES / "sendrecv.cpp")
    assert main(["library", source, "-o", str(tmp_path), "--ranks", "3", "-P", "ranks=2"]) == 1
    said = capsys.readouterr()
    assert "it is for 2 ranks" in said.out and said.err == "mscclc: no algorithm is left\n"
    for wrong in (["--sizes", "0"], ["--sizes", "1K..x"], ["-P", "steps"]):
        with pytest.raises(SystemExit):
            main(["library", source, "-o", str(tmp_path), "--ranks", "2", *wrong])
    assert not (tmp_path / "manifest.json").exists()

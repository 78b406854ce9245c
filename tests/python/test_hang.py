"""Launches that hang, on four ranks in processes of their own: what the errors say, and `mscclc explain-hang`."""

import os
import pathlib
import subprocess
import sys

import pytest

import mscclc
from conftest import SAMPLES

RANKS = 4
CAUSES = {
    "never": "cause: rank 2 has not begun launch 3 of kernel '{name}', as ranks 0, 1 and 3 have",
    "killed": "cause: rank 2 died: its process has ended",
    "size": "cause: launch 3 of kernel '{name}' has different sizes: 64 bytes on rank 2, 65536 bytes on ranks 0, 1 and 3",
    "kernel": "cause: rank 2 has launched kernel '{other}' with 8192 bytes, and not begun launch 3 of kernel '{name}', as "
    "ranks 0, 1 and 3 have",
}


@pytest.fixture(scope="module", params=["allreduce_packets", "allreduce_allpairs"])
def kernels(request):
    """The kernel that is launched, the one that the faulty rank launches instead, and where rank 0 waits for rank 2."""
    compiled = {
        name: mscclc.Kernel.compile(SAMPLES / f"{name}.cpp", params={"ranks": RANKS}, platform="host")
        for name in ("allreduce_packets", "allreduce_allpairs")
    }
    kernel = compiled.pop(request.param)
    source = (SAMPLES / f"{request.param}.cpp").read_text().splitlines()
    return kernel, compiled.popitem()[1], source


@pytest.mark.parametrize("fault", CAUSES)
def test_the_cause_and_the_waits_are_named(kernels, fault, tmp_path):
    kernel, other, source = kernels
    if fault == "size" and kernel.name == "allreduce_allpairs":
        pytest.skip("ranks signal as often whatever the size, so nobody waits")
    script = str(pathlib.Path(__file__).parent / "hang_rank.py")
    environment = {**os.environ, "MSCCLC_DUMP": str(tmp_path / "hang.json")}
    place = f"@mscclc-hang-{os.getpid()}-{kernel.name}-{fault}"
    processes = [
        subprocess.Popen(
            [sys.executable, script, fault, str(rank), place, str(kernel.library), str(other.library)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(RANKS)
    ]
    said = [process.communicate(timeout=120)[0] for process in processes]
    cause = CAUSES[fault].format(name=kernel.name, other=other.name)
    for rank, text in enumerate(said):
        if fault == "killed" and rank == 2:
            continue
        assert cause in text
        if rank != 2:
            waits = [line for line in text.splitlines() if line.startswith(f"kernel '{kernel.name}': rank {rank}, ")]
            assert any("of rank 2" in line and "came" in line for line in waits), text
            for line in waits:  # "(wait, allreduce_packets.cpp:36)": a line of the sample that waits
                place = line.split("(", 1)[1].split(")")[0].split(", ")[1]
                assert any(word in source[int(place.split(":")[1]) - 1] for word in ("wait", "reduce", "packets")), line

    dumps = sorted(map(str, tmp_path.glob("hang.*.json")))
    assert len(dumps) == (3 if fault == "killed" else 4)
    answer = subprocess.run(
        [os.environ["MSCCLC_TOOL"], "explain-hang", *dumps], capture_output=True, text=True, check=True
    ).stdout
    assert answer.count("communicator ") == 1 and answer.count("cause: ") == 1
    assert cause in answer
    for rank in (0, 1, 3):
        assert f"kernel '{kernel.name}': rank {rank}, " in answer


ROWS = """
import sys
import numpy
import mscclc
rank, place = int(sys.argv[1]), sys.argv[2]
kernel = mscclc.Kernel.load(sys.argv[3])[0]
ranks = mscclc.Communicator(3, first_local_rank=rank, local_ranks=1, platform="host", rendezvous=place, wait_timeout=2)
data = [ranks.allocate(3 * 16 * 4) for _ in range(2)]
ranks.prepare(kernel, 3 * 16 * 4, 16)
counts = numpy.full(3, 4, numpy.int64)
try:
    if rank != 0:
        ranks.launch(kernel, *data, message_bytes=3 * 16 * 4, dtype="float32", row_bytes=16, counts={"sent": [counts.ctypes.data]})
    for _ in range(300):
        ranks.synchronize()
        ranks.barrier()
except mscclc.CallError as error:
    print(error, flush=True)
"""


def test_ranks_whose_counts_are_waited_for_are_named():
    """The rows of rank 2 for rank 1 begin behind those of ranks 0 and 1."""
    sample = SAMPLES / "auto" / "alltoallv_packed.cpp"
    kernel = mscclc.Kernel.compile(sample, params={"ranks": 3}, platform="host")
    place = f"@mscclc-hang-rows-{os.getpid()}"
    processes = [
        subprocess.Popen([sys.executable, "-c", ROWS, str(rank), place, str(kernel.library)], stdout=subprocess.PIPE, text=True)
        for rank in range(3)
    ]
    said = [process.communicate(timeout=120)[0] for process in processes]
    assert "waits for counts of rank 0, of rows for rank 1" in said[2], said


HANDED_OVER = """
import sys, time
import numpy
import mscclc
step, late = sys.argv[2:4]
kernel = mscclc.Kernel.load(sys.argv[4])[0]
ranks = mscclc.Communicator(2, first_local_rank=int(late), local_ranks=1, platform="host", rendezvous=sys.argv[1], wait_timeout=2)
size = 2 * 2 * 3 * 16  # 2 experts of each rank, with room for 3 rows of each rank; so blocks of 4 rows are 2 for an expert
data = [ranks.allocate(size) for _ in range(2)]
ranks.prepare(kernel, size, 16)
words, rows, work = numpy.zeros(5, numpy.uint32), numpy.zeros(size, numpy.uint8), numpy.zeros(4096, numpy.uint8)
index = {"payloads": [((rows.ctypes.data, rows.ctypes.data, 16),)], "work": [work.ctypes.data], "choices": [1], "width": [8],
         "ready": [words.ctypes.data]}
try:
    if step == "combine" or late == "0":
        ranks.launch(kernel, *data, message_bytes=size, dtype="float32", row_bytes=16, index=index)
    for _ in range(300):
        ranks.synchronize()
        ranks.barrier()
except mscclc.CallError as error:
    print(error)
for _ in range(100):  # the launch gives up
    if step == "dispatch" and not words[1:].all():
        time.sleep(0.1)
print(words.tolist(), flush=True)
"""


def test_whoever_waits_for_blocks_of_rows_comes_to_an_end():
    """A combine says which words its user has not set. A dispatch that fails sets its own, so its user ends too."""
    for step in ("combine", "dispatch"):
        sample = SAMPLES / "auto" / f"moe_{step}.cpp"
        kernel = mscclc.Kernel.compile(sample, params={"ranks": 2, "experts": 2, "ready": 4}, platform="host")
        command = [sys.executable, "-c", HANDED_OVER, f"@mscclc-hang-{step}-{os.getpid()}", step]
        processes = [
            subprocess.Popen([*command, str(rank), str(kernel.library)], stdout=subprocess.PIPE, text=True)
            for rank in range(2)
        ]
        said = [process.communicate(timeout=120)[0] for process in processes]
        if step == "combine":
            assert "of the rows of experts, which the user's kernel announces" in said[0], said
        else:
            assert f"[0, {', '.join([str(1 << 31)] * 4)}]" in said[0], said

#!/usr/bin/env python3
"""A program that runs in NCCL's place registers and selects as any other: in_nccls_place.py KERNELS. Two ranks, each in a
process, with the fake CUDA and the fake NCCL of tests/runtime/nccl; KERNELS is their folder. The environment is
mscclc_nccl_environment's, with LIBRARIES for LD_PRELOAD."""

import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile

COUNT, FLOAT, SUM = 1024, 7, 0
REGISTERED = "kernel 'allreduce_allpairs', registered by the program"


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_byte * 128)]


def check(nccl, name, *arguments):
    assert getattr(nccl, name)(*arguments) == 0, name


def all_reduces(rank, folder, counts):
    """Computes sums of the given numbers of floats with a new communicator, one after the other."""
    nccl, cuda = ctypes.CDLL("libnccl.so.2"), ctypes.CDLL(None)
    nccl.ncclCommInitRank.argtypes = [ctypes.c_void_p, ctypes.c_int, UniqueId, ctypes.c_int]
    unique, path = UniqueId(), pathlib.Path(folder, "unique")
    assert cuda.cudaSetDevice(rank) == 0
    if rank == 0:
        check(nccl, "ncclGetUniqueId", ctypes.byref(unique))
        path.with_suffix(".new").write_bytes(bytes(unique))
        path.with_suffix(".new").rename(path)
    while not path.exists():
        pass
    unique = UniqueId.from_buffer_copy(path.read_bytes())
    comm, memory, stream = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    check(nccl, "ncclCommInitRank", ctypes.byref(comm), 2, unique, rank)
    assert cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(max(counts) * 4)) == 0
    assert cuda.cudaStreamCreateWithFlags(ctypes.byref(stream), 1) == 0  # no default stream
    for count in counts:
        data = (ctypes.c_float * count)(*[rank + 1.0] * count)
        assert cuda.cudaMemcpy(memory, data, ctypes.c_size_t(count * 4), 1) == 0
        check(nccl, "ncclAllReduce", memory, memory, ctypes.c_size_t(count), FLOAT, SUM, comm, stream)
        assert cuda.cudaStreamSynchronize(stream) == 0
        assert cuda.cudaMemcpy(data, memory, ctypes.c_size_t(count * 4), 2) == 0
        assert set(data) == {3.0}, (count, list(data)[:4])
    check(nccl, "ncclCommDestroy", comm)
    assert cuda.cudaFree(memory) == 0 and cuda.cudaStreamDestroy(stream) == 0


def rank_of(case, rank, folder, kernels):
    import mscclc

    [kernel] = mscclc.Kernel.load(pathlib.Path(kernels, "allreduce_allpairs_2.so"))
    assert kernel.platform == "cuda"
    asked = []

    def choose(query, candidates):
        asked.append(query)
        return next((one for one in candidates if "mine" in one.tags and query.bytes > 1024), None)

    if case == "ranges":
        mscclc.register(kernel, min_bytes="1K", max_bytes="64K", priority=3, tags=["mine"], types=["float32"])
    elif case == "function":
        mscclc.register(kernel, tags=["mine"])
        mscclc.set_selector(choose)
    elif case == "differ":
        mscclc.register(kernel, max_bytes=4096 << rank)
    elif case == "failing":
        mscclc.register(kernel)
        mscclc.set_selector(lambda query, candidates: 1 // 0)
    all_reduces(rank, folder, (16, 1024, 65536))
    if case == "function":
        assert {(one.collective, one.ranks, one.dtype, one.op) for one in asked} == {("allreduce", 2, "float32", "sum")}
        assert [one.bytes for one in asked] == [64, 4096, 262144], asked
    if case == "ranges":
        try:
            mscclc.register(kernel)
            sys.exit("registered after the ranks have agreed")
        except ValueError as error:
            assert "too late" in str(error), error


def run(case, kernels):
    """Returns what the ranks have written."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LD_PRELOAD": os.environ["LIBRARIES"], "MSCCLC_KERNELS": folder}
        ranks = [
            subprocess.Popen(
                [sys.executable, __file__, kernels, case, str(rank), folder],
                env=environment,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(2)
        ]
        try:
            errors = [rank.communicate(timeout=100)[1] for rank in ranks]
        finally:
            for rank in ranks:
                rank.kill()
    if any(rank.returncode for rank in ranks):
        sys.exit(f"{case}: {[rank.returncode for rank in ranks]}\n" + "\n".join(errors))
    return errors


def runs(text):
    """Returns who runs the calls of 64 bytes, 4 KiB and 256 KiB."""
    found = [re.search(rf"allreduce of {size} bytes of f32.*?: (.*)", text) for size in (64, 4096, 262144)]
    return [match[1] if match else "" for match in found]


def main():
    kernels = sys.argv[1]
    if len(sys.argv) > 2:
        rank_of(sys.argv[2], int(sys.argv[3]), sys.argv[4], kernels)
        return
    for case, expected in {
        "ranges": (r"NCCL runs it, because .*not registered for this size", REGISTERED, r"NCCL runs it, because .*not registered for this size"),
        "function": (r"NCCL runs it, because the program's selector", REGISTERED, REGISTERED),
        "failing": (r"NCCL runs it, because the program's selector",) * 3,
    }.items():
        for text in run(case, kernels):
            found = runs(text)
            assert all(re.match(wanted, one) for wanted, one in zip(expected, found)), f"{case}: {found}\n{text}"
            assert case != "failing" or "ZeroDivisionError" in text, text
    for text in run("differ", kernels):  # NCCL runs all of it, and the results are right
        assert REGISTERED not in text, text


main()

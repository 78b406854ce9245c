"""Kernels on NumPy arrays, in host memory."""

import ctypes
import gc
import json
import os
import pathlib
import shutil
import subprocess
import sys
import weakref

import numpy as np
import pytest

import mscclc
from conftest import SAMPLES
from mscclc.arrays import memory_of


@pytest.fixture
def ranks():
    with mscclc.Communicator(2, platform="host", wait_timeout=20) as made:
        yield made


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint32", "uint8"])
def test_an_allreduce_of_each_type(ranks, allreduce, dtype):
    arrays = [np.arange(64, dtype=dtype).reshape(8, 8) + rank for rank in range(2)]
    expected = arrays[0] + arrays[1]
    assert ranks.run(allreduce, arrays) is allreduce
    assert all((array == expected).all() for array in arrays)


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint64", "int8"])
def test_types_that_a_kernel_is_baked_for(ranks, allreduce, dtype):
    arrays = [np.arange(64, dtype=dtype) + rank for rank in range(2)]
    with pytest.raises(mscclc.CallError, match="not compiled"):
        ranks.run(allreduce, [array.copy() for array in arrays])
    types = ",".join(["f64", "i64", "u64", "i8", "f8e4m3"])
    kernel = mscclc.Kernel.compile(
        SAMPLES / "allreduce_allpairs.cpp",
        params={"ranks": 2, "threadBlocks": 1},
        platform="host",
        options=["--dtype", types],
    )
    expected = arrays[0] + arrays[1]
    ranks.run(kernel, arrays)
    assert all((array == expected).all() for array in arrays)


def test_floats_of_8_bits(ranks):
    kernel = mscclc.Kernel.compile(
        pathlib.Path(__file__).parent / "allreduce_prod.cpp",
        params={"ranks": 2},
        platform="host",
        options=["--dtype", "f8e4m3,f8e5m2"],
    )
    bits = np.full(64, 0x40, np.uint8)  # 2
    for dtype, wanted in (("float8_e4m3fn", 0x48), ("float8_e5m2", 0x44)):  # 4
        arrays = [bits.copy(), bits.copy()]
        data = ranks.adopt(arrays)
        ranks.launch(kernel, data, message_bytes=64, dtype=dtype, op="prod")
        ranks.synchronize()
        assert all((array == wanted).all() for array in arrays)
        data.release()


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_averages(ranks, allreduce, dtype):
    arrays = [np.arange(-40, 24, dtype=dtype) + 3 * rank for rank in range(2)]
    expected = np.trunc((arrays[0] + arrays[1]) / 2) if dtype == "int32" else (arrays[0] + arrays[1]) / 2
    ranks.run(allreduce, arrays, op="avg")
    assert all((array == expected).all() for array in arrays)


def test_an_average_leaves_its_input_as_it_is(ranks):
    kernel = mscclc.Kernel.compile(SAMPLES / "reduce_chain.cpp", params={"ranks": 2}, platform="host")
    given = [np.arange(64, dtype=np.float32) + rank for rank in range(2)]
    made = [np.zeros(64, np.float32) for _ in range(2)]
    ranks.run(kernel, given, made, op="avg")
    assert (made[0] == np.arange(64) + 0.5).all()
    assert all((array == np.arange(64) + rank).all() for rank, array in enumerate(given))


def test_a_folder_of_kernels(ranks, allreduce, alltoall, selector, tmp_path, monkeypatch):
    for kernel in (allreduce, alltoall):
        shutil.copy(kernel.library, tmp_path / f"{kernel.name}.so")
    entry = {"min": 1, "max": 4096, "kernel": f"{allreduce.name}.so", "in_place": True}
    moves = {"min": 0, "max": 1 << 20, "kernel": f"{alltoall.name}.so", "name": alltoall.name}
    lists = [
        {"collective": "allreduce", "ranks": 2, "entries": [entry]},
        {"collective": "alltoall", "ranks": 2, "ranks_per_node": 2, "entries": [moves]},
        {"collective": "alltoall", "ranks": 4, "ranks_per_node": 2, "entries": [moves]},
    ]
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"version": 1, "collectives": lists}))
    monkeypatch.setenv("MSCCLC_KERNELS", str(tmp_path))
    assert [kernel.name for kernel in mscclc.register_folder(ranks=2)] == [allreduce.name, alltoall.name]
    arrays = [np.full(64, rank + 1, np.float32) for rank in range(2)]
    assert ranks.run("allreduce", arrays).library.parent == tmp_path
    assert (arrays[1] == 3).all()
    with pytest.raises(mscclc.NoKernelError):
        ranks.run("allreduce", [np.zeros(4096, np.float32) for _ in range(2)])
    for wrong, text in (
        ({"max": 0}, "sizes from 1 to 0"),
        ({"min": "1"}, "'min' is '1'; it must be int"),
        ({"types": ["f32", "float"]}, "'types' is .*'float'.*; it must be a list of f32, f16"),
        ({"types": []}, r"'types' is \[\]"),
        ({"types": [["f32"]]}, r"'types' is \[\['f32'\]\]"),
        ({"kernel": "../x.so"}, "is not within the folder"),
        ({"kernel": f"{alltoall.name}.so"}, "it is listed for another call"),
        ({"name": "nobody"}, "has 0 kernels 'nobody'"),
    ):
        manifest.write_text(json.dumps({"version": 1, **lists[0], "entries": [{**entry, **wrong}]}))
        with pytest.raises(ValueError, match=text):
            mscclc.register_folder(tmp_path)
    manifest.write_text("{")
    with pytest.raises(ValueError, match="manifest.json"):
        mscclc.register_folder(tmp_path)


def test_a_listed_kernel_is_for_its_types(ranks, allreduce, selector, tmp_path):
    shutil.copy(allreduce.library, tmp_path / "sum.so")
    entries = [
        {"min": 0, "max": 1 << 20, "kernel": "sum.so", "types": ["f32", "f16"]},
        {"min": 0, "max": 64, "kernel": "sum.so", "types": ["i32"]},
    ]
    manifest = {"version": 1, "collective": "allreduce", "ranks": 2, "entries": entries}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    mscclc.register_folder(tmp_path)
    cases = ((np.float32, 64, True), (np.int32, 16, True), (np.int32, 64, False), (np.uint8, 64, False))
    for dtype, count, runs in cases:
        arrays = [np.full(count, rank + 1, dtype) for rank in range(2)]
        if runs:
            ranks.run("allreduce", arrays)
            assert (arrays[0] == 3).all()
        else:
            with pytest.raises(mscclc.NoKernelError):
                ranks.run("allreduce", arrays)
    mscclc.register(allreduce, types=["uint8"])
    arrays = [np.full(64, rank + 1, np.uint8) for rank in range(2)]
    ranks.run("allreduce", arrays)
    assert (arrays[1] == 3).all()
    with pytest.raises(ValueError, match="no element type 'f32'"):
        mscclc.register(allreduce, types=["f32"])


def test_input_and_output(ranks, alltoall):
    given, made = [np.arange(8, dtype=np.float32) + 10 * rank for rank in range(2)], [
        np.zeros(8, np.float32) for _ in range(2)
    ]
    ranks.run(alltoall, given, made)
    assert [array.tolist() for array in made] == [[0, 1, 2, 3, 10, 11, 12, 13], [4, 5, 6, 7, 14, 15, 16, 17]]


def test_buffers_of_the_runtime(ranks, allreduce):
    data = ranks.allocate(4096)
    for rank in range(2):
        data.write(rank, np.full(1024, rank + 1, np.float32))
    for _ in range(3):  # launches follow each other
        ranks.launch(allreduce, data, message_bytes=4096, dtype="float32")
    ranks.synchronize()
    found = np.zeros(1024, np.float32)
    data.read(1, found)
    assert (found == 3 * 2 * 2).all()
    assert np.ctypeslib.as_array((ctypes.c_float * 1024).from_address(data.address(0))).max() == 12
    data.release()
    data.release()
    with pytest.raises(ValueError, match="released"):
        data.read(0, found)


def test_launches_of_an_unchained_communicator(allreduce, monkeypatch):
    seen = []
    create = mscclc.abi.runtime().mscclc_communicator_create
    monkeypatch.setattr(
        mscclc.abi.runtime(),
        "mscclc_communicator_create",
        lambda options, made: (seen.append(options._obj.unchained), create(options, made))[1],
    )
    for unchained in (False, True):
        with mscclc.Communicator(2, platform="host", wait_timeout=20, unchained=unchained) as ranks:
            arrays = [np.full(64, rank + 1, np.float32) for rank in range(2)]
            ranks.run(allreduce, arrays)
            assert (arrays[0] == 3).all()
    assert seen == [0, 1]


def test_adopted_arrays_stay_alive(allreduce):
    with mscclc.Communicator(2, platform="host", wait_timeout=20) as ranks:
        alive = []
        for _ in range(2):
            arrays = [np.full(64, rank + 1, np.float32) for rank in range(2)]
            alive.append([weakref.ref(array) for array in arrays])
            data = ranks.adopt(arrays)
            del arrays
            ranks.launch(allreduce, data, message_bytes=256, dtype=data.dtype)
            if len(alive) == 1:
                data.release()
            del data
            gc.collect()
        assert [[ref() is not None for ref in refs] for refs in alive] == [[False, False], [True, True]]
        ranks.synchronize()
        assert (alive[1][0]() == 3).all()
    assert alive[1][0]() is None and alive[1][1]() is None


def test_a_larger_message_loads_the_kernel_anew(ranks, allreduce):
    for count in (64, 1 << 16, 128):
        arrays = [np.full(count, rank + 1, np.float32) for rank in range(2)]
        ranks.run(allreduce, arrays)
        assert (arrays[0] == 3).all() and (arrays[1] == 3).all()
    assert ranks.holds(allreduce, 4 << 16) and not ranks.holds(allreduce, 8 << 16)


class Exported:
    """An array that speaks only one protocol."""

    def __init__(self, array, **members):
        self.array = array
        for name, value in members.items():
            setattr(self, name, value)


def test_dlpack(ranks, allreduce):
    arrays = [np.full(64, rank + 1, np.float32) for rank in range(2)]
    ranks.run(allreduce, [Exported(array, __dlpack__=array.__dlpack__) for array in arrays])
    assert (arrays[0] == 3).all()
    half = np.zeros((2, 3), np.uint8)
    memory = memory_of(Exported(half, __dlpack__=half.__dlpack__))
    assert (memory.address, memory.bytes, memory.dtype, memory.on_host) == (half.ctypes.data, 6, "uint8", True)


def test_arrays_of_devices():
    array = np.zeros(4, np.float32)
    interface = dict(array.__array_interface__, strides=None)
    memory = memory_of(Exported(array, __cuda_array_interface__=interface))
    assert (memory.address, memory.bytes, memory.on_host) == (array.ctypes.data, 16, False)
    with mscclc.Communicator(2, platform="host") as ranks, pytest.raises(ValueError, match="on a device"):
        ranks.adopt([Exported(array, __cuda_array_interface__=interface)] * 2)


def test_a_run_on_devices_waits_for_the_arrays(allreduce, monkeypatch):
    made = []
    with mscclc.Communicator(2, platform="host", devices=[1, 0], wait_timeout=20) as ranks:
        arrays = [np.zeros(64, np.float32) for _ in range(2)]
        given = [Exported(array, __cuda_array_interface__=array.__array_interface__) for array in arrays]

        def synchronize(numbers):
            made.append(list(numbers))
            for rank, array in enumerate(arrays):
                array[:] = rank + 1  # what the streams of the caller had still to do

        monkeypatch.setattr(mscclc.devices, "synchronize", synchronize)
        ranks.on_host = False
        ranks.run(allreduce, given)
        ranks.on_host = True
    assert made == [[1, 0]] and (arrays[0] == 3).all() and (arrays[1] == 3).all()


DRIVER = """
#include <stdio.h>
static int step(const char *name, int of) { printf("%s %d\\n", name, of); fflush(stdout); return 0; }
int cuInit(unsigned flags) { return step("init", flags); }
int cuDeviceGet(int *device, int number) { *device = number + 10; return step("device", number); }
int cuDevicePrimaryCtxRetain(void **made, int device) { *made = (void *)(long)device; return step("retain", device); }
int cuDevicePrimaryCtxRelease_v2(int device) { return step("release", device); }
int cuCtxPushCurrent_v2(void *context) { return step("push", (long)context); }
int cuCtxPopCurrent_v2(void **context) { return step("pop", (long)*context); }
int cuCtxSynchronize(void) { static int calls; step("synchronize", 0); return calls++ == 2 ? 700 : 0; }
"""


def test_devices_are_waited_for(monkeypatch, tmp_path, capfd):
    (tmp_path / "driver.c").write_text(DRIVER)
    subprocess.run(["cc", "-shared", "-fPIC", "driver.c", "-o", "driver.so"], cwd=tmp_path, check=True)
    load = ctypes.CDLL
    monkeypatch.setattr(ctypes, "CDLL", lambda name: load(str(tmp_path / {"libcuda.so.1": "driver.so"}[name])))
    mscclc.devices.synchronize([1, 0, 1])
    each = ["device {0}", "retain 1{0}", "push 1{0}", "synchronize 0", "pop 1{0}", "release 1{0}"]
    assert capfd.readouterr().out.splitlines() == ["init 0"] + [line.format(d) for d in (0, 1) for line in each]
    with pytest.raises(mscclc.Error, match="cuCtxSynchronize.*error 700"):
        mscclc.devices.synchronize([0])
    assert capfd.readouterr().out.splitlines()[-2:] == ["pop 10", "release 10"]


def read_only():
    array = np.zeros(8, np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "array, error, text",
    [
        (np.zeros(8, np.complex64), TypeError, "complex64"),
        (np.zeros(8, ">f4"), TypeError, "there are float32"),
        (np.zeros(8, bool), TypeError, "bool"),
        (np.zeros((4, 4), np.float32)[:, :2], ValueError, "contiguous"),
        (np.zeros((4, 4), np.float32).T, ValueError, "contiguous"),
        (read_only(), ValueError, "read-only"),
        (Exported(0, __dlpack__=np.zeros(8, np.int16).__dlpack__), TypeError, "DLPack"),
        (Exported(0, __dlpack__=np.zeros((4, 4), np.float32).T.__dlpack__), ValueError, "contiguous"),
        ([1.0, 2.0], TypeError, "list is no array"),
    ],
)
def test_what_is_no_memory_for_a_kernel(ranks, array, error, text):
    with pytest.raises(error, match=text):
        ranks.adopt([array, array])


def test_arrays_that_do_not_fit(ranks, allreduce, alltoall):
    a, b = np.zeros(8, np.float32), np.zeros(16, np.float32)
    for arrays, text in (
        ([a], "2 arrays are needed"),
        ([a, b], "rank 1 has 64 bytes"),
        ([a, a.astype(np.int32)], "int32"),
        (a, "2 arrays are needed"),
    ):
        with pytest.raises(ValueError, match=text):
            ranks.run(allreduce, arrays)
    with pytest.raises(ValueError, match="in place: pass no output"):
        ranks.run(allreduce, [a, a.copy()], [b, b.copy()])
    with pytest.raises(ValueError, match="pass an output"):
        ranks.run(alltoall, [a, a.copy()])
    with pytest.raises(ValueError, match="makes 32 bytes of output"):
        ranks.run(alltoall, [a, a.copy()], [b, b.copy()])
    with pytest.raises(mscclc.CallError, match="MSCCLC_ERROR_SIZE.*no multiple"):
        ranks.run(alltoall, *([np.zeros(7, np.float32) for _ in range(2)] for _ in range(2)))
    with pytest.raises(ValueError, match="no operation 'mean'"):
        ranks.run(allreduce, [a, a.copy()], op="mean")
    with pytest.raises(mscclc.CallError, match="max"):
        ranks.run(allreduce, [a, a.copy()], op="max")
    with mscclc.Communicator(3, platform="host") as three, pytest.raises(ValueError, match="of 3 ranks"):
        three.run(allreduce, [np.zeros(8, np.float32) for _ in range(3)])
    ranks.run(allreduce, [a, a.copy()])  # none of this did harm


def test_registered_kernels_are_picked(ranks, allreduce, alltoall, selector):
    arrays = [np.full(64, rank + 1, np.float32) for rank in range(2)]
    with pytest.raises(mscclc.NoKernelError, match="of 0"):
        ranks.run("allreduce", arrays)
    mscclc.register(allreduce, max_bytes=1024, tags=["small"])
    mscclc.register(alltoall)
    assert ranks.run("allreduce", arrays, tags=["small"]) is allreduce
    for arguments, text in (({"op": "max"}, "operation max"), ({"tags": ["large"]}, "no tag large")):
        with pytest.raises(mscclc.NoKernelError, match=text):
            ranks.run("allreduce", arrays, **arguments)
    with pytest.raises(mscclc.NoKernelError, match="chosen for 0 to 1024 bytes|chosen for"):
        ranks.run("allreduce", [np.zeros(1024, np.float32) for _ in range(2)])
    with pytest.raises(ValueError, match="messages of 5 to 4"):
        mscclc.register(allreduce, min_bytes=5, max_bytes=4)


def test_a_function_picks(ranks, allreduce, selector):
    arrays, asked = [np.full(64, rank + 1, np.float32) for rank in range(2)], []
    mscclc.register(allreduce)

    def choose(query, kernels):
        asked.append((query.collective, query.bytes, query.dtype, kernels))
        return kernels[0] if query.op == "sum" else None

    mscclc.set_selector(choose)
    assert ranks.run("allreduce", arrays) is allreduce
    assert asked == [("allreduce", 256, "float32", [allreduce])]
    mscclc.set_selector(lambda query, kernels: None)
    with pytest.raises(mscclc.NoKernelError, match="takes none"):
        ranks.run("allreduce", arrays)
    mscclc.set_selector(lambda query, kernels: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        ranks.run("allreduce", arrays)
    mscclc.set_selector(None)
    assert ranks.run("allreduce", arrays) is allreduce


def test_a_kernel_tells_what_it_is(allreduce, alltoall):
    assert (allreduce.name, allreduce.collective, allreduce.ranks) == ("allreduce_allpairs", "allreduce", 2)
    assert allreduce.in_place and not alltoall.in_place and allreduce.root is None and allreduce.platform == "host"
    assert (alltoall.input_bytes(0, 4096), alltoall.output_bytes(1, 4096)) == (4096, 4096)
    assert allreduce.library.with_suffix(".cu").read_text().count("mscclc_register_allreduce_allpairs")


def test_libraries_are_cached_by_content(allreduce, monkeypatch, tmp_path):
    again = mscclc.Kernel.compile(
        SAMPLES / "allreduce_allpairs.cpp", params={"ranks": 2, "threadBlocks": 1}, platform="host"
    )
    assert again.library == allreduce.library and again.library.parent == mscclc.cache_folder()
    other = tmp_path / "g++"
    other.write_text("#!/bin/sh\n[ $1 = --version ] && exec c++ --version\necho 'another compiler' >&2\nexit 1\n")
    other.chmod(0o755)
    text = allreduce.library.with_suffix(".cu").read_text()
    monkeypatch.setenv("MSCCLC_CACHE", str(tmp_path / "cache"))  # where nobody else builds at the same time
    for compiler, error in ((other, "another compiler"), (tmp_path / "gone", "CXX names")):
        monkeypatch.setenv("CXX", str(compiler))
        with pytest.raises(mscclc.BuildError, match=error):
            mscclc.kernels.build_library(text, "host")
    assert not list((tmp_path / "cache").glob("*"))


@pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is not on the PATH")
def test_a_kernel_for_cuda_is_built(allreduce):
    kernel = mscclc.Kernel.compile(SAMPLES / "sendrecv.cpp", params={"ranks": 2}, platform="cuda")
    assert kernel.platform == "cuda" and kernel.library.exists()
    with mscclc.Communicator(2, platform="host") as ranks:
        with pytest.raises(mscclc.CallError, match="built for CUDA devices"):
            ranks.run(kernel, *([np.zeros(8, np.float32) for _ in range(2)] for _ in range(2)))


def test_libraries_without_kernels(tmp_path):
    for path, text in ((tmp_path / "gone.so", "gone.so"), (pathlib.Path(ctypes.__file__), "ELF")):
        with pytest.raises(mscclc.CallError, match=f"MSCCLC_ERROR_LOAD.*{text}"):
            mscclc.Kernel.load(path)
    with pytest.raises(ValueError, match="no platform 'gpu'"):
        mscclc.Kernel.compile(SAMPLES / "sendrecv.cpp", platform="gpu")


def test_a_plan_becomes_a_kernel(ranks, tmp_path):
    plan = mscclc.compile(SAMPLES / "alltoall.cpp", params={"ranks": 2})
    assert mscclc.Kernel.compile(plan, platform="host").collective == "alltoall"


def test_a_closed_communicator(allreduce):
    ranks = mscclc.Communicator(2, platform="host")
    data = ranks.allocate(64)
    ranks.close()
    ranks.close()
    for call in (
        ranks.synchronize,
        lambda: ranks.allocate(8),
        lambda: data.address(0),
        lambda: ranks.run(allreduce, [np.zeros(8, np.float32)] * 2),
    ):
        with pytest.raises(ValueError, match="closed"):
            call()
    data.release()


def test_an_aborted_communicator(ranks, allreduce):
    arrays = [np.ones(64, np.float32) for _ in range(2)]
    ranks.abort("enough")
    assert not ranks.healthy
    with pytest.raises(mscclc.CallError, match="MSCCLC_ERROR_ABORTED.*enough") as caught:
        ranks.run(allreduce, arrays)
    assert caught.value.code == 109
    ranks.reset()
    ranks.run(allreduce, arrays)
    assert (arrays[0] == 2).all()


def test_wrong_arguments_of_a_communicator():
    for arguments, text in (
        ({"ranks": 0}, "^ranks must be at least 1, not 0$"),
        ({"ranks": 2, "first_local_rank": -1}, "^2 ranks, of these all here from rank -1 on$"),
        ({"ranks": 2, "devices": [0]}, "1 devices"),
        ({"ranks": 2, "platform": "tpu"}, "no platform 'tpu'"),
        ({"ranks": 3, "local_ranks": 2, "allgather": list}, "as many ranks"),
    ):
        with pytest.raises(ValueError, match=text):
            mscclc.Communicator(**arguments)
    with pytest.raises(mscclc.CallError, match="no rendezvous"):
        mscclc.Communicator(2, local_ranks=1, platform="host")

    def broken(_own):
        raise KeyError("no peers")

    with pytest.raises(mscclc.CallError) as caught:
        mscclc.Communicator(2, local_ranks=1, platform="host", allgather=broken)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.skipif(not os.environ.get("MSCCLC_TEST_NCCL"), reason="MSCCLC_TEST_NCCL names no fake NCCL")
def test_a_communicator_of_nccl(allreduce, tmp_path):
    fake = ctypes.CDLL(os.environ["MSCCLC_TEST_NCCL"])
    fake.ncclFakeInit.restype = ctypes.c_void_p
    comms = [fake.ncclFakeInit(str(tmp_path / "board").encode(), 2, rank) for rank in range(2)]
    with mscclc.Communicator.from_nccl(comms, library=fake._handle, platform="host", wait_timeout=20) as ranks:
        assert (ranks.ranks, ranks.local_ranks) == (2, range(2))
        arrays = [np.full(64, rank + 1, np.float32) for rank in range(2)]
        ranks.run(allreduce, arrays)
        assert all((array == 3).all() for array in arrays)
    with pytest.raises(ValueError, match="of these 1 null"):
        mscclc.Communicator.from_nccl([comms[0], 0], library=fake._handle)
    with pytest.raises(mscclc.CallError, match="but it must be of rank"):
        mscclc.Communicator.from_nccl([comms[0], comms[0]], library=fake._handle, platform="host")


PROCESS = """
import os, sys, numpy as np, mscclc
rank, mode, meet = int(sys.argv[1]), sys.argv[2], sys.argv[3]
kernel = mscclc.Kernel.compile(sys.argv[4], params={"ranks": 2, "threadBlocks": 1}, platform="host")
with mscclc.Communicator(2, first_local_rank=rank, local_ranks=1, platform="host", rendezvous=meet,
                         setup_timeout=20) as ranks:
    array = np.full(64, rank + 1, np.float32)
    ranks.run(kernel, [array])
    assert (array == 3).all()
    if rank == 1 and mode == "dies":
        os._exit(7)
    if rank == 1 and mode == "raises":
        raise ValueError("something of the program's own")
    if mode != "ends":
        ranks.run(kernel, [array])
"""


@pytest.mark.parametrize("mode, error", [("ends", ""), ("dies", "MSCCLC_ERROR_PEER_LOST"), ("raises", "rank 1")])
def test_processes(allreduce, tmp_path, mode, error):
    command = [sys.executable, "-c", PROCESS]
    both = [
        subprocess.Popen(
            [*command, str(rank), mode, str(tmp_path / "meet"), str(SAMPLES / "allreduce_allpairs.cpp")],
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    errors = [process.communicate(timeout=60)[1] for process in both]
    assert error in errors[0] and (both[0].returncode == 0) == (mode == "ends"), errors[0]
    assert both[1].returncode == {"ends": 0, "dies": 7, "raises": 1}[mode], errors[1]

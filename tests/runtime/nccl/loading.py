#!/usr/bin/env python3
"""How programs load the library in NCCL's place: by ctypes and by a run path; with a second NCCL; one rank a process.

usage: loading.py SHIM FUNCTIONS [--cc CC] [--malloc LIBRARY] [--nccl LIBRARY] CASE

SHIM is the library, FUNCTIONS the list of NCCL's functions (functions.def). The environment is mscclc_nccl_environment's,
with LIBRARIES for LD_PRELOAD: what a case needs loaded it loads in processes of its own."""
import argparse
import ctypes
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FAKE, FAKE_NCCL = os.environ["LIBRARIES"].split(":")[0], os.environ["MSCCLC_NCCL_LIB_PATH"]


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]


def again(arguments, preload, **more):
    """Runs this script in a process of its own."""
    environment = {**os.environ, "LD_PRELOAD": preload, "MSCCLC_DEBUG": "INFO", **more}
    command = [sys.executable, __file__, *sys.argv[1:-1], *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def expect(process, *texts, code=0):
    out, err = process.communicate(timeout=100)
    missing = [text for text in texts if not re.search(text, out + err)]
    if process.returncode != code or missing:
        sys.exit(f"exit {process.returncode}, without {missing}:\n{out}{err}")


def by_ctypes(_):
    """The library is loaded as vLLM and SGLang load NCCL. All functions are there, by both names."""
    expect(again(["load"], os.environ["LIBRARIES"]), "version 22705")


def load(options):
    library = ctypes.CDLL("libnccl.so.2")
    rows = re.findall(r"^(OWN|REAL|CALL|JUMP|ASKED)\((\w+)", pathlib.Path(options.functions).read_text(), re.M)
    names = [name for _, name in rows] + [name + "Config" for kind, name in rows if kind == "CALL"]
    assert len(names) > 90, names
    for name in names + ["p" + name for name in names] + ["mscclc_nccl_set_selector"]:
        getattr(library, name)
    version = ctypes.c_int()
    assert library.ncclGetVersion(ctypes.byref(version)) == 0
    # What the fake NCCL does not have fails, and says so.
    assert library.ncclCommGrow() == 5
    print("version", version.value)


def by_run_path(options):
    """A program with DT_RPATH, as in PyTorch's wheels: the real library is the next one on its way."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "ours").mkdir()
        (folder / "real").mkdir()
        (folder / "ours" / "libnccl.so.2").symlink_to(options.shim)
        (folder / "real" / "libnccl.so.2").symlink_to(FAKE_NCCL)
        (folder / "program.c").write_text("""
#include <stdio.h>
int ncclGetVersion(int *);
const char *ncclGetErrorString(int);
int main(void) {
  int version = 0;
  return ncclGetVersion(&version) != 0 || printf("version %d, %s\\n", version, ncclGetErrorString(0)) < 0;
}
""")
        subprocess.run([options.cc, str(folder / "program.c"), str(folder / "ours" / "libnccl.so.2"),
                        "-Wl,--disable-new-dtags", f"-Wl,-rpath,{folder}/ours:{folder}/real",
                        "-Wl,--allow-shlib-undefined", "-o", str(folder / "program")], check=True)
        environment = {**os.environ, "LD_PRELOAD": FAKE, "MSCCLC_DEBUG": "INFO"}
        for variable, text in ((None, f"the real NCCL is {folder}/real/libnccl.so.2"),
                               (FAKE_NCCL, f"the real NCCL is {FAKE_NCCL}")):
            environment.pop("MSCCLC_NCCL_LIB_PATH")
            if variable:
                environment["MSCCLC_NCCL_LIB_PATH"] = variable
            expect(subprocess.Popen([str(folder / "program")], env=environment, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True), "version 22705, no error", re.escape(text))
            environment["MSCCLC_NCCL_LIB_PATH"] = ""


def without_nccl(_):
    """Paths that lead nowhere are refused with a reason, and nothing crashes."""
    for path, text in (("relative.so", "it must be an absolute path"), ("/nowhere/x.so", "there is no such file"),
                       (sys.argv[1], "which is this library")):
        expect(again(["refused"], os.environ["LIBRARIES"], MSCCLC_NCCL_LIB_PATH=path), "refused 5", text)


def two_nccls(_):
    expect(again(["refused", ], os.environ["LIBRARIES"], SECOND="1"), "refused 5", "two NCCLs in one process: ")


def refused(_):
    """A communicator is refused; with SECOND, because another NCCL was loaded."""
    library = ctypes.CDLL("libnccl.so.2")
    with tempfile.TemporaryDirectory() as folder:
        if os.environ.get("SECOND"):
            ctypes.CDLL(shutil.copy(FAKE_NCCL, folder + "/libnccl-other.so"))
        comm = ctypes.c_void_p()
        print("refused", library.ncclCommInitRank(ctypes.byref(comm), 1, UniqueId(), 0))


def unique(_):
    """Without a device, a program gets from NCCL an id, and an error that says why there is no communicator."""
    library = ctypes.CDLL("libnccl.so.2")
    library.ncclGetErrorString.restype = library.ncclGetLastError.restype = ctypes.c_char_p
    version, comm, own = ctypes.c_int(), ctypes.c_void_p(), UniqueId()
    library.ncclGetVersion(ctypes.byref(version))
    made = library.ncclGetUniqueId(ctypes.byref(own))
    result = library.ncclCommInitRank(ctypes.byref(comm), 2, own, 7)
    print("answers", version.value, made, any(bytes(own)), result, library.ncclGetErrorString(result),
          library.ncclGetLastError(None))


def with_malloc(options):
    """With another malloc in the process: the library and the real NCCL take their memory from the same one."""
    expect(again(["unique"], f"{os.environ['LIBRARIES']}:{options.malloc}"), "answers 22705 0 True 4 ")


def real(options):
    """In front of a real NCCL: it answers as without the library, also with another malloc in the process."""
    alone = again(["unique"], options.nccl)
    out, err = alone.communicate(timeout=100)
    answers = re.search(r"^answers .*$", out, re.M)
    if alone.returncode != 0 or not answers:
        sys.exit(f"NCCL alone: exit {alone.returncode}:\n{out}{err}")
    for malloc in ["", *([options.malloc] if options.malloc else [])]:
        expect(again(["unique"], f"{options.shipped}:{malloc}", MSCCLC_NCCL_LIB_PATH=options.nccl),
               re.escape(f"the real NCCL is {options.nccl}"), re.escape(answers.group()))
    print(answers.group(), "with", options.malloc or "no other malloc")


def processes(_):
    """Two ranks, each in a process."""
    with tempfile.TemporaryDirectory() as folder:
        ranks = [again(["rank"], os.environ["LIBRARIES"], RANK=str(rank), ID=folder + "/id") for rank in range(2)]
        for rank in ranks:
            expect(rank, "allreduce of 4000 bytes of f32, sum, 2 ranks: kernel 'allreduce_packets'", "right",
                   "allreduce of 8000 bytes of f64, sum, 2 ranks: NCCL")


def killed(_):
    """One of two ranks is killed while a child of it lives: the other one hears of it, with the reason, and can abort."""
    with tempfile.TemporaryDirectory() as folder:
        ranks = [again(["rank"], os.environ["LIBRARIES"], RANK=str(rank), ID=folder + "/id", KILLED="1")
                 for rank in range(2)]
        expect(ranks[1], code=-9)
        reason = r"process \d+ \(rank 1\) ended"
        expect(ranks[0], f"mscclc: a communicator has failed: {reason}", f"state 6, {reason}",
               "cause: rank 1 died: its process has ended", "call 6", r"aborted in 0\.\d s")


def windows(_):
    """Two ranks in processes with data in windows: each maps the other's window, and unmaps it."""
    with tempfile.TemporaryDirectory() as folder:
        ranks = [again(["rank"], os.environ["LIBRARIES"], RANK=str(rank), ID=folder + "/id", WINDOWS="3")
                 for rank in range(2)]
        for rank in ranks:
            expect(rank, "allreduce of 4000 bytes of f32, sum, 2 ranks: on the program's memory", "right")


def installed(options):
    """Loads the library from an installed prefix, where the kernels are beside it."""
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder, "prefix", "lib", "mscclc")
        prefix.mkdir(parents=True)
        (prefix / "kernels").symlink_to(os.environ["MSCCLC_KERNELS"])
        library = shutil.copy(options.shim, prefix)
        ranks = [again(["rank"], f"{FAKE}:{library}", RANK=str(rank), ID=folder + "/id", MSCCLC_KERNELS="")
                 for rank in range(2)]
        for rank in ranks:
            expect(rank, f"kernels come from {re.escape(str(prefix))}/kernels",
                   "allreduce of 4000 bytes of f32, sum, 2 ranks: kernel 'allreduce_packets'", "right")


def folders(_):
    """Two ranks in processes have different folders of kernels, one of them none. They meet, and NCCL runs all calls.
    """
    with tempfile.TemporaryDirectory() as folder:
        ranks = [again(["rank"], os.environ["LIBRARIES"], RANK=str(rank), ID=folder + "/id",
                       **({"MSCCLC_KERNELS": folder} if rank else {})) for rank in range(2)]
        for rank in ranks:
            expect(rank, "NCCL runs its calls, because the ranks have different kernels, windows or versions", "right")


def folder_of(folder, source="kernels", change=None, sha256=None, most=1 << 18):
    """Makes a folder with one kernel, for messages of up to `most` bytes. `change` may modify its file."""
    folder = pathlib.Path(folder)
    folder.mkdir()
    file = "allreduce_packets_2.so"
    content = (pathlib.Path(os.environ["MSCCLC_KERNELS"]).parent / source / file).read_bytes()
    entry = {"min": 0, "max": most, "in_place": True, "kernel": file, "name": "allreduce_packets"}
    if sha256:
        entry["sha256"] = hashlib.sha256(content).hexdigest()
    (folder / file).write_bytes(change(content) if change else content)
    (folder / "manifest.json").write_text(json.dumps(
        {"version": 1, "collectives": [{"collective": "allreduce", "ranks": 2, "entries": [entry]}]}))
    return str(folder)


def two_ranks(folder, kernels, texts):
    """Runs two ranks, each with a folder of kernels, and checks what each of them prints."""
    ranks = [again(["rank"], os.environ["LIBRARIES"], RANK=str(rank), ID=f"{folder}/id", MSCCLC_KERNELS=kernels[rank])
             for rank in range(2)]
    for rank, expected in zip(ranks, texts):
        expect(rank, *expected, "right")


OURS = "allreduce of 4000 bytes of f32, sum, 2 ranks: kernel 'allreduce_packets'"
DIFFERENT = "NCCL runs its calls, because the ranks have different kernels, windows or versions"


def window(_):
    """Windows are as large as the listed sizes need, or of 64 MiB for a kernel of any size."""
    for most, needed in ((1 << 18, 1 << 18), (100 << 20, 100 << 20), (1 << 40, 64 << 20)):
        with tempfile.TemporaryDirectory() as folder:
            kernels = folder_of(f"{folder}/kernels", most=most)
            ranks = [again(["rank"], os.environ["LIBRARIES"], RANK=str(rank), ID=f"{folder}/id", MSCCLC_KERNELS=kernels,
                           MSCCLC_WINDOW="") for rank in range(2)]
            for rank in ranks:
                expect(rank, f"1 kernels for 2 ranks, with windows of {needed} bytes", OURS, "right")


def other_forms(_):
    """One rank's kernel is compiled for other types. The list is the same, but no rank runs the kernel."""
    with tempfile.TemporaryDirectory() as folder:
        same = [folder_of(f"{folder}/{rank}") for rank in range(2)]
        two_ranks(folder, same, [[OURS], [OURS]])
        other = folder_of(f"{folder}/other", "other")
        pathlib.Path(folder, "id").unlink()
        two_ranks(folder, [same[0], other], [[DIFFERENT], [DIFFERENT]])


def files(_):
    """One rank's file is truncated, or is not the listed one. It is not mapped, and both ranks use NCCL."""
    with tempfile.TemporaryDirectory() as folder:
        for name, change, text in (("half", lambda content: content[:len(content) // 2], "the file is not whole: "),
                                   ("none", lambda content: b"", "file too short"),
                                   ("text", lambda content: b"no library", "(file too short|invalid ELF header)")):
            well, bad = folder_of(f"{folder}/{name}-0"), folder_of(f"{folder}/{name}-1", change=change)
            two_ranks(folder, [well, bad], [[DIFFERENT], [DIFFERENT, f"{name}-1.*{text}.*NCCL runs what it is listed for"]])
            pathlib.Path(folder, "id").unlink()
        well = [folder_of(f"{folder}/well-{rank}", sha256=True) for rank in range(2)]
        two_ranks(folder, well, [[OURS], [OURS]])
        pathlib.Path(folder, "id").unlink()
        bad = folder_of(f"{folder}/changed", change=lambda content: content + b"x", sha256=True)
        two_ranks(folder, [well[0], bad], [[DIFFERENT], [DIFFERENT, "changed/.* is not the file that is listed: its sha256 is "]])


def by_path(options):
    """Loaded by path and with RTLD_LOCAL, as by VLLM_NCCL_SO_PATH: kernels find no registry by its name."""
    with tempfile.TemporaryDirectory() as folder:
        ranks = [again(["rank"], FAKE, RANK=str(rank), ID=f"{folder}/id", LIBRARY=options.shim) for rank in range(2)]
        for rank in ranks:
            expect(rank, OURS, "right")


def two_runtimes(options):
    """If the program uses another runtime, the library's own is refused. The message names both."""
    runtime = re.search(r"libmscclc_runtime\.so\.0 => (\S+)", subprocess.run(["ldd", options.shim], check=True, text=True,
                                                                          capture_output=True).stdout).group(1)
    with tempfile.TemporaryDirectory() as folder:
        other = shutil.copy(runtime, f"{folder}/libother.so")
        ranks = [again(["rank"], FAKE, RANK=str(rank), ID=f"{folder}/id", LIBRARY=options.shim, RUNTIME=other)
                 for rank in range(2)]
        for rank in ranks:
            expect(rank, f"two runtimes of mscclc in one process: {re.escape(other)} is in use, and this is "
                   f"{re.escape(os.path.dirname(runtime))}/.*NCCL runs what it is listed for", "right")


def without_cuda(options):
    """Every program starts without a library of CUDA on the loader's path. If CUDA does not start, NCCL runs all calls,
    and one line says so."""
    for library in (options.shipped, subprocess.run(["ldd", options.shipped], check=True, text=True,
                                                    capture_output=True).stdout.split("libmscclc_runtime.so.0 => ")[1]
                    .split()[0]):
        needed = subprocess.run(["readelf", "-dW", library], check=True, text=True, capture_output=True).stdout
        assert not re.search(r"NEEDED.*(cuda|nvidia|nccl)", needed), needed
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run(["true"], env={**environment, "LD_PRELOAD": options.shipped}, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
    with tempfile.TemporaryDirectory() as folder:
        ranks = [again(["rank"], os.environ["LIBRARIES"], RANK=str(rank), ID=f"{folder}/id", CUDA_FAKE_FAILS="cudaGetDeviceCount")
                 for rank in range(2)]
        for rank in ranks:
            expect(rank, "^((?!kernel ')[^$])*$", "mscclc: CUDA does not start in this library: .*; NCCL runs every call",
                   "right")


def rank(_):
    library = ctypes.CDLL(os.environ.get("LIBRARY", "libnccl.so.2"))
    if "RUNTIME" in os.environ: # after the library's: the loader takes a runtime that is there for one of that name
        other = ctypes.CDLL(os.environ["RUNTIME"])
        kernel = os.environ["MSCCLC_KERNELS"] + "/allreduce_packets_2.so"
        assert other.mscclc_load_library(kernel.encode(), None, 0, None) == 0
    cuda, self = ctypes.CDLL(FAKE), int(os.environ["RANK"])
    place = pathlib.Path(os.environ["ID"])
    unique = UniqueId()
    if self == 0:
        library.ncclGetUniqueId(ctypes.byref(unique))
        (place.parent / "new").write_bytes(bytes(unique))
        (place.parent / "new").rename(place)
    while not place.exists():
        pass
    unique = UniqueId.from_buffer_copy(place.read_bytes())
    comm, stream = ctypes.c_void_p(), ctypes.c_void_p()
    cuda.cudaSetDevice(self)
    cuda.cudaStreamCreateWithFlags(ctypes.byref(stream), 1)
    assert library.ncclCommInitRank(ctypes.byref(comm), 2, unique, self) == 0
    windows = int(os.environ.get("WINDOWS", 0))
    mappings = []
    for number, kind in ((7, ctypes.c_float), (8, ctypes.c_double)) if not windows else [(7, ctypes.c_float)] * windows:
        memory, window = ctypes.c_void_p(), ctypes.c_void_p()
        if windows:
            assert library.ncclMemAlloc(ctypes.byref(memory), ctypes.c_size_t(8000)) == 0
            assert library.ncclCommWindowRegister(comm, memory, ctypes.c_size_t(8000), ctypes.byref(window), 1) == 0
        else:
            cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(8000))
        values = (kind * 1000).from_address(memory.value)
        for i in range(1000):
            values[i] = i + self
        assert library.ncclAllReduce(memory, memory, ctypes.c_size_t(1000), number, 0, comm, stream) == 0
        cuda.cudaStreamSynchronize(stream)
        assert list(values) == [2 * i + 1 for i in range(1000)]
        if windows:
            mappings.append(cuda.cudaFakeCalls(b"MemMap") - cuda.cudaFakeCalls(b"MemUnmap"))
            assert library.ncclCommWindowDeregister(comm, window) == 0 and library.ncclMemFree(memory) == 0
        else:
            cuda.cudaFree(memory)
    if "KILLED" in os.environ:
        return survive(library, cuda, comm, stream) if self == 0 else die()
    assert library.ncclCommDestroy(comm) == 0
    # A call on a new window comes with the end of what was mapped of those before.
    assert mappings == mappings[:1] * windows, mappings
    print("right")


def die():
    if os.fork() == 0:
        for file in range(3):
            os.close(file)  # whoever runs the test waits for their end
        time.sleep(8)
        os._exit(0)
    os.kill(os.getpid(), signal.SIGKILL)


def survive(library, cuda, comm, stream):
    library.ncclGetLastError.restype = ctypes.c_char_p
    state = ctypes.c_int(0)
    for _ in range(300):
        assert library.ncclCommGetAsyncError(comm, ctypes.byref(state)) == 0
        if state.value:
            break
        time.sleep(0.01)
    print(f"state {state.value}, {library.ncclGetLastError(comm).decode()}")
    memory = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(8000))
    print("call", library.ncclAllReduce(memory, memory, ctypes.c_size_t(1000), 7, 0, comm, stream))
    begin = time.monotonic()
    assert library.ncclCommAbort(comm) == 0
    print(f"aborted in {time.monotonic() - begin:.1f} s")


def main():
    cases = {case.__name__: case for case in (by_ctypes, load, by_run_path, without_nccl, two_nccls, refused, unique,
                                              with_malloc, real, processes, windows, installed, folders, other_forms, files, by_path,
                                              two_runtimes, without_cuda, window, killed, rank)}
    parser = argparse.ArgumentParser()
    parser.add_argument("shim")
    parser.add_argument("functions")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--shipped", help="the library as it is installed: without the fake CUDA")
    parser.add_argument("--malloc", help="a library with another malloc")
    parser.add_argument("--nccl", help="a real NCCL")
    parser.add_argument("case", choices=cases)
    options = parser.parse_args()
    cases[options.case](options)


main()

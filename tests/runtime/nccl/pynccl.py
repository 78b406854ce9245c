#!/usr/bin/env python3
"""Programs that bind NCCL by ctypes, as vLLM and SGLang do: two ranks, each in a process, call every function that such
a wrapper binds.

usage: pynccl.py [--wrapper FILE]

FILE is a `pynccl_wrapper.py` of a wheel of vLLM or SGLang; what it imports is replaced by modules with nothing in them.
Without it a list of our own of the same functions is bound. They bind it once preloaded and once by its path. The environment is mscclc_nccl_environment's, with LIBRARIES
for LD_PRELOAD."""
import argparse
import ctypes
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import types

FAKE, *_, SHIM = os.environ["LIBRARIES"].split(":")
COUNT = 1024
FLOAT, SUM, AVG, SYMMETRIC = 7, 0, 4, 1
INVALID_USAGE = 5
MAY_BE_MISSING = {"ncclCommQueryProperties"}  # calls that a wrapper has no method for


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_byte * 128)]


class Own:
    """The functions that the wrappers of vLLM 0.33 and SGLang 0.5 bind, with their arguments."""

    pointer, number, size = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
    bound = {
        "ncclGetErrorString": [number],
        "ncclGetLastError": [pointer],
        "ncclGetVersion": [ctypes.POINTER(ctypes.c_int)],
        "ncclGetUniqueId": [ctypes.POINTER(UniqueId)],
        "ncclCommInitRank": [ctypes.POINTER(pointer), number, UniqueId, number],
        "ncclCommInitRankConfig": [ctypes.POINTER(pointer), number, UniqueId, number, pointer],
        "ncclAllReduce": [pointer, pointer, size, number, number, pointer, pointer],
        "ncclReduce": [pointer, pointer, size, number, number, number, pointer, pointer],
        "ncclAllGather": [pointer, pointer, size, number, pointer, pointer],
        "ncclReduceScatter": [pointer, pointer, size, number, number, pointer, pointer],
        "ncclSend": [pointer, size, number, number, pointer, pointer],
        "ncclRecv": [pointer, size, number, number, pointer, pointer],
        "ncclBroadcast": [pointer, pointer, size, number, number, pointer, pointer],
        "ncclCommDestroy": [pointer],
        "ncclCommAbort": [pointer],
        "ncclCommSuspend": [pointer, number],
        "ncclCommResume": [pointer],
        "ncclGroupStart": [],
        "ncclGroupEnd": [],
        "ncclCommWindowRegister": [pointer, pointer, size, ctypes.POINTER(pointer), number],
        "ncclCommWindowDeregister": [pointer, pointer],
        "ncclCommQueryProperties": [pointer, pointer],
        "ncclMemAlloc": [ctypes.POINTER(pointer), size],
        "ncclMemFree": [pointer],
    }

    def __init__(self, path):
        library = ctypes.CDLL(path)
        self._funcs = {}
        for name, arguments in self.bound.items():
            function = getattr(library, name)
            function.argtypes = arguments
            function.restype = ctypes.c_char_p if name in ("ncclGetErrorString", "ncclGetLastError") else ctypes.c_int
            self._funcs[name] = function

    def ncclGetUniqueId(self):
        unique = UniqueId()
        self.check("ncclGetUniqueId", ctypes.byref(unique))
        return unique

    def ncclGetVersion(self):
        version = ctypes.c_int()
        self.check("ncclGetVersion", ctypes.byref(version))
        return str(version.value)

    def ncclGetErrorString(self, result):
        return self._funcs["ncclGetErrorString"](result).decode()

    def ncclGetLastError(self):
        return self._funcs["ncclGetLastError"](None).decode()

    def ncclCommInitRank(self, ranks, unique, rank):
        comm = ctypes.c_void_p()
        self.check("ncclCommInitRank", ctypes.byref(comm), ranks, unique, rank)
        return comm

    def ncclCommInitRankConfig(self, ranks, unique, rank, config):
        comm = ctypes.c_void_p()
        self.check("ncclCommInitRankConfig", ctypes.byref(comm), ranks, unique, rank, config)
        return comm

    def ncclCommWindowRegister(self, comm, memory, size, flags):
        window = ctypes.c_void_p()
        self.check("ncclCommWindowRegister", comm, memory, size, ctypes.byref(window), flags)
        return window

    def ncclMemAlloc(self, size):
        memory = ctypes.c_void_p()
        self.check("ncclMemAlloc", ctypes.byref(memory), size)
        return memory.value

    def check(self, name, *arguments):
        result = self._funcs[name](*arguments)
        if result != 0:
            raise RuntimeError(f"{name}: {self.ncclGetErrorString(result)}")

    def __getattr__(self, name):
        if name not in self.bound:
            raise AttributeError(name)
        return lambda *arguments: self.check(name, *arguments)


class Nothing(types.ModuleType):
    """A module with any attribute: each name is a module of this kind, and may be called or subclassed."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = Nothing(f"{self.__name__}.{name}")
        setattr(self, name, made)
        return made

    def __call__(self, *_, **__):
        return Nothing(self.__name__ + "()")


class Replaces:
    """Finds such modules for everything that wrappers import from outside the standard library."""

    def find_spec(self, name, *_):
        if name.split(".")[0] not in ("torch", "vllm", "sglang"):
            return None
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec):
        return Nothing(spec.name)

    def exec_module(self, module):
        pass


def wrapper_of(path):
    """Returns the module in a file."""
    sys.meta_path.insert(0, Replaces())
    spec = importlib.util.spec_from_file_location("pynccl_wrapper", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["pynccl_wrapper"] = module
    spec.loader.exec_module(module)
    return module


class Rank:
    """Runs one process. Records every call of the wrapper in `called`."""

    def __init__(self, options):
        self.self = int(os.environ["RANK"])
        self.module = wrapper_of(options.wrapper) if options.wrapper else None
        self.nccl = self.module.NCCLLibrary(os.environ["LIBRARY"]) if self.module else Own(os.environ["LIBRARY"])
        self.called = set()
        self.cuda = ctypes.CDLL(FAKE)
        self.cuda.cudaMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
        self.cuda.cudaFree.argtypes = [ctypes.c_void_p]
        self.cuda.cudaSetDevice(self.self)
        self.stream = ctypes.c_void_p()
        self.cuda.cudaStreamCreateWithFlags(ctypes.byref(self.stream), 1)

    def call(self, name, *arguments):
        self.called.add(name)
        method = getattr(self.nccl, name, None)
        if method is not None:
            return method(*arguments)
        result = self.nccl._funcs[name](*arguments)  # bound, and without a method
        assert result == 0, f"{name}: {result}"
        return None

    def has(self, name):
        return name in self.nccl._funcs

    def unique(self, number):
        """An id that rank 0 makes and the others read."""
        place = pathlib.Path(os.environ["ID"] + str(number))
        made = self.call("ncclGetUniqueId")
        if self.self == 0:
            new = place.with_suffix(".new")
            new.write_bytes(bytes(made))
            new.rename(place)
        while not place.exists():
            pass
        return type(made).from_buffer_copy(place.read_bytes())

    def meet(self):
        """Waits until the other rank has arrived here, because an abort ends what it still receives."""
        place = os.environ["ID"] + "met"
        pathlib.Path(place + str(self.self)).touch()
        while not pathlib.Path(place + str(1 - self.self)).exists():
            time.sleep(0.001)

    def memory(self, count=COUNT):
        at = ctypes.c_void_p()
        assert self.cuda.cudaMalloc(ctypes.byref(at), count * 4) == 0
        return at, (ctypes.c_float * count).from_address(at.value)

    def expect(self, what, values, wanted):
        self.cuda.cudaStreamSynchronize(self.stream)
        wrong = [i for i in range(len(values)) if values[i] != wanted(i)]
        assert not wrong, f"{what}: element {wrong[0]} is {values[wrong[0]]}, not {wanted(wrong[0])}"

    def collectives(self, comm):
        (send, sent), (recv, got) = self.memory(), self.memory()
        (both, all_of) = self.memory(2 * COUNT)
        end = (comm, self.stream)

        def fill(values):
            for i in range(len(values)):
                values[i] = i + 1000 * self.self

        for op, wanted in ((SUM, lambda i: 2 * i + 1000), (AVG, lambda i: i + 500)):
            fill(sent)
            self.call("ncclAllReduce", send, recv, COUNT, FLOAT, op, *end)
            self.expect("AllReduce", got, wanted)
        self.call("ncclAllReduce", send, send, COUNT, FLOAT, SUM, *end)
        self.expect("AllReduce in place", sent, lambda i: 2 * i + 1000)
        fill(sent)
        self.call("ncclAllGather", send, both, COUNT, FLOAT, *end)
        self.expect("AllGather", all_of, lambda i: i if i < COUNT else i - COUNT + 1000)
        fill(all_of)
        self.call("ncclReduceScatter", both, recv, COUNT, FLOAT, SUM, *end)
        self.expect("ReduceScatter", got, lambda i: 2 * (i + COUNT * self.self) + 1000)
        fill(sent)
        if self.has("ncclReduce"):
            self.call("ncclReduce", send, recv, COUNT, FLOAT, SUM, 0, *end)
            if self.self == 0:
                self.expect("Reduce", got, lambda i: 2 * i + 1000)
        self.call("ncclBroadcast", send, recv, COUNT, FLOAT, 0, *end)
        self.expect("Broadcast", got, float)
        self.call("ncclGroupStart")
        self.call("ncclSend", send, COUNT, FLOAT, 1 - self.self, *end)
        self.call("ncclRecv", recv, COUNT, FLOAT, 1 - self.self, *end)
        self.call("ncclGroupEnd")
        self.expect("Send and Recv", got, lambda i: i + 1000 * (1 - self.self))
        for memory in (send, recv, both):
            self.cuda.cudaFree(memory)

    def windows(self, comm):
        if not self.has("ncclCommWindowRegister"):
            return
        if self.has("ncclMemAlloc"):
            at = self.call("ncclMemAlloc", COUNT * 4)
            values = (ctypes.c_float * COUNT).from_address(at)
        else:
            memory, values = self.memory()
            at = memory.value
        window = self.call("ncclCommWindowRegister", comm, at, COUNT * 4, SYMMETRIC)
        for i in range(COUNT):
            values[i] = i + self.self
        self.call("ncclAllReduce", at, at, COUNT, FLOAT, SUM, comm, self.stream)
        self.expect("AllReduce in a window", values, lambda i: 2 * i + 1)
        self.call("ncclCommWindowDeregister", comm, window)
        if self.has("ncclMemFree"):
            self.call("ncclMemFree", at)
        else:
            self.cuda.cudaFree(memory)

    def rest(self, comm):
        """Functions that need a newer NCCL than the fake one exist, and report that it is missing."""
        for name, *arguments in (("ncclCommSuspend", 0), ("ncclCommResume",)):
            if not self.has(name):
                continue
            try:
                self.call(name, comm, *arguments)
            except RuntimeError:
                print("missing:", name)
        if self.has("ncclCommQueryProperties"):
            assert self.nccl._funcs["ncclCommQueryProperties"](comm, None) == INVALID_USAGE

    def run(self):
        print("version", self.call("ncclGetVersion"))
        assert self.call("ncclGetErrorString", 5)
        if self.has("ncclGetLastError"):
            self.call("ncclGetLastError")
        comm = self.call("ncclCommInitRank", 2, self.unique(0), self.self)
        self.collectives(comm)
        self.windows(comm)
        self.rest(comm)
        self.call("ncclCommDestroy", comm)
        if self.has("ncclCommInitRankConfig"):
            config = self.module.ncclConfig_t.create() if self.module else None
            second = self.call("ncclCommInitRankConfig", 2, self.unique(1), self.self, config)
            self.collectives(second)
            self.meet()
            if not self.has("ncclCommAbort"):
                self.call("ncclCommDestroy", second)
        elif self.has("ncclCommAbort"):
            second = self.call("ncclCommInitRank", 2, self.unique(1), self.self)
        if self.has("ncclCommAbort"):
            self.call("ncclCommAbort", second)
        left = set(self.nccl._funcs) - self.called - MAY_BE_MISSING
        assert not left, f"bound, and called by nobody here: {sorted(left)}"
        self.cuda.cudaStreamDestroy(self.stream)
        print(f"right: {len(self.called)} functions")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wrapper", type=pathlib.Path)
    parser.add_argument("--rank", action="store_true")
    options = parser.parse_args()
    if options.rank:
        return Rank(options).run()
    # Preloaded and found by its name; and by its path (VLLM_NCCL_SO_PATH), which ctypes opens with RTLD_LOCAL.
    for preload, library in ((os.environ["LIBRARIES"], "libnccl.so.2"), (os.environ["LIBRARIES"].removesuffix(":" + SHIM), SHIM)):
        run_ranks(preload, library)


def run_ranks(preload, library):
    with tempfile.TemporaryDirectory() as folder:
        ranks = []
        for rank in range(2):
            environment = {**os.environ, "LD_PRELOAD": preload, "LIBRARY": library, "MSCCLC_DEBUG": "INFO",
                           "RANK": str(rank), "ID": folder + "/id"}
            ranks.append(subprocess.Popen([sys.executable, __file__, *sys.argv[1:], "--rank"], env=environment,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        for rank in ranks:
            out, _ = rank.communicate(timeout=100)
            missing = set(re.findall(r"^missing: (\w+)", out, re.M))
            told = set(re.findall(r"^mscclc: (\w+): the real NCCL does not have it", out, re.M))
            done = re.search(r"^right: .*", out, re.M)
            if rank.returncode != 0 or not done or missing - told or "kernel 'allreduce_packets'" not in out:
                sys.exit(f"exit {rank.returncode}, missing {missing}\n{out}")
        print(done[0])


main()

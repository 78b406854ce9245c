"""Kernels: baked by the tool, compiled to libraries in a folder of their own, loaded into the runtime."""

from __future__ import annotations

import ctypes
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Sequence

from . import abi, install
from .errors import BuildError
from .tool import Params, Path, Plan, Program, run_tool


def cache_folder() -> pathlib.Path:
    """Where libraries of kernels lie, named by what they were made of: MSCCLC_CACHE, or `mscclc` in the user's folder
    of caches. It may be removed whenever no program that loads from it runs."""
    named = os.environ.get("MSCCLC_CACHE")
    if named:
        return pathlib.Path(named)
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "mscclc"


def _host_command() -> list[str]:
    return [os.environ.get("CXX") or "c++", "-std=c++17", "-O1", "-fPIC", "-shared", "-pthread", "-x", "c++"]


#: Operations that do not mind what they get twice: a program that is right for one of these may be wrong for the others.
_IDEMPOTENT = ("min", "max")


def reduces(text: str) -> bool:
    """Whether an emitted kernel reduces anything."""
    return re.search(r"^#define MSCCLC_REDUCE_OPS NoReduce$", text, re.M) is None


def operation_flags(text: str, ops: Sequence[str], platform: str) -> list[str]:
    """Arguments of the compiler by which an emitted kernel does these operations ("sum", "min", "max", "prod") instead
    of that of its program. Raises ValueError where that is not right."""
    if isinstance(ops, str):
        raise TypeError(f"operations are a list of names, as in [{ops!r}], not a text")
    unknown = [name for name in ops if name not in abi.REDUCE_OPS]
    if unknown:
        raise ValueError(f"no operation {unknown[0]!r}; there are {', '.join(abi.REDUCE_OPS)}")
    if not ops:
        return []
    found = re.search(r"^#define MSCCLC_REDUCE_OPS (\w+)$", text, re.M)
    own = found[1].lower() if found else ""
    if own not in abi.REDUCE_OPS:
        raise ValueError("operations are given for a kernel that does not reduce, or by several operations")
    if own in _IDEMPOTENT and not set(ops) <= set(_IDEMPOTENT):
        raise ValueError(
            f"the program reduces by {own!r}, and may add a value twice; kernels of it are for {', '.join(_IDEMPOTENT)}"
        )
    # nvcc takes a list apart at its commas.
    comma = "," if platform == "host" else "\\,"
    return [f"-DMSCCLC_REDUCE_OPS={comma.join(name.capitalize() for name in ops)}"]


def _cuda_command(architectures: Sequence[int]) -> list[str]:
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    nvcc = shutil.which("nvcc") or os.path.join(home, "bin", "nvcc")
    code = [f"-gencode=arch=compute_{number},code=sm_{number}" for number in architectures]
    # The static CUDA runtime: no library of CUDA need be on the loader's way.
    return [nvcc, "-std=c++17", "-O3", "-shared", "-Xcompiler=-fPIC", "-cudart=static", *code]


def _call(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise BuildError(
            f"{command[0]} cannot be run: {error.strerror}; a compiler is needed to build kernels "
            "(CXX names the one for the host, CUDA_HOME the folder of nvcc)"
        ) from error
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command)} ended with exit code {done.returncode}\n{done.stderr.strip()[:4000]}")
    return done.stdout


def _fingerprint(text: str, command: list[str], include: pathlib.Path) -> str:
    """What a library depends on: the emitted text, the compiler and its flags, and the headers."""
    state = hashlib.sha256(text.encode())
    state.update("\0".join([*command, _call([command[0], "--version"])]).encode())
    for header in sorted((include / "mscclc").rglob("*")):
        if header.suffix in (".h", ".cuh"):
            state.update(header.read_bytes())
    return state.hexdigest()[:16]


def build_library(
    text: str, platform: str, architectures: Sequence[int] = (90,), flags: Sequence[str] = ()
) -> pathlib.Path:
    """Compiles an emitted kernel for the platform "host" or "cuda" (for the numbers of `architectures`: 90), unless the
    cache has it. `flags` are more arguments of the compiler. The source lies beside the library. Raises BuildError and
    LibraryError."""
    command = [*(_host_command() if platform == "host" else _cuda_command(architectures)), *flags]
    include = install.include_folder()
    match = re.search(r"mscclc_register_(\w+)", text)
    name = match[1] if match else "kernel"
    library = cache_folder() / f"{name}-{_fingerprint(text, command, include)}.so"
    if library.exists():
        return library
    library.parent.mkdir(parents=True, exist_ok=True)
    # Other processes may build the same: each writes files of its own, and the last one to finish puts the same there.
    with tempfile.TemporaryDirectory(dir=library.parent, prefix=".building-") as scratch:
        source, made = pathlib.Path(scratch, library.stem + ".cu"), pathlib.Path(scratch, library.name)
        source.write_text(text)
        # The kernel registers itself where the runtime is there, so a linker may take the runtime to be of no use.
        # nvcc would compile a library whose name ends in a number, and g++ one that follows -x, so the linker gets it.
        linked = ["-Xlinker", "--no-as-needed", "-Xlinker", str(install.runtime_library())]
        _call([*command, "-I", str(include), str(source), *linked, "-o", str(made)])
        os.replace(source, library.with_suffix(".cu"))
        os.replace(made, library)
    return library


class Kernel:
    """A kernel in a library that is loaded, for good."""

    def __init__(self, pointer: "ctypes._Pointer[abi.KernelStruct]", library: pathlib.Path):
        facts = pointer.contents
        self.pointer = pointer
        #: The file of the library. Where this package built it, the source lies beside it with the ending .cu.
        self.library = library
        self.name: str = facts.name.decode()
        #: "allreduce", "allgather", …, or its own name.
        self.collective: str = facts.collective.decode()
        self.ranks: int = facts.ranks
        self.root: int | None = facts.root if facts.flags & abi.ROOTED else None
        self.in_place = bool(facts.flags & abi.IN_PLACE)
        #: A message is that many equal shares: its size is a multiple of shares * element size.
        self.message_shares: int = max(1, facts.message_shares)
        self.min_bytes: int = facts.min_message_bytes
        self.max_bytes: int = facts.max_message_bytes
        #: What it uses ("packets", "port", "multicast", "double-scratch", "baked"), and what it was registered with.
        self.tags: frozenset[str] = frozenset(name for flag, name in abi.TAGS.items() if facts.flags & flag)

    @staticmethod
    def load(path: Path) -> "list[Kernel]":
        """The kernels of a library. Raises CallError if it holds none or cannot be loaded."""
        runtime, name, count = abi.runtime(), os.fsencode(path), ctypes.c_uint32()
        runtime.mscclc_load_library(name, None, 0, ctypes.byref(count))
        pointers = (abi.KernelPointer * count.value)()
        runtime.mscclc_load_library(name, pointers, count.value, ctypes.byref(count))
        return [Kernel(abi.KernelPointer(pointer.contents), pathlib.Path(path)) for pointer in pointers]

    @staticmethod
    def compile(
        source: "Path | Plan",
        *,
        params: Params | None = None,
        algorithm: str | None = None,
        options: Sequence[str] = (),
        text: str | None = None,
        platform: str = "auto",
        architectures: Sequence[int] = (90,),
        ops: Sequence[str] = (),
    ) -> "Kernel":
        """Bakes an algorithm or a plan, compiles the kernel and loads it.

        `ops` are the operations of a kernel that reduces: ["sum", "min", "max", "prod"]. It does the one that a call
        wants; by default it has the one that its program names. Each takes as long again to compile.

        `platform`: "cuda" (by nvcc, for `architectures`), "host" (for the CPU stand-in, by a C++ compiler) or "auto":
        CUDA where the machine has an NVIDIA device. `options` are more arguments of the tool, as "--message-size".
        Other arguments are those of `mscclc.compile`: `params` may set the root, where the algorithm has it as a parameter.
        Raises ValueError, CompileError, ToolError, BuildError, LibraryError."""
        if platform not in abi.PLATFORMS:
            raise ValueError(f"no platform {platform!r}; there are {', '.join(abi.PLATFORMS)}")
        if platform == "auto":
            platform = "cuda" if os.path.exists("/dev/nvidiactl") else "host"
        if isinstance(source, Plan):
            program = source.program
        else:
            program = Program.of(source, params, algorithm, options, text)
        emitted = run_tool(program, "--emit-cuda")
        flags = operation_flags(emitted, ops, platform)
        return Kernel.load(build_library(emitted, platform, architectures, flags))[0]

    @property
    def platform(self) -> str:
        """ "host" or "cuda": what it was compiled for."""
        blocks = ctypes.c_uint32()
        variant = self.pointer.contents.variants[0]
        on_host = variant.resident_blocks(1, ctypes.byref(blocks)) == 0 and blocks.value == abi.ON_HOST
        return "host" if on_host else "cuda"

    def input_bytes(self, rank: int, message_bytes: int) -> int:
        """Bytes of a rank's input at a message size."""
        return int(self.pointer.contents.input_bytes(rank, message_bytes))

    def output_bytes(self, rank: int, message_bytes: int) -> int:
        """Bytes of a rank's output at a message size."""
        return int(self.pointer.contents.output_bytes(rank, message_bytes))

    def steps(self, message_bytes: int) -> tuple[int, int]:
        """In place, where the shorter buffer of rank r lies in its longer one: r times this many bytes from the
        beginning, for the input and for the output."""
        flags = self.pointer.contents.flags
        if flags & (abi.IN_PLACE | abi.ONE_START) != abi.IN_PLACE:
            return 0, 0
        given, made = self.input_bytes(0, message_bytes), self.output_bytes(0, message_bytes)
        return (given if given < made else 0), (made if made < given else 0)

    def __repr__(self) -> str:
        return f"<mscclc.Kernel {self.name}: {self.collective}, {self.ranks} ranks>"

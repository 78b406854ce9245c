"""Kernels. The tool emits them, a compiler makes libraries of them in a cache folder, and the runtime loads these."""

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
    """Returns the folder for libraries of kernels: MSCCLC_CACHE, or `mscclc` in the user's cache folder. Their names
    depend on what they were made of. The folder may be removed when no program that loads from it runs."""
    named = os.environ.get("MSCCLC_CACHE")
    if named:
        return pathlib.Path(named)
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "mscclc"


def _host_command() -> list[str]:
    return [os.environ.get("CXX") or "c++", "-std=c++17", "-O1", "-fPIC", "-shared", "-pthread", "-x", "c++"]


#: Operations that give the same result if an operand is reduced twice. A program that is right for one of these may be
#: wrong for the others.
_IDEMPOTENT = ("min", "max")


def reduces(text: str) -> bool:
    """True if an emitted kernel reduces anything."""
    return re.search(r"^#define MSCCLC_REDUCE_OPS NoReduce$", text, re.M) is None


#: What the tool says of a kernel whose sums are not taken in one order.
_SEVERAL_ORDERS = "in an order that depends on the chunk"


def order_of_sums(named: str | None) -> str | None:
    """Returns the order of a kernel's sums, of what the tool or a list says of it; None if there is no such order. The
    order of products is written as that of sums, because a kernel may do several operations."""
    return None if named is None or named == _SEVERAL_ORDERS else named.replace("*", "+") or None


def named_sums(text: str) -> str | None:
    """Returns what an emitted kernel says of its sums; None if it has none."""
    found = re.search(r"^// Sums: (.+)$", text, re.M)
    return found[1] if found else None


def types_of(text: str) -> list[str] | None:
    """Returns the names of the types of elements for which an emitted kernel is compiled, as "f32"; None if it moves
    elements of any type."""
    found = re.search(r"^#define MSCCLC_DTYPES (.+)$", text, re.M)
    return [abi.CXX_TYPES[name] for name in found[1].split(", ")] if found and reduces(text) else None


def operation_flags(text: str, ops: Sequence[str], platform: str) -> list[str]:
    """Returns compiler arguments that make an emitted kernel use these operations ("sum", "min", "max", "prod")
    instead of the operation of its program. Raises ValueError if that would be wrong."""
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
    # nvcc splits lists at their commas.
    comma = "," if platform == "host" else "\\,"
    return [f"-DMSCCLC_REDUCE_OPS={comma.join(name.capitalize() for name in ops)}"]


def _cuda_command(architectures: Sequence[int]) -> list[str]:
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    nvcc = shutil.which("nvcc") or os.path.join(home, "bin", "nvcc")
    code = [f"-gencode=arch=compute_{number},code=sm_{number}" for number in architectures]
    # The static CUDA runtime is linked, so that the loader need not find a library of CUDA.
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
    """Returns a digest of everything that determines a library: the emitted text, the compiler with its flags, and
    the headers."""
    state = hashlib.sha256(text.encode())
    state.update("\0".join([*command, _call([command[0], "--version"])]).encode())
    for header in sorted((include / "mscclc").rglob("*")):
        if header.suffix in (".h", ".cuh"):
            state.update(header.read_bytes())
    return state.hexdigest()[:16]


def build_library(
    text: str, platform: str, architectures: Sequence[int] = (90,), flags: Sequence[str] = ()
) -> pathlib.Path:
    """Compiles an emitted kernel for the platform "host" or "cuda" (for the numbers of `architectures`: 90), unless
    the cache has the result. `flags` are more compiler arguments. The source is stored beside the library. Raises
    BuildError and LibraryError."""
    command = [*(_host_command() if platform == "host" else _cuda_command(architectures)), *flags]
    include = install.include_folder()
    match = re.search(r"mscclc_register_(\w+)", text)
    name = match[1] if match else "kernel"
    library = cache_folder() / f"{name}-{_fingerprint(text, command, include)}.so"
    if library.exists():
        return library
    library.parent.mkdir(parents=True, exist_ok=True)
    # Other processes may build the same library. Each writes its own files, and the last one to finish replaces the
    # result by the same content.
    with tempfile.TemporaryDirectory(dir=library.parent, prefix=".building-") as scratch:
        source, made = pathlib.Path(scratch, library.stem + ".cu"), pathlib.Path(scratch, library.name)
        source.write_text(text)
        # The kernel registers itself only if the runtime is there, so a linker may regard the runtime as unused. nvcc
        # would compile a library whose name ends in a number, and g++ would compile one that follows -x. So the linker
        # gets it directly.
        linked = ["-Xlinker", "--no-as-needed", "-Xlinker", str(install.runtime_library())]
        _call([*command, "-I", str(include), str(source), *linked, "-o", str(made)])
        os.replace(source, library.with_suffix(".cu"))
        os.replace(made, library)
    return library


class Kernel:
    """A kernel in a library that is permanently loaded."""

    def __init__(self, pointer: "ctypes._Pointer[abi.KernelStruct]", library: pathlib.Path):
        facts = pointer.contents
        self.pointer = pointer
        #: The file of the library. If this package built it, the source is beside it with the ending .cu.
        self.library = library
        self.name: str = facts.name.decode()
        #: "allreduce", "allgather", …, or its own name.
        self.collective: str = facts.collective.decode()
        self.ranks: int = facts.ranks
        self.root: int | None = facts.root if facts.flags & abi.ROOTED else None
        self.in_place = bool(facts.flags & abi.IN_PLACE)
        #: A message consists of so many equal shares: its size is a multiple of shares * element size.
        self.message_shares: int = max(1, facts.message_shares)
        self.min_bytes: int = facts.min_message_bytes
        self.max_bytes: int = facts.max_message_bytes
        #: The order of its sums, where it is known and the same for all elements.
        self.sums: str | None = None
        #: A launch is a kernel that sends and one that receives (Communicator.launch).
        self.is_split = bool(facts.flags & abi.SPLIT)
        #: A dispatch that sends a row once to each rank, with a list of its places (MscclcIndex in runtime_abi.h).
        self.is_once_per_rank = bool(facts.flags & abi.ONCE_PER_RANK)
        #: Its tags: the features that it uses ("packets", "port", "multicast", "double-scratch", "baked"), and those
        #: of its registration.
        self.tags: frozenset[str] = frozenset(name for flag, name in abi.TAGS.items() if facts.flags & flag)

    @staticmethod
    def load(path: Path) -> "list[Kernel]":
        """Returns the kernels of a library. Raises CallError if it has none or cannot be loaded."""
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
        kernel = Kernel.load(build_library(emitted, platform, architectures, flags))[0]
        kernel.sums = order_of_sums(named_sums(emitted))
        return kernel

    @property
    def platform(self) -> str:
        """Returns "host" or "cuda", the platform that it was compiled for."""
        blocks = ctypes.c_uint32()
        variant = self.pointer.contents.variants[0]
        on_host = variant.resident_blocks(1, ctypes.byref(blocks)) == 0 and blocks.value == abi.ON_HOST
        return "host" if on_host else "cuda"

    def input_bytes(self, rank: int, message_bytes: int) -> int:
        """Returns the bytes of a rank's input for a message of `message_bytes` bytes."""
        return int(self.pointer.contents.input_bytes(rank, message_bytes))

    def output_bytes(self, rank: int, message_bytes: int) -> int:
        """Returns the bytes of a rank's output for a message of `message_bytes` bytes."""
        return int(self.pointer.contents.output_bytes(rank, message_bytes))

    def steps(self, message_bytes: int) -> tuple[int, int]:
        """Returns the steps of an in-place kernel, in bytes, for the input and for the output. The shorter buffer of
        rank r begins r steps after the beginning of the longer one."""
        flags = self.pointer.contents.flags
        if flags & (abi.IN_PLACE | abi.ONE_START) != abi.IN_PLACE:
            return 0, 0
        given, made = self.input_bytes(0, message_bytes), self.output_bytes(0, message_bytes)
        return (given if given < made else 0), (made if made < given else 0)

    def __repr__(self) -> str:
        return f"<mscclc.Kernel {self.name}: {self.collective}, {self.ranks} ranks>"

"""Collectives that mscclc compiles, from Python.

    plan = mscclc.compile("allreduce.cpp", params={"ranks": 8})        # for the executor of MSCCL++, proven
    kernel = mscclc.Kernel.compile("allreduce.cpp", params={"ranks": 8})
    with mscclc.Communicator(8) as ranks:
        ranks.run(kernel, arrays)                                       # one array for each rank, in place

The package is Python alone and calls the tool and the runtime (mscclc.install says where they are looked for). With
PyTorch, `import mscclc.torch` makes a backend of torch.distributed, "mscclc", and operators."""

from .abi import DTYPES, REDUCE_OPS, runtime
from .buffer import Buffer
from .communicator import Communicator
from .errors import (
    BuildError,
    CallError,
    CompileError,
    Diagnostic,
    Error,
    LibraryError,
    NoKernelError,
    ToolError,
    UsageError,
)
from .kernels import Kernel, cache_folder
from .manifest import register_folder
from .query import Query
from .selector import Selector, register, set_selector
from .tool import Estimate, Plan, compile, estimate, verify

#: The version of this package. runtime_version() returns that of the runtime.
__version__ = "0.1.0"

__all__ = [
    "DTYPES",
    "REDUCE_OPS",
    "BuildError",
    "Buffer",
    "CallError",
    "Communicator",
    "CompileError",
    "Diagnostic",
    "Error",
    "Estimate",
    "Kernel",
    "LibraryError",
    "NoKernelError",
    "Plan",
    "Query",
    "Selector",
    "ToolError",
    "UsageError",
    "cache_folder",
    "compile",
    "estimate",
    "register",
    "register_folder",
    "runtime_version",
    "set_selector",
    "verify",
]


def runtime_version() -> str:
    """Returns the version of the loaded runtime, such as "0.1.0". Raises LibraryError."""
    return str(runtime().mscclc_runtime_version(), "ascii")

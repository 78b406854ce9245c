"""The library in NCCL's place, libmscclc_nccl.so, if this process has loaded it. It gets the kernels that the program
registers, and the function that selects (nccl.h)."""

from __future__ import annotations

import ctypes
import logging
import os
import pathlib
from typing import Any

from . import abi
from .kernels import Kernel
from .query import Choice, Entry, Query

log = logging.getLogger("mscclc")
_SONAME = "libnccl.so.2"
_known: dict[int, Kernel] = {}  # by address
_callback: object = None  # what the library calls, kept


def loaded() -> ctypes.CDLL | None:
    """Returns the library, preloaded or loaded by name; None if there is none, or if it is another NCCL."""
    for name, mode in ((None, ctypes.DEFAULT_MODE), (_SONAME, os.RTLD_NOLOAD | os.RTLD_LAZY)):
        try:
            library = ctypes.CDLL(name, mode=mode)
            register = library.mscclc_nccl_register
        except (OSError, AttributeError):
            continue
        register.restype, library.mscclc_nccl_set_selector.restype = ctypes.c_int32, None
        pointer, text, size = abi.KernelPointer, ctypes.c_char_p, ctypes.c_uint64
        register.argtypes = [pointer, text, size, size, ctypes.c_int32, text]
        library.mscclc_nccl_set_selector.argtypes = [abi.SelectFunction, ctypes.c_void_p]
        return library
    return None


def register(entry: Entry) -> None:
    """Passes a CUDA kernel to the library. Raises ValueError if it is too late, because the ranks have made a call
    and so have agreed on the kernels."""
    library = loaded()
    if library is None or entry.kernel.platform != "cuda":
        return
    short = {name: short for short, name in abi.SHORT_NAMES.items()}
    code = library.mscclc_nccl_register(
        entry.kernel.pointer,
        ",".join(entry.tags).encode(),
        entry.min_bytes,
        entry.max_bytes,
        entry.priority,
        ",".join(short[name] for name in entry.types).encode(),
    )
    if code == abi.ERROR_RENDEZVOUS:
        raise ValueError(
            f"{entry.kernel.name} comes too late: NCCL's communicators of {entry.kernel.ranks} ranks have begun; register "
            "before the first collective"
        )
    if code != 0:
        raise ValueError(f"the library in NCCL's place does not take {entry}")
    _known[ctypes.addressof(entry.kernel.pointer.contents)] = entry.kernel


def set_function(choice: Choice | None) -> None:
    """Lets a function pick for NCCL's calls; None: the library's own rules decide."""
    global _callback
    library = loaded()
    if library is None:
        return
    callback = abi.SelectFunction(_decider(choice)) if choice is not None else abi.SelectFunction()
    library.mscclc_nccl_set_selector(callback, None)
    _callback = callback  # the one before is in use until here


def _kernel(pointer: Any) -> Kernel:
    """Returns a registered kernel, or one of the library's list."""
    address = ctypes.addressof(pointer.contents)
    if address not in _known:
        _known[address] = Kernel(abi.KernelPointer(pointer.contents), pathlib.Path())
    return _known[address]


def _decider(choice: Choice) -> Any:
    dtypes = {code: name for name, code in abi.DTYPES.items()}
    ops = {code: name for name, code in abi.REDUCE_OPS.items()}

    def decide(asked: Any, pointers: Any, count: int, _user: object) -> int:
        try:
            of = asked.contents
            query = Query(
                of.collective.decode(),
                of.ranks,
                dtypes[of.dtype],
                ops[of.reduce_op],
                bool(of.in_place),
                of.message_bytes,
                of.root,
            )
            kernels = [_kernel(pointers[i]) for i in range(count)]
            picked = choice(query, kernels)
            return -1 if picked is None else kernels.index(picked)
        except BaseException:  # an exception cannot pass through NCCL
            log.exception("mscclc: the function that selects failed; NCCL runs the call")
            return -1

    return decide

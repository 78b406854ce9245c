"""Memory of a communicator."""

from __future__ import annotations

import ctypes
from contextlib import AbstractContextManager
from typing import Any, Protocol

from . import abi
from .arrays import Memory, memory_of
from .errors import CallError


class Owner(Protocol):
    """The part of a communicator that its buffers use."""

    adopted: dict[int | None, list[Memory]]

    @property
    def lock(self) -> AbstractContextManager[object]: ...

    @property
    def closed(self) -> bool: ...


class Buffer:
    """Memory of the same size on every rank. It ends with its communicator, or by `release`."""

    def __init__(self, communicator: Owner, handle: ctypes.c_void_p, bytes: int, dtype: "str | None" = None):
        self.communicator = communicator
        self.bytes = bytes
        #: The element type of the arrays from which it was adopted; None if it was allocated.
        self.dtype = dtype
        self._handle: ctypes.c_void_p | None = handle

    @property
    def handle(self) -> ctypes.c_void_p:
        if self._handle is None or self.communicator.closed:
            raise ValueError("the buffer was released, or its communicator closed")
        return self._handle

    def address(self, rank: int) -> int:
        """Returns the address of a local rank's part. Raises ValueError for a rank of another process."""
        found = abi.runtime().mscclc_buffer_address(self.handle, rank)
        if not found:
            raise ValueError(f"rank {rank} is not in this process")
        return int(found)

    def write(self, rank: int, array: Any, offset: int = 0) -> None:
        """Copies a host array to a local rank's part, to `offset` bytes from its beginning."""
        memory = self._host_memory(array)
        with self.communicator.lock:
            abi.runtime().mscclc_buffer_write(self.handle, rank, offset, memory.address, memory.bytes)

    def read(self, rank: int, array: Any, offset: int = 0) -> None:
        """Copies from a local rank's part into a host array. Does not wait for launches."""
        memory = self._host_memory(array)
        with self.communicator.lock:
            abi.runtime().mscclc_buffer_read(self.handle, rank, offset, memory.address, memory.bytes)

    @staticmethod
    def _host_memory(array: Any) -> Memory:
        memory = memory_of(array)
        if not memory.on_host:
            raise ValueError("the array is on a device; an array in host memory is needed")
        return memory

    def release(self) -> None:
        """Waits for the launches, and releases the buffer. A second call does nothing. If a CUDA graph keeps the
        buffer, raises CallError MSCCLC_ERROR_IN_GRAPH, and can be called again. Collective."""
        if self._handle is not None and not self.communicator.closed:
            with self.communicator.lock:
                handle = self._handle
                try:
                    abi.runtime().mscclc_buffer_release(handle)
                except CallError as error:
                    if error.name != "MSCCLC_ERROR_IN_GRAPH":
                        self._handle = None
                    raise
                self._handle = None
                self.communicator.adopted.pop(handle.value, None)

"""Checks that all ranks make the same call. With TORCH_DISTRIBUTED_DEBUG=DETAIL, ranks meet before each call, as in
the wrapper of PyTorch's own backends. Otherwise they read each other's calls in memory that they share."""

from __future__ import annotations

import hashlib
import mmap
import os
import pickle
from datetime import timedelta
from typing import Any, Callable, NoReturn, Sequence

import torch
from torch._C import _distributed_c10d as c10d

_KEPT = 64  # calls of a rank
_RECORD = 256  # bytes of a call: its number, a digest of its text, and the text as far as it fits


def is_detailed() -> bool:
    """True if the debug level is DETAIL."""
    return bool(c10d.get_debug_level() == c10d.DebugLevel.DETAIL)


def describe(name: str, number: int, tensors: Sequence[torch.Tensor], more: str) -> str:
    """Describes a call. The text is the same on all ranks. `number` counts the calls of the group."""
    kinds = ", ".join(f"{list(one.shape)} {str(one.dtype).removeprefix('torch.')}" for one in tensors)
    return f"{name} number {number}" + (f" of {kinds}" if kinds else "") + (f", {more}" if more else "")


def sizes(name: str, tensors: Sequence[torch.Tensor], more: str) -> str:
    """Returns the part of the description that must be the same on all ranks for a kernel: sizes, not shapes."""
    kinds = ", ".join(f"{one.numel()} {str(one.dtype).removeprefix('torch.')}" for one in tensors)
    return name + (f" of {kinds}" if kinds else "") + (f", {more}" if more else "")


class MismatchError(RuntimeError):
    """Ranks make different calls."""


def mismatch(rank: int, own: str, other: int, call: str) -> NoReturn:
    """Raises MismatchError: `other` makes another call than this rank."""
    raise MismatchError(
        f"mscclc: detected mismatch between collectives on ranks: rank {rank} is running {own}, but rank {other} is "
        f"running {call}"
    )


def compare(rank: int, calls: Sequence[str]) -> None:
    """Raises MismatchError for the first rank whose call differs from that of this rank."""
    for other, call in enumerate(calls):
        if call != calls[rank]:
            mismatch(rank, calls[rank], other, call)


def meet(meeting: Any, exchange: Callable[[bytes], list[bytes]], timeout: timedelta, rank: int, call: str) -> None:
    """Waits for all ranks, and compares their calls. Raises RuntimeError, with the ranks that do not arrive."""
    if meeting.size() > 1:
        meeting.monitored_barrier(timeout, True)
        compare(rank, [pickle.loads(other) for other in exchange(pickle.dumps(call))])


def _number(data: "bytes | memoryview") -> int:
    return int.from_bytes(data[:8], "little")


class Ledger:
    """The last calls of all ranks of a group, in memory that the ranks share. A rank that has received data of
    another rank's call can read that call here. So different sizes are found without an exchange.

    The constructor is collective. It raises OSError if this rank cannot reach memory of rank 0. The other ranks then
    do not see its calls."""

    def __init__(self, rank: int, size: int, exchange: Callable[[bytes], Sequence[bytes]]):
        self._rank, self._size = rank, size
        self._compared = [0] * size  # up to which call
        part = (1 + _KEPT) * _RECORD
        own = b""
        if rank == 0:
            try:
                self._file = open(os.memfd_create("mscclc calls"), "r+b")  # the others open it while this object lives
                self._file.truncate(size * part)
                own = f"/proc/{os.getpid()}/fd/{self._file.fileno()}".encode()
            except OSError:
                pass  # all ranks find no file
        with open(exchange(own)[0], "r+b") as shared:
            self._memory = memoryview(mmap.mmap(shared.fileno(), size * part))
        # For each rank: the number of its last call, and then its last calls.
        self._parts = [self._memory[each * part : (each + 1) * part] for each in range(size)]

    def _call(self, rank: int, number: int) -> memoryview:
        at = (1 + number % _KEPT) * _RECORD
        return self._parts[rank][at : at + _RECORD]

    def write(self, number: int, call: str) -> None:
        """Records the current call of this rank. `number` grows, and is the same on all ranks for a call."""
        text = call.encode()
        kept = self._call(self._rank, number)
        kept[:8] = bytes(8)  # a reader does not take what is half written
        kept[8:] = (hashlib.sha256(text).digest()[:8] + text)[: _RECORD - 8].ljust(_RECORD - 8, b"\0")
        kept[:8] = self._parts[self._rank][:8] = number.to_bytes(8, "little")

    def compare(self) -> None:
        """Compares the calls that other ranks have made, too, and that were not compared before. Raises
        MismatchError, once for each call."""
        own = _number(self._parts[self._rank][:8])
        for other in range(self._size):
            if other == self._rank:
                continue
            last = min(own, _number(self._parts[other][:8]))
            for number in range(max(self._compared[other], last - _KEPT) + 1, last + 1):
                self._compared[other] = number
                here, there = bytes(self._call(self._rank, number)), bytes(self._call(other, number))
                if _number(here) == _number(there) == number and here != there:
                    mine, theirs = (call[16:].rstrip(b"\0").decode(errors="replace") for call in (here, there))
                    mismatch(self._rank, mine, other, theirs)

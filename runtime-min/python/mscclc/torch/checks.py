"""Whether all ranks make the same call: with TORCH_DISTRIBUTED_DEBUG=DETAIL before each, as the wrapper of PyTorch's own
backends does."""

from __future__ import annotations

import pickle
from datetime import timedelta
from typing import Any, Callable, Sequence

import torch
from torch._C import _distributed_c10d as c10d


def is_detailed() -> bool:
    """Whether the debug level is DETAIL."""
    return bool(c10d.get_debug_level() == c10d.DebugLevel.DETAIL)


def describe(name: str, number: int, tensors: Sequence[torch.Tensor], more: str) -> str:
    """A call in words: all ranks have the same. `number` counts the calls of the group."""
    kinds = ", ".join(f"{list(one.shape)} {str(one.dtype).removeprefix('torch.')}" for one in tensors)
    return f"{name} number {number}" + (f" of {kinds}" if kinds else "") + (f", {more}" if more else "")


def sizes(name: str, tensors: Sequence[torch.Tensor], more: str) -> str:
    """The part of it that ranks must have alike for a kernel: sizes, not shapes."""
    kinds = ", ".join(f"{one.numel()} {str(one.dtype).removeprefix('torch.')}" for one in tensors)
    return name + (f" of {kinds}" if kinds else "") + (f", {more}" if more else "")


def compare(rank: int, calls: Sequence[str]) -> None:
    """Raises RuntimeError for the first rank that does something else than this one."""
    for other, call in enumerate(calls):
        if call != calls[rank]:
            raise RuntimeError(
                f"mscclc: detected mismatch between collectives on ranks: rank {rank} is running {calls[rank]}, but rank "
                f"{other} is running {call}"
            )


def meet(meeting: Any, exchange: Callable[[bytes], list[bytes]], timeout: timedelta, rank: int, call: str) -> None:
    """Waits for all ranks, and compares what they call. Raises RuntimeError, which names ranks that do not come."""
    if meeting.size() > 1:
        meeting.monitored_barrier(timeout, True)
        compare(rank, [pickle.loads(other) for other in exchange(pickle.dumps(call))])

"""Options of a group, as `pg_options` of init_process_group and new_group."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as c10d


class Options(c10d.Backend.Options):
    """is_high_priority_stream  the group's streams come before others of a device
    eager                    kernels are agreed on, and the ranks meet, when the group is made; else by its first call
    nccl                     ProcessGroupNCCL.Options of the NCCL behind
    invariant                True: only kernels of one order add floats; "strict": other sums of floats fail
    pdl                      kernels may begin before the stream's earlier kernel has ended (Communicator.launch)
    capacity                 rows that a rank sends to another one, at most, in an all_to_all_single with uneven splits
                             that a kernel of counts runs; 0: none does"""

    def __init__(
        self,
        timeout: timedelta | None = None,
        *,
        is_high_priority_stream: bool = False,
        eager: bool = False,
        nccl: Any = None,
        invariant: "bool | str" = False,
        pdl: bool = False,
        capacity: int = 0,
    ):
        super().__init__("mscclc", *([] if timeout is None else [timeout]))
        if invariant not in (False, True, "strict"):
            raise ValueError(f"mscclc: invariant is {invariant!r}; it must be False, True or 'strict'")
        self.is_high_priority_stream = is_high_priority_stream
        self.eager = eager
        self.nccl = nccl
        self.invariant = invariant
        self.pdl = pdl
        self.capacity = capacity

    @staticmethod
    def of(given: Any, timeout: timedelta) -> "Options":
        """Returns `given` if it is ours. Options of NCCL are used for the NCCL behind. Raises TypeError."""
        if given is None:
            made = Options()
        elif isinstance(given, Options):
            names = ("is_high_priority_stream", "eager", "nccl", "invariant", "pdl", "capacity")
            made = Options(**{name: getattr(given, name) for name in names})
        elif dist.is_nccl_available() and isinstance(given, dist.ProcessGroupNCCL.Options):
            made = Options(is_high_priority_stream=given.is_high_priority_stream, nccl=given)
        else:
            kinds = "mscclc.torch.Options, or ProcessGroupNCCL.Options for the NCCL behind"
            raise TypeError(f"mscclc: pg_options are {type(given).__name__}; they must be {kinds}")
        made._timeout = timeout
        return made

    def of_nccl(self) -> Any:
        """Returns the options of the NCCL behind."""
        options = self.nccl or dist.ProcessGroupNCCL.Options()
        options._timeout = self._timeout
        options.is_high_priority_stream = self.is_high_priority_stream or options.is_high_priority_stream
        return options

    def stream(self) -> "torch.cuda.Stream":
        return torch.cuda.Stream(priority=-1 if self.is_high_priority_stream else 0)

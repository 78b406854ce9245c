"""Dispatch and combine of a mixture of experts, with the calls of DeepEP's low-latency kernels.

    from mscclc.torch.moe import Buffer
    buffer = Buffer(group)
    recv_x, recv_count, handle, event, hook = buffer.low_latency_dispatch(x, topk_idx, max_tokens, experts, use_fp8=False)
    combined, event, hook = buffer.low_latency_combine(made, topk_idx, topk_weights, handle)

In a group "mscclc" registered kernels of samples/auto/moe_dispatch.cpp and moe_combine.cpp move the rows, and read the index
where it is. Where none fits, or in another group, the host reads the counts, and all_to_all_single moves the rows. Both give
the same bits. `dispatch` and `combine` are the same with gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist

from .ops import _before, _spread

__all__ = ["Buffer", "Handle", "combine", "dispatch"]


@dataclass(frozen=True)
class Handle:
    """A dispatch that a combine goes back. Its layout: the rows of an expert follow each other, or those of a sender."""

    capacity: int  # rows that an expert has room for from each rank
    experts: int  # of each rank
    rank_major: bool
    cells: torch.Tensor  # int32 [ranks, experts]: rows that each rank has sent to each expert here

    @property
    def name(self) -> str:
        """What the collective of a kernel of this form is called, behind its first word."""
        return f"+{self.experts}experts" + ("+rank_major" if self.rank_major else "")


class Event:
    """What DeepEP returns for waits. Every call here is ordered on the current stream, so there is nothing to wait for."""

    def current_stream_wait(self) -> None:
        return None


def _flat(index: torch.Tensor, experts: int, capacity: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the live entries, in the order of experts and then their own, and the number of those of each expert."""
    named = index.flatten()
    entries = torch.nonzero((named >= 0) & (named < experts)).flatten()
    entries = entries[torch.sort(named[entries], stable=True).indices]
    counts = torch.bincount(named[entries], minlength=experts)
    ordinals = torch.arange(entries.numel(), device=index.device) - _before(counts).repeat_interleave(counts)
    return entries[ordinals < capacity], counts.clamp(max=capacity)


def _begins(came: torch.Tensor, handle: Handle) -> torch.Tensor:
    """Returns where the rows of each cell begin in the layout; `came` is as Handle.cells."""
    size, experts = came.shape
    if handle.rank_major:
        group = torch.arange(size, device=came.device)[:, None] * experts
        return group * handle.capacity + came.cumsum(1) - came
    group = torch.arange(experts, device=came.device) * size
    return group * handle.capacity + came.cumsum(0) - came


def _plain_dispatch(x: torch.Tensor, index: torch.Tensor, to: torch.Tensor, handle: Handle, group: Any) -> None:
    """Without a kernel. Fills `to` and the cells of the handle."""
    size = group.size()
    entries, counts = _flat(index, size * handle.experts, handle.capacity)
    sent, came = counts.view(size, -1), torch.empty_like(counts).view(size, -1)
    dist.all_to_all_single(came, sent.contiguous(), group=group)
    given, lengths = sent.sum(1).tolist(), came.sum(1).tolist()
    packed = x.new_empty(sum(lengths), x.shape[1])
    dist.all_to_all_single(packed, x[entries // index.shape[1]], lengths, given, group=group)
    flat = came.flatten()
    _spread(packed, to, flat, _before(flat), _begins(came, handle).flatten())
    handle.cells.copy_(came)


def _plain_combine(
    z: torch.Tensor, index: torch.Tensor, weights: torch.Tensor, to: torch.Tensor, handle: Handle, group: Any
) -> None:
    size = group.size()
    entries, counts = _flat(index, size * handle.experts, handle.capacity)
    came = handle.cells.to(torch.int64)
    flat = came.flatten()
    packed = z.new_empty(int(flat.sum()), z.shape[1])
    _spread(z, packed, flat, _begins(came, handle).flatten(), _before(flat))
    back = z.new_empty(entries.numel(), z.shape[1])
    lengths = counts.view(size, -1).sum(1).tolist()
    dist.all_to_all_single(back, packed, lengths, came.sum(1).tolist(), group=group)
    place = torch.full((index.numel(),), -1, dtype=torch.int64, device=index.device)
    place[entries] = torch.arange(entries.numel(), device=index.device)
    place = place.view(index.shape)
    total = torch.zeros(to.shape, dtype=torch.float32, device=to.device)
    for choice in range(index.shape[1]):
        rows = torch.nonzero(place[:, choice] >= 0).flatten()
        product = weights[rows, choice, None] * back[place[rows, choice]].float()
        total[rows] = total[rows] + product
    to.copy_(total)


def _moved(group: Any, collective: str, given: torch.Tensor, to: torch.Tensor, handle: Handle, **index: Any) -> bool:
    """Runs a kernel, if there is one. `index`: fields of MscclcIndex; "entries" is the index."""
    run = getattr(group, "by_index", None)
    if run is None:
        return False
    entries = index["entries"]
    work = 4 * (entries.numel() + group.size() * (5 * handle.experts + 1))
    row = math.prod(given.shape[1:]) * given.element_size()
    done: bool = run(
        collective + handle.name,
        given,
        to,
        group.size() * handle.experts * handle.capacity * row,
        {
            **index,
            "rows": entries.shape[0],
            "choices": entries.shape[1],
            "width": entries.element_size(),
            "work": torch.empty(work, dtype=torch.uint8, device=given.device),
        },
    )
    return done


def _indexed(rows: torch.Tensor, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns contiguous rows with their index, at least one row of them: a kernel wants their memory."""
    if rows.dim() != 2 or index.dim() != 2 or index.shape[1] == 0 or rows.shape[0] != index.shape[0]:
        raise ValueError(f"rows {list(rows.shape)} and an index {list(index.shape)} do not belong together")
    if index.dtype not in (torch.int32, torch.int64):
        raise ValueError(f"an index is int32 or int64, not {index.dtype}")
    if rows.device != index.device:
        raise ValueError(f"rows are on {rows.device} and their index on {index.device}")
    if index.shape[0] != 0:
        return rows.contiguous(), index.contiguous()
    return rows.new_zeros(1, rows.shape[1]), index.new_full((1, index.shape[1]), -1)


def _dispatch(x: torch.Tensor, index: torch.Tensor, handle: Handle, group: Any) -> torch.Tensor:
    """Returns the rows of this rank's experts, in one dimension. Those behind live rows are zero."""
    to = x.new_zeros(group.size() * handle.experts * handle.capacity, x.shape[1])
    x, index = _indexed(x, index)
    if not _moved(group, "dispatch", x, to, handle, entries=index, cells=handle.cells):
        _plain_dispatch(x, index, to, handle, group)
    return to


def _combine(z: torch.Tensor, index: torch.Tensor, weights: torch.Tensor, handle: Handle, group: Any) -> torch.Tensor:
    expected = group.size() * handle.experts * handle.capacity
    if z.dim() != 2 or z.shape[0] != expected:
        raise ValueError(f"a combine of {list(z.shape)}: the rows of experts are [{expected}, hidden]")
    if z.device != weights.device:
        raise ValueError(f"the rows of experts are on {z.device} and the weights on {weights.device}")
    rows, (to, entries) = index.shape[0], _indexed(z.new_empty(index.shape[0], z.shape[1]), index)
    weights = weights.float().contiguous() if rows else weights.new_zeros(entries.shape, dtype=torch.float32)
    if weights.shape != entries.shape:
        raise ValueError(f"weights {list(weights.shape)} and an index {list(entries.shape)} differ")
    z = z.contiguous()
    if not _moved(group, "combine", z, to, handle, entries=entries, weights=weights):
        _plain_combine(z, entries, weights, to, handle, group)
    return to[:rows]


def _handle(index: torch.Tensor, capacity: int, experts: int, group: Any, rank_major: bool = False) -> Handle:
    size = group.size()
    if experts <= 0 or experts % size != 0 or capacity <= 0:
        raise ValueError(f"{experts} experts with room for {capacity} rows of each of {size} ranks")
    cells = torch.zeros(size, experts // size, dtype=torch.int32, device=index.device)
    return Handle(capacity, experts // size, rank_major, cells)


class _Dispatch(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, index: torch.Tensor, handle: Handle, group: Any) -> torch.Tensor:
        ctx.save_for_backward(index)
        ctx.handle, ctx.group = handle, group
        return _dispatch(x, index, handle, group)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        (index,) = ctx.saved_tensors
        ones = torch.ones(index.shape, device=gradient.device)
        return _combine(gradient, index, ones, ctx.handle, ctx.group), None, None, None


class _Combine(torch.autograd.Function):
    """The gradient of a row of an expert is that of its entry's row, multiplied by its weight. So entries go to the experts
    as rows of one choice each, which takes them to the same places."""

    @staticmethod
    def forward(
        ctx: Any, z: torch.Tensor, index: torch.Tensor, weights: torch.Tensor, handle: Handle, group: Any
    ) -> torch.Tensor:
        ctx.save_for_backward(z, index, weights)
        ctx.handle, ctx.group = handle, group
        return _combine(z, index, weights, handle, group)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        z, index, weights = ctx.saved_tensors
        alone = index.reshape(-1, 1)
        every = gradient.repeat_interleave(index.shape[1], 0)
        scaled = (every * weights.reshape(-1, 1)).to(gradient.dtype)
        same = Handle(ctx.handle.capacity, ctx.handle.experts, ctx.handle.rank_major, torch.zeros_like(ctx.handle.cells))
        rows = _combine(z, alone, torch.ones(alone.shape, device=z.device), ctx.handle, ctx.group)
        by_weight = (rows.float() * every.float()).sum(1).view(weights.shape).to(weights.dtype)
        return _dispatch(scaled, alone, same, ctx.group), None, by_weight, None, None


def dispatch(
    x: torch.Tensor, topk_idx: torch.Tensor, capacity: int, experts: int, group: Any, rank_major: bool = False
) -> "tuple[torch.Tensor, Handle]":
    """Sends row i of `x` [rows, hidden] to each of the experts topk_idx[i] (int32 or int64; a number of no expert: to none).
    `experts`: those of all ranks; expert e is on rank e // (experts / ranks). `capacity`: how many rows an expert takes from
    each rank, the first ones. Returns [experts / ranks, ranks * capacity, hidden], in which the rows of an expert follow
    each other in the order of ranks; with `rank_major` [ranks, experts / ranks * capacity, hidden], with those of a rank in
    the order of experts. Rows behind them are zero. The handle says how many came (Handle.cells). Collective."""
    handle = _handle(topk_idx, capacity, experts, group, rank_major)
    rows = _Dispatch.apply(x, topk_idx, handle, group)
    return rows.view(group.size() if rank_major else handle.experts, -1, x.shape[1]), handle


def combine(
    z: torch.Tensor, topk_idx: torch.Tensor, topk_weights: torch.Tensor, handle: Handle, group: Any
) -> torch.Tensor:
    """Returns what experts made of the rows of a dispatch with this index: row i is the sum of the rows of its experts, each
    multiplied by its weight (f32). Products are rounded to f32, and added in the order of the index. `z`: as `dispatch`
    returns it. Collective."""
    rows: torch.Tensor = _Combine.apply(z.reshape(-1, z.shape[-1]), topk_idx, topk_weights, handle, group)
    return rows


class Buffer:
    """Takes the place of deep_ep.Buffer, for its low-latency calls. Rows keep their type: there is no fp8, so a dispatch
    needs use_fp8=False. Sends and receives are not apart, so there is no hook. No call has gradients."""

    def __init__(
        self,
        group: Any,
        num_nvl_bytes: int = 0,
        num_rdma_bytes: int = 0,
        low_latency_mode: bool = True,
        *unused: Any,
        **options: Any,
    ):
        """The memory is that of the group, so only the group is used."""
        self.group = group

    @staticmethod
    def get_low_latency_rdma_size_hint(*sizes: int) -> int:
        """Returns 0: a buffer has no memory of its own."""
        return 0

    def clean_low_latency_buffer(self, *sizes: int) -> None:
        """Does nothing: no call leaves anything in memory that a next call reads."""

    def low_latency_dispatch(
        self,
        x: torch.Tensor,
        topk_idx: torch.Tensor,
        num_max_dispatch_tokens_per_rank: int,
        num_experts: int,
        use_fp8: bool = True,
        async_finish: bool = False,
        return_recv_hook: bool = False,
    ) -> Any:
        """Returns recv_x [experts of this rank, ranks * num_max_dispatch_tokens_per_rank, hidden], recv_count (int32: live
        rows of each expert), a handle, an event and no hook. Raises ValueError for more rows than
        num_max_dispatch_tokens_per_rank, and unless `use_fp8` is False."""
        if use_fp8 or return_recv_hook:
            raise ValueError("there is neither use_fp8, which is True unless given, nor return_recv_hook")
        if x.shape[0] > num_max_dispatch_tokens_per_rank:
            raise ValueError(
                f"{x.shape[0]} rows are more than num_max_dispatch_tokens_per_rank, {num_max_dispatch_tokens_per_rank}"
            )
        handle = _handle(topk_idx, num_max_dispatch_tokens_per_rank, num_experts, self.group)
        with torch.no_grad():
            rows = _dispatch(x, topk_idx, handle, self.group)
        count = handle.cells.sum(0, dtype=torch.int32)
        return rows.view(handle.experts, -1, x.shape[1]), count, handle, Event(), None

    def low_latency_combine(
        self,
        x: torch.Tensor,
        topk_idx: torch.Tensor,
        topk_weights: torch.Tensor,
        handle: Handle,
        zero_copy: bool = False,
        async_finish: bool = False,
        return_recv_hook: bool = False,
        out: "torch.Tensor | None" = None,
    ) -> Any:
        """Returns the combined rows [rows, hidden], an event and no hook. `out` gets the rows, too, if it is given."""
        if zero_copy or return_recv_hook:
            raise ValueError("there is neither zero_copy nor return_recv_hook")
        with torch.no_grad():
            made = _combine(x.reshape(-1, x.shape[-1]), topk_idx, topk_weights, handle, self.group)
            if out is not None:
                made = out.copy_(made)
        return made, Event(), None

"""Dispatch and combine of a mixture of experts, with the calls of DeepEP's low-latency kernels.

    from mscclc.torch.moe import Buffer
    buffer = Buffer(group)
    recv_x, recv_count, handle, event, hook = buffer.low_latency_dispatch(x, topk_idx, max_tokens, experts)
    combined, event, hook = buffer.low_latency_combine(made, topk_idx, topk_weights, handle)

In a group "mscclc" registered kernels of samples/auto/moe_dispatch.cpp and moe_combine.cpp move the rows, and read the index
where it is. Where none fits, or in another group, the host reads the counts, and all_to_all_single moves the rows. Both give
the same bits. `dispatch` and `combine` are the same with gradients."""

from __future__ import annotations

import functools
import math
import time
from dataclasses import dataclass, replace
from typing import Any, Callable, Sequence

import torch
import torch.distributed as dist

from ..abi import INDEX_PARTS, MAX_PAYLOADS
from .engine import rounded
from .ops import _before, _spread

__all__ = ["Buffer", "Handle", "Ready", "combine", "dispatch", "dispatch_all", "quantize", "ready_words"]

_SCALED = 128  # elements with one scale


@dataclass(frozen=True)
class Ready:
    """Words by which a dispatch hands its rows over to a kernel of the user, or a kernel of the user its rows to a combine,
    in blocks: `ready_words` makes them. A dispatch sets words[1 + group * blocks + b] to a negative number, that of the
    block's live rows plus -2**31, when the rows of a group (Handle) from b * rows on are there. A combine waits until each
    word is negative before it reads the rows. mscclc/ready.cuh has functions for both sides of a kernel. All words are 0
    before a call. A combine sets them back to 0, and after a dispatch the user does, by ready::finish() or words.zero_().
    """

    words: torch.Tensor  # int32 [1 + groups * blocks], on the device of the rows
    rows: int  # of a block
    blocks: int  # of a group

    def announce(self, cells: torch.Tensor) -> None:
        """Sets all words. `cells` [groups, members]: the rows that came."""
        first = torch.arange(self.blocks, device=cells.device) * self.rows
        live = (cells.sum(1)[:, None] - first).clamp(0, self.rows)
        self.words[1:] = (live - (1 << 31)).flatten().to(torch.int32)

    def take(self) -> None:
        """Waits until all words are set, and sets them back."""
        while not bool((self.words[1:] < 0).all()):
            time.sleep(0)
        self.words.zero_()


def _blocks_of(members: int, capacity: int, rows: int) -> int:
    """Returns the blocks of `rows` rows of a group of `members` cells (mscclc_ready_blocks in runtime_abi.h)."""
    return (members * capacity + rows - 1) // rows


def ready_words(
    rows: int, capacity: int, experts: int, group: Any, rank_major: bool = False, device: Any = None
) -> Ready:
    """Returns words for blocks of `rows` rows, of calls with these arguments (dispatch). Kernels that were compiled with
    ready=rows use them while they run; without such a kernel a dispatch sets them at its end. A call has its own words."""
    size = group.size()
    if rows <= 0:
        raise ValueError(f"a block has {rows} rows")
    groups, members = (size, experts // size) if rank_major else (experts // size, size)
    blocks = _blocks_of(members, capacity, rows)
    return Ready(torch.zeros(1 + groups * blocks, dtype=torch.int32, device=device), rows, blocks)


@dataclass(frozen=True)
class Handle:
    """A dispatch that a combine goes back. Its layout: the rows of an expert follow each other, or those of a sender."""

    capacity: int  # rows that an expert has room for from each rank
    experts: int  # of each rank
    rank_major: bool
    cells: torch.Tensor  # int32 [ranks, experts]: rows that each rank has sent to each expert here
    align: int = 0  # rows; see dispatch
    ready: "Ready | None" = None  # the words that the dispatch sets

    @property
    def groups(self) -> int:
        """The number of groups of rows. A group is what an expert gets, or what a rank sends."""
        return self.cells.shape[0] if self.rank_major else self.experts

    def taken(self, rows: Any) -> Any:
        """Returns the rows that groups of `rows` rows take."""
        if self.align == 0:
            return rows * 0 + self.cells.numel() // self.groups * self.capacity
        return (rows + (rows == 0) * int(self.align > 1) + self.align - 1) // self.align * self.align

    @property
    def room(self) -> int:
        """The rows of a dispatch's result, and of what a combine takes."""
        return self.groups * int(self.taken(self.cells.numel() * self.capacity // self.groups))

    @property
    def begins(self) -> torch.Tensor:
        """int64 [ranks, experts]: the row at which the rows of a rank for an expert begin."""
        return self.begins_of(self.cells.to(torch.int64))

    def begins_of(self, cells: torch.Tensor) -> torch.Tensor:
        """Returns what `begins` is for other cells (int64)."""
        grouped = cells if self.rank_major else cells.T
        begin = _before(self.taken(grouped.sum(1)))[:, None] + grouped.cumsum(1) - grouped
        return begin if self.rank_major else begin.T

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


def _plain_dispatch(
    x: list[torch.Tensor], index: torch.Tensor, to: list[torch.Tensor], handle: Handle, group: Any
) -> None:
    """Without a kernel. Fills `to` and the cells of the handle. The payloads of a row travel together, as its bytes."""
    size = group.size()
    entries, counts = _flat(index, size * handle.experts, handle.capacity)
    sent, came = counts.view(size, -1), torch.empty_like(counts).view(size, -1)
    dist.all_to_all_single(came, sent.contiguous(), group=group)
    given, lengths = sent.sum(1).tolist(), came.sum(1).tolist()
    rows = torch.cat([payload.view(torch.uint8) for payload in x], 1)
    packed = rows.new_empty(sum(lengths), rows.shape[1])
    dist.all_to_all_single(packed, rows[entries // index.shape[1]], lengths, given, group=group)
    flat, begin = came.flatten(), 0
    for made in to:
        end = begin + made.shape[1] * made.element_size()
        payload = packed[:, begin:end]
        _spread(payload, made.view(torch.uint8), flat, _before(flat), handle.begins_of(came).flatten())
        begin = end
    handle.cells.copy_(came)


def _plain_combine(
    z: torch.Tensor, index: torch.Tensor, weights: torch.Tensor, to: torch.Tensor, handle: Handle, group: Any
) -> None:
    size = group.size()
    entries, counts = _flat(index, size * handle.experts, handle.capacity)
    came = handle.cells.to(torch.int64)
    flat = came.flatten()
    packed = z.new_empty(int(flat.sum()), z.shape[1])
    _spread(z, packed, flat, handle.begins_of(came).flatten(), _before(flat))
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


def _begin(
    group: Any,
    collective: str,
    given: list[torch.Tensor],
    to: list[torch.Tensor],
    handle: Handle,
    in_parts: bool,
    ready: "Ready | None",
    **index: torch.Tensor,
) -> Callable[[], bool]:
    """Starts a kernel. Returns a function that waits for it, and returns False if there was none. `index`: fields of
    MscclcIndex; "entries" is the index. A payload without bytes is not moved. `in_parts`: a split kernel receives when
    that function is called."""
    run = getattr(group, "by_index", None)
    pairs = [(payload, made) for payload, made in zip(given, to) if math.prod(made.shape[1:]) != 0]
    if run is None or not pairs:
        return lambda: False
    given, to = [payload for payload, _ in pairs], [made for _, made in pairs]
    entries = index["entries"]
    work = 4 * (2 * entries.numel() + group.size() * ((4 + INDEX_PARTS) * handle.experts + 1))
    row = sum(math.prod(payload.shape[1:]) * payload.element_size() for payload in given)
    if len(given) > 1:
        row = rounded(row)  # so that slots are moved in long words
    if ready is not None:
        index["ready"] = ready.words
    finish: Callable[[], bool] = run(
        collective + handle.name + ("" if ready is None else f"+{ready.rows}ready"),
        given,
        to,
        group.size() * handle.experts * handle.capacity,
        row,
        {
            **index,
            "rows": entries.shape[0],
            "choices": entries.shape[1],
            "width": entries.element_size(),
            "align": handle.align,
            "work": torch.empty(work, dtype=torch.uint8, device=entries.device),
        },
        in_parts,
    )
    return finish


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


def _begin_dispatch(
    x: list[torch.Tensor], index: torch.Tensor, handle: Handle, group: Any, in_parts: bool = False
) -> tuple[list[torch.Tensor], Callable[[], None]]:
    """Returns what becomes the rows of this rank's experts for each payload, in one dimension, and a function that waits
    for them. Rows behind live ones are zero."""
    if not 0 < len(x) <= MAX_PAYLOADS:
        raise ValueError(f"rows have {len(x)} payloads, and there may be 1 to {MAX_PAYLOADS}")
    given = [_indexed(payload, index) for payload in x]
    x, entries = [payload for payload, _ in given], given[0][1]
    to = [payload.new_zeros(handle.room, payload.shape[1]) for payload in x]
    _check_words(handle.ready, handle, x[0])
    moved = _begin(group, "dispatch", x, to, handle, in_parts, handle.ready, entries=entries, cells=handle.cells)

    def finish() -> None:
        if not moved():
            _plain_dispatch(x, entries, to, handle, group)
            if handle.ready is not None:
                handle.ready.announce(handle.cells if handle.rank_major else handle.cells.T)

    return to, finish


def _dispatch(x: torch.Tensor, index: torch.Tensor, handle: Handle, group: Any) -> torch.Tensor:
    made, finish = _begin_dispatch([x], index, handle, group)
    finish()
    return made[0]


def _check_words(ready: "Ready | None", handle: Handle, rows: torch.Tensor) -> None:
    """Raises ValueError if words are not those of such rows."""
    if ready is None:
        return
    blocks = _blocks_of(handle.cells.numel() // handle.groups, handle.capacity, ready.rows)
    words, wanted = ready.words, 1 + handle.groups * blocks
    if (words.shape, words.dtype, words.device) != ((wanted,), torch.int32, rows.device) or ready.blocks != blocks:
        raise ValueError(f"words {list(words.shape)} on {words.device}: these are [{wanted}] on {rows.device}")


def _begin_combine(
    z: torch.Tensor,
    index: torch.Tensor,
    weights: torch.Tensor,
    handle: Handle,
    group: Any,
    in_parts: bool = False,
    ready: "Ready | None" = None,
) -> tuple[torch.Tensor, Callable[[], None]]:
    """Returns what becomes the sums, and a function that waits for them."""
    if z.dim() != 2 or z.shape[0] != handle.room:
        raise ValueError(f"a combine of {list(z.shape)}: the rows of experts are [{handle.room}, hidden]")
    if z.device != weights.device:
        raise ValueError(f"the rows of experts are on {z.device} and the weights on {weights.device}")
    rows, (to, entries) = index.shape[0], _indexed(z.new_empty(index.shape[0], z.shape[1]), index)
    weights = weights.float().contiguous() if rows else weights.new_zeros(entries.shape, dtype=torch.float32)
    if weights.shape != entries.shape:
        raise ValueError(f"weights {list(weights.shape)} and an index {list(entries.shape)} differ")
    _check_words(ready, handle, z)
    z = z.contiguous()
    moved = _begin(
        group, "combine", [z], [to], handle, in_parts, ready, entries=entries, weights=weights, cells=handle.cells
    )

    def finish() -> None:
        if not moved():
            if ready is not None:
                ready.take()
            _plain_combine(z, entries, weights, to, handle, group)

    return to[:rows], finish


def _combine(
    z: torch.Tensor,
    index: torch.Tensor,
    weights: torch.Tensor,
    handle: Handle,
    group: Any,
    ready: "Ready | None" = None,
) -> torch.Tensor:
    made, finish = _begin_combine(z, index, weights, handle, group, ready=ready)
    finish()
    return made


def _handle(
    index: torch.Tensor,
    capacity: int,
    experts: int,
    group: Any,
    rank_major: bool = False,
    align: int = 0,
    ready: "Ready | None" = None,
) -> Handle:
    size = group.size()
    if experts <= 0 or experts % size != 0 or capacity <= 0 or not 0 <= align < 1 << 31:
        raise ValueError(f"{experts} experts with room for {capacity} rows of each of {size} ranks, aligned to {align}")
    cells = torch.zeros(size, experts // size, dtype=torch.int32, device=index.device)
    return Handle(capacity, experts // size, rank_major, cells, align, ready)


def _grouped(rows: torch.Tensor, handle: Handle) -> torch.Tensor:
    """Returns the rows of a dispatch, with a dimension for groups if each has a place of its own."""
    if handle.align != 0:
        return rows
    return rows.view(handle.groups, handle.room // handle.groups, rows.shape[1])


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
        ctx: Any,
        z: torch.Tensor,
        index: torch.Tensor,
        weights: torch.Tensor,
        handle: Handle,
        group: Any,
        ready: "Ready | None",
    ) -> torch.Tensor:
        ctx.save_for_backward(z, index, weights)
        ctx.handle, ctx.group = handle, group
        return _combine(z, index, weights, handle, group, ready)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        z, index, weights = ctx.saved_tensors
        alone = index.reshape(-1, 1)
        every = gradient.repeat_interleave(index.shape[1], 0)
        scaled = (every * weights.reshape(-1, 1)).to(gradient.dtype)
        same = replace(ctx.handle, cells=torch.zeros_like(ctx.handle.cells), ready=None)
        rows = _combine(z, alone, torch.ones(alone.shape, device=z.device), ctx.handle, ctx.group)
        by_weight = (rows.float() * every.float()).sum(1).view(weights.shape).to(weights.dtype)
        return _dispatch(scaled, alone, same, ctx.group), None, by_weight, None, None, None


def dispatch(
    x: torch.Tensor,
    topk_idx: torch.Tensor,
    capacity: int,
    experts: int,
    group: Any,
    rank_major: bool = False,
    align: int = 0,
    ready: "Ready | None" = None,
) -> "tuple[torch.Tensor, Handle]":
    """Sends row i of `x` [rows, hidden] to each of the experts topk_idx[i] (int32 or int64; a number of no expert: to none).
    `experts`: those of all ranks; expert e is on rank e // (experts / ranks). `capacity`: how many rows an expert takes from
    each rank, the first ones. Returns [experts / ranks, ranks * capacity, hidden], in which the rows of an expert follow
    each other in the order of ranks; with `rank_major` [ranks, experts / ranks * capacity, hidden], with those of a rank in
    the order of experts. Rows behind them are zero. The handle says how many came (Handle.cells). With `align`, the result
    is [Handle.room, hidden]: groups of rows follow each other, and each begins at a multiple of `align` rows
    (Handle.begins). A group without rows takes `align` rows; with 1 it takes none, and rows are packed. `ready`: words that
    say which rows are there while others are under way, for a kernel on another stream (Ready). Collective."""
    handle = _handle(topk_idx, capacity, experts, group, rank_major, align, ready)
    rows = _Dispatch.apply(x, topk_idx, handle, group)
    return _grouped(rows, handle), handle


def dispatch_all(
    payloads: Sequence[torch.Tensor],
    topk_idx: torch.Tensor,
    capacity: int,
    experts: int,
    group: Any,
    rank_major: bool = False,
    align: int = 0,
    ready: "Ready | None" = None,
) -> "tuple[list[torch.Tensor], Handle]":
    """Does what `dispatch` does for rows that have several payloads, for example numbers, scales and ids. Row i of all
    tensors [rows, any] goes to the same place of each result. They travel together. There are at most 4, without
    gradients. Collective."""
    handle = _handle(topk_idx, capacity, experts, group, rank_major, align, ready)
    with torch.no_grad():
        made, finish = _begin_dispatch(list(payloads), topk_idx, handle, group)
        finish()
    return [_grouped(rows, handle) for rows in made], handle


def quantize(x: torch.Tensor) -> "tuple[torch.Tensor, torch.Tensor]":
    """Returns rows [rows, hidden] as float8_e4m3fn, and their scales (f32) [rows, hidden / 128]: one for each 128 elements.
    A scale is the largest absolute value of its elements, but at least 0.0001, divided by 448, the largest number of that
    type. So x is about the product of both, as in DeepEP (tests/utils.py, per_token_cast_to_fp8)."""
    if x.shape[1] == 0 or x.shape[1] % _SCALED != 0:
        raise ValueError(f"rows of {x.shape[1]} elements do not have a scale for each {_SCALED}")
    blocks = x.float().reshape(x.shape[0], x.shape[1] // _SCALED, _SCALED)
    most = blocks.abs().amax(2).clamp(min=1e-4)
    return (blocks * (448.0 / most)[:, :, None]).to(torch.float8_e4m3fn).view(x.shape), most / 448.0


def combine(
    z: torch.Tensor,
    topk_idx: torch.Tensor,
    topk_weights: torch.Tensor,
    handle: Handle,
    group: Any,
    ready: "Ready | None" = None,
) -> torch.Tensor:
    """Returns what experts made of the rows of a dispatch with this index: row i is the sum of the rows of its experts, each
    multiplied by its weight (f32). Products are rounded to f32, and added in the order of the index. `z`: as `dispatch`
    returns it. `ready`: words that say which rows of `z` are there; a kernel on another stream sets them (Ready).
    Collective."""
    if ready is not None and not z.is_contiguous():
        raise ValueError("rows that are handed over are contiguous")
    rows: torch.Tensor = _Combine.apply(z.reshape(-1, z.shape[-1]), topk_idx, topk_weights, handle, group, ready)
    return rows


def _once(receive: Callable[[], None], is_later: bool) -> "Callable[[], None] | None":
    """Returns a function that calls `receive` where it is called first; without `is_later`, calls it at once."""
    if is_later:
        return functools.cache(receive)
    receive()
    return None


class Buffer:
    """Takes the place of deep_ep.Buffer, for its low-latency calls. With `return_recv_hook`, a call returns while its rows
    are under way. Its last result is then a function, which every rank has to call before anything that the call returned
    is read; x and the index stay as they are until then. Kernels that were compiled with `split` then occupy no
    multiprocessor: a call only sends, and the function receives. Any other call of the group receives first. Without
    `return_recv_hook` the last result is None. No call has gradients."""

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
        rows of each expert), a handle, an event and the hook. With `use_fp8`, recv_x is a pair: what `quantize` makes of the
        rows, where the last two dimensions of scales are column-major. Raises ValueError for more rows than
        num_max_dispatch_tokens_per_rank, and for a hidden that `quantize` refuses."""
        if x.shape[0] > num_max_dispatch_tokens_per_rank:
            raise ValueError(
                f"{x.shape[0]} rows are more than num_max_dispatch_tokens_per_rank, {num_max_dispatch_tokens_per_rank}"
            )
        handle = _handle(topk_idx, num_max_dispatch_tokens_per_rank, num_experts, self.group)
        with torch.no_grad():
            payloads = list(quantize(x)) if use_fp8 else [x]
            made, finish = _begin_dispatch(payloads, topk_idx, handle, self.group, return_recv_hook)
            came = [_grouped(rows, handle) for rows in made]
            by = came[1].new_empty(came[1].mT.shape).mT if use_fp8 else None
            count = torch.empty(handle.experts, dtype=torch.int32, device=x.device)

        def receive() -> None:
            with torch.no_grad():
                finish()
                torch.sum(handle.cells, 0, dtype=torch.int32, out=count)
                if by is not None:
                    by.copy_(came[1])

        hook = _once(receive, return_recv_hook)
        return (came[0], by) if use_fp8 else came[0], count, handle, Event(), hook

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
        """Returns the combined rows [rows, hidden], an event and the hook. They are `out` if that is given."""
        if zero_copy:
            raise ValueError("there is no zero_copy")
        with torch.no_grad():
            rows = x.reshape(-1, x.shape[-1])
            made, finish = _begin_combine(rows, topk_idx, topk_weights, handle, self.group, return_recv_hook)

        def receive() -> None:
            with torch.no_grad():
                finish()
                if out is not None:
                    out.copy_(made)

        return made if out is None else out, Event(), _once(receive, return_recv_hook)

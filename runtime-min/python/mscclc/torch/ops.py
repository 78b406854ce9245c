"""All-to-all with splits that only the device knows, with the signatures and layouts of PyTorch's torch.ops.symm_mem.

These are operators too: torch.ops.mscclc.all_to_all_vdev and so on. They work on groups of any backend and tensors of any
memory. In a group "mscclc" a registered kernel of packed rows (samples/auto/alltoallv_packed.cpp) moves the rows, and reads
the splits where they are. Where none fits, the splits are read by the host, and all_to_all_single moves the rows.

`input` and `out` have rows along dimension 0, of one type and length, and as many on all ranks. Splits and offsets are
int64, in rows. Rows of `out` that nothing arrives in stay as they are."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from .operators import _resolve_process_group

__all__ = ["all_to_all_vdev", "all_to_all_vdev_2d", "all_to_all_vdev_2d_offset"]


def _check(
    input: torch.Tensor, out: torch.Tensor, splits: torch.Tensor, made: torch.Tensor, size: int, dims: int = 1
) -> None:
    """`splits` has `dims` dimensions: numbers, or two rows of them. Its last dimension is that of `made`: a number for
    each rank, or for each expert of each rank."""
    if any(not tensor.is_contiguous() for tensor in (input, out, splits, made)):
        raise ValueError("input, out, splits and offsets must be contiguous")
    if input.dim() == 0 or input.dtype != out.dtype or input.shape[1:] != out.shape[1:]:
        raise ValueError(f"rows of {list(input.shape)} of {input.dtype} and of {list(out.shape)} of {out.dtype} differ")
    if splits.dtype != torch.int64 or made.dtype != torch.int64:
        raise ValueError(f"splits and offsets are int64, not {splits.dtype} and {made.dtype}")
    numbers = made.shape[1] if made.dim() == 2 and made.shape[0] == 2 else 0
    if numbers == 0 or numbers % size != 0 or list(splits.shape) != [2, numbers][-dims:]:
        raise ValueError(
            f"splits and offsets have the shapes {list(splits.shape)} and {list(made.shape)}; the latter has two rows, "
            f"each with as many numbers as there are splits, a multiple of {size} ranks"
        )


def _before(lengths: torch.Tensor) -> torch.Tensor:
    """The exclusive sums of a vector."""
    return lengths.cumsum(0) - lengths


def _move(input: torch.Tensor, out: torch.Tensor, splits: torch.Tensor, made: torch.Tensor, group: Any) -> None:
    """all_to_all_vdev of checked arguments."""
    run = getattr(group, "alltoallv", None)
    if run is not None and run(out, input, splits, made):
        return
    dist.all_to_all_single(made[0], splits, group=group)
    made[1] = _before(made[0])
    given, came = splits.tolist(), made[0].tolist()
    dist.all_to_all_single(out[: sum(came)], input[: sum(given)], came, given, group=group)


def _spread(rows: torch.Tensor, to: torch.Tensor, lengths: torch.Tensor, source: torch.Tensor, at: torch.Tensor) -> None:
    """Copies slices of rows: slice i of `lengths[i]` rows from row `source[i]` of `rows` to row `at[i]` of `to`."""
    steps = torch.arange(int(lengths.sum()), device=rows.device) - _before(lengths).repeat_interleave(lengths)
    to.index_copy_(0, at.repeat_interleave(lengths) + steps, rows[source.repeat_interleave(lengths) + steps])


@torch.library.custom_op("mscclc::all_to_all_vdev", mutates_args=("out", "out_splits_offsets"))
def all_to_all_vdev(
    input: torch.Tensor,
    out: torch.Tensor,
    in_splits: torch.Tensor,
    out_splits_offsets: torch.Tensor,
    group_name: str,
) -> None:
    """Sends the first `in_splits[0]` rows to rank 0, the next `in_splits[1]` to rank 1, and so on. The rows that come from
    rank 0 begin at row 0 of `out`, and those of a rank follow those of the rank before. `out_splits_offsets` [2, ranks]:
    gets the number of rows from each rank, and where the first of them is."""
    group = _resolve_process_group(group_name)
    _check(input, out, in_splits, out_splits_offsets, group.size())
    if in_splits.numel() != group.size():
        raise ValueError(f"{in_splits.numel()} splits for {group.size()} ranks")
    _move(input, out, in_splits, out_splits_offsets, group)


@torch.library.custom_op("mscclc::all_to_all_vdev_2d", mutates_args=("out", "out_splits_offsets"))
def all_to_all_vdev_2d(
    input: torch.Tensor,
    out: torch.Tensor,
    in_splits: torch.Tensor,
    out_splits_offsets: torch.Tensor,
    group_name: str,
    major_align: int | None = None,
) -> None:
    """Sends rows to experts, each rank with equally many of them: `in_splits[e]` rows go to expert e, behind those for the
    expert before. In `out` the rows of an expert follow each other, by the rank that they come from. An expert begins at
    a multiple of `major_align` rows behind the expert before, and one without rows takes that many [1].
    `out_splits_offsets` [2, experts of a rank * ranks]: gets the number of rows of each expert from each rank, and where
    the first of them is."""
    group = _resolve_process_group(group_name)
    size, align = group.size(), 1 if major_align is None else major_align
    _check(input, out, in_splits, out_splits_offsets, size)
    if align <= 0:
        raise ValueError(f"the alignment is {align}; it must be positive")
    sent = in_splits.view(size, -1)
    came = torch.empty_like(sent)
    dist.all_to_all_single(came, sent, group=group)  # [source, expert]
    packed, places = torch.empty_like(out), in_splits.new_empty(2, size)
    _move(input, packed, sent.sum(1), places, group)
    lengths = came.T.contiguous()  # [expert, source]
    total = lengths.sum(1)
    begin = _before(((total + align - 1) // align * align).clamp(min=align))
    offsets = begin[:, None] + lengths.cumsum(1) - lengths
    source = _before(came.flatten()).view_as(came).T
    _spread(packed, out, lengths.flatten(), source.flatten(), offsets.flatten())
    out_splits_offsets[0], out_splits_offsets[1] = lengths.flatten(), offsets.flatten()


@torch.library.custom_op("mscclc::all_to_all_vdev_2d_offset", mutates_args=("out", "out_splits_offsets"))
def all_to_all_vdev_2d_offset(
    input: torch.Tensor,
    out: torch.Tensor,
    in_splits_offsets: torch.Tensor,
    out_splits_offsets: torch.Tensor,
    group_name: str,
) -> None:
    """The way back: `in_splits_offsets` [2, experts of this rank * ranks] has the number of rows of each expert for each
    rank, and where the first of them is in `input`. Rows arrive in the order of experts, with none between them.
    `out_splits_offsets` [2, experts]: gets the number of rows from each expert of each rank, and where the first is."""
    group = _resolve_process_group(group_name)
    size = group.size()
    _check(input, out, in_splits_offsets, out_splits_offsets, size, dims=2)
    lengths, begin = (numbers.view(-1, size).T.contiguous() for numbers in in_splits_offsets)  # [rank, expert]
    came = torch.empty_like(lengths)
    dist.all_to_all_single(came, lengths, group=group)
    packed, places = torch.empty_like(input), lengths.new_empty(2, size)
    _spread(input, packed, lengths.flatten(), begin.flatten(), _before(lengths.flatten()))
    _move(packed, out, lengths.sum(1), places, group)
    out_splits_offsets[0], out_splits_offsets[1] = came.flatten(), _before(came.flatten())


@all_to_all_vdev.register_fake
@all_to_all_vdev_2d_offset.register_fake
def _(input: torch.Tensor, out: torch.Tensor, splits: torch.Tensor, made: torch.Tensor, group_name: str) -> None:
    return None


@all_to_all_vdev_2d.register_fake
def _(
    input: torch.Tensor,
    out: torch.Tensor,
    splits: torch.Tensor,
    made: torch.Tensor,
    group_name: str,
    major_align: int | None = None,
) -> None:
    return None

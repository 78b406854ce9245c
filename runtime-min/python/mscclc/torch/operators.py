"""Collectives as operators of PyTorch: torch.ops.mscclc.*. torch.compile keeps them whole, and autograd supports
them.

Each takes the name of a group (`group.group_name`) and returns a new tensor. They work on groups of any backend."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as c10d
from torch.distributed import distributed_c10d

_resolve_process_group: Any = getattr(distributed_c10d, "_resolve_process_group")
_REDUCE = {
    "sum": dist.ReduceOp.SUM,
    "min": dist.ReduceOp.MIN,
    "max": dist.ReduceOp.MAX,
    "prod": dist.ReduceOp.PRODUCT,
    "avg": dist.ReduceOp.AVG,
}


def _shape_times(input: torch.Tensor, factor: int) -> list[int]:
    return [input.shape[0] * factor, *input.shape[1:]]


def _share(input: torch.Tensor, group: str) -> list[int]:
    size = _resolve_process_group(group).size()
    if input.dim() == 0 or input.shape[0] % size != 0:
        raise ValueError(f"the first dimension of {list(input.shape)} is no multiple of {size} ranks")
    return [input.shape[0] // size, *input.shape[1:]]


def _op(name: str) -> Any:
    if name not in _REDUCE:
        raise ValueError(f"no operation {name!r}; there are {', '.join(_REDUCE)}")
    return _REDUCE[name]


def _wait(group: Any, name: str, old_name: str, *arguments: Any) -> None:
    """Calls a method of a group by its name, or by its name before PyTorch 2.13, and waits."""
    (getattr(group, name, None) or getattr(group, old_name))(*arguments).wait()


@torch.library.custom_op("mscclc::all_reduce", mutates_args=())
def all_reduce(input: torch.Tensor, op: str, group: str) -> torch.Tensor:
    """Returns the reduction over all ranks, by "sum", "min", "max" or "avg"."""
    made = input.clone(memory_format=torch.contiguous_format)
    dist.all_reduce(made, _op(op), _resolve_process_group(group))
    return made


@torch.library.custom_op("mscclc::symmetric_all_reduce_", mutates_args=("input",))
def symmetric_all_reduce_(input: torch.Tensor, op: str, group: str) -> None:
    """Does `all_reduce` in place, on tensors of `symmetric_empty` of a group "mscclc"."""
    _resolve_process_group(group).symmetric_allreduce(input, _op(op)).wait()


@torch.library.custom_op("mscclc::all_gather", mutates_args=())
def all_gather(input: torch.Tensor, group: str) -> torch.Tensor:
    """Returns the tensors of all ranks, concatenated along the first dimension."""
    resolved = _resolve_process_group(group)
    made = input.new_empty(_shape_times(input, resolved.size()))
    _wait(resolved, "all_gather_single", "_allgather_base", made, input.contiguous(), c10d.AllgatherOptions())
    return made


@torch.library.custom_op("mscclc::reduce_scatter", mutates_args=())
def reduce_scatter(input: torch.Tensor, op: str, group: str) -> torch.Tensor:
    """Returns this rank's share of the reduction, along the first dimension."""
    made = input.new_empty(_share(input, group))
    options = c10d.ReduceScatterOptions()
    options.reduceOp = _op(op)
    _wait(
        _resolve_process_group(group),
        "reduce_scatter_single",
        "_reduce_scatter_base",
        made,
        input.contiguous(),
        options,
    )
    return made


@torch.library.custom_op("mscclc::all_to_all", mutates_args=())
def all_to_all(input: torch.Tensor, group: str) -> torch.Tensor:
    """Sends share r of the first dimension to rank r. Returns the shares that the ranks sent here, in their order."""
    _share(input, group)
    made = torch.empty_like(input, memory_format=torch.contiguous_format)
    dist.all_to_all_single(made, input.contiguous(), group=_resolve_process_group(group))
    return made


@all_reduce.register_fake
def _(input: torch.Tensor, op: str, group: str) -> torch.Tensor:
    return torch.empty_like(input, memory_format=torch.contiguous_format)


@all_gather.register_fake
def _(input: torch.Tensor, group: str) -> torch.Tensor:
    return input.new_empty(_shape_times(input, _resolve_process_group(group).size()))


@reduce_scatter.register_fake
def _(input: torch.Tensor, op: str, group: str) -> torch.Tensor:
    return input.new_empty(_share(input, group))


@all_to_all.register_fake
def _(input: torch.Tensor, group: str) -> torch.Tensor:
    return torch.empty_like(input, memory_format=torch.contiguous_format)


def _keep(names: list[str]) -> Any:
    def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        for name, value in zip(names, inputs[1:]):
            setattr(ctx, name, value)

    return setup


def _scale(context: Any, gradient: torch.Tensor) -> torch.Tensor:
    if context.op not in ("sum", "avg"):
        raise NotImplementedError(f"there is no gradient of the operation {context.op!r}")
    return gradient / _resolve_process_group(context.group).size() if context.op == "avg" else gradient


all_reduce.register_autograd(
    lambda context, gradient: (all_reduce(_scale(context, gradient), "sum", context.group), None, None),
    setup_context=_keep(["op", "group"]),
)
all_gather.register_autograd(
    lambda context, gradient: (reduce_scatter(gradient, "sum", context.group), None), setup_context=_keep(["group"])
)
reduce_scatter.register_autograd(
    lambda context, gradient: (all_gather(_scale(context, gradient), context.group), None, None),
    setup_context=_keep(["op", "group"]),
)
all_to_all.register_autograd(
    lambda context, gradient: (all_to_all(gradient, context.group), None), setup_context=_keep(["group"])
)

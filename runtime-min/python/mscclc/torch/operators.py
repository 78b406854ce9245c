"""Collectives as operators of PyTorch: torch.ops.mscclc.*. torch.compile keeps them whole, and autograd supports
them.

Each takes the name of a group (`group.group_name`) and returns new tensors. They work on groups of any backend."""

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
    if input.dim() == 0:
        raise ValueError("a tensor without dimensions cannot be concatenated along the first one")
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


#: The elements of hooks that compute in float32, as the operators below do.
_OF_HOOKS = (torch.float32, torch.float16, torch.bfloat16)
_LARGEST_F8E4M3 = 448.0


def _check_rows(input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor) -> None:
    if input.dim() == 0 or input.shape[-1] == 0 or not input.is_floating_point():
        raise ValueError(f"{list(input.shape)} of {input.dtype} has no rows of floats")
    if residual.shape != input.shape or weight.shape != input.shape[-1:]:
        shapes = f"the residual has {list(residual.shape)}, the weight {list(weight.shape)}"
        raise ValueError(f"the input has the shape {list(input.shape)}, {shapes}")


def _by_hook(hook: str, group: Any, input: torch.Tensor, arrays: dict[str, torch.Tensor]) -> bool:
    """Sums in place by a kernel of a group "mscclc", whose hook takes `arrays`. False: no kernel did it. All ranks
    decide alike, by the types and sizes of their arguments."""
    run = getattr(group, "allreduce_then", None)
    if run is None or input.dtype not in _OF_HOOKS:
        return False
    if any(arrays[name].dtype != input.dtype for name in ("residual", "gamma")):
        return False
    return all(array.device == input.device for array in arrays.values()) and bool(run(hook, input, arrays))


def _add_rms_norm(
    hook: str,
    input: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    epsilon: float,
    group: str,
    written: dict[str, torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor, bool]:
    """Returns the normalised rows and the new residual. True: a kernel did it, and its hook wrote `written` too."""
    _check_rows(input, residual, weight)
    made, kept = (tensor.clone(memory_format=torch.contiguous_format) for tensor in (input, residual))
    epsilons = input.new_full([1], epsilon, dtype=torch.float32)
    arrays = {"residual": kept, "gamma": weight.contiguous(), "epsilon": epsilons, **written}
    resolved = _resolve_process_group(group)
    if _by_hook(hook, resolved, made, arrays):
        return made, kept, True
    dist.all_reduce(made, group=resolved)
    wide = torch.promote_types(torch.promote_types(input.dtype, residual.dtype), torch.float32)
    kept = (made.to(wide) + kept.to(wide)).to(kept.dtype)
    rows = kept.to(wide)
    inverse = 1 / (rows.square().mean(-1, keepdim=True) + epsilon).sqrt()
    return (rows * inverse * weight.to(wide)).to(input.dtype), kept, False


def _empty_quantized(input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    shape = input.shape
    return (
        input.new_empty(shape, dtype=torch.float8_e4m3fn),
        input.new_empty([*shape[:-1], 1], dtype=torch.float32),
    )


@torch.library.custom_op("mscclc::all_reduce_add_rms_norm", mutates_args=())
def all_reduce_add_rms_norm(
    input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, epsilon: float, group: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns h / sqrt(mean(h²) + epsilon) · weight for each row h, and h, the new residual: the sum over all ranks
    plus `residual`, rounded to its type. A row is the last dimension. It computes in float32; for float64 in that.

    A kernel of "allreduce+add_rms_norm" (samples/auto/allreduce_norm.cpp) does it, where one fits and all types are
    alike; else an all-reduce and PyTorch do. There is no gradient."""
    made, kept, _ = _add_rms_norm("add_rms_norm", input, residual, weight, epsilon, group, {})
    return made, kept


@torch.library.custom_op("mscclc::all_reduce_add_rms_norm_quantize_f8e4m3", mutates_args=())
def all_reduce_add_rms_norm_quantize_f8e4m3(
    input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, epsilon: float, group: str
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns what `all_reduce_add_rms_norm` does, then the normalised rows as float8_e4m3fn, and the float32 scale of
    each row, of shape [..., 1]: max|row| / 448, or 1 if that is 0. A quantised row is the row / scale, rounded.

    The kernel is one of "allreduce+add_rms_norm_quantize", the same sample with the parameter quantize=true."""
    quantized, scales = _empty_quantized(input)
    written = {"quantized": quantized, "scales": scales}
    made, kept, done = _add_rms_norm("add_rms_norm_quantize", input, residual, weight, epsilon, group, written)
    if not done:
        rows = made.float()
        # By a tensor, because on CUDA PyTorch multiplies by the reciprocal of a number.
        torch.div(rows.abs().amax(-1, keepdim=True), scales.new_tensor(_LARGEST_F8E4M3), out=scales)
        scales[scales == 0] = 1
        # Some versions of PyTorch make NaN of what is beyond, as a quotient by a subnormal scale may be.
        quantized.copy_((rows / scales).clamp(-_LARGEST_F8E4M3, _LARGEST_F8E4M3))
    return made, kept, quantized, scales


@all_reduce_add_rms_norm.register_fake
def _(
    input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, epsilon: float, group: str
) -> tuple[torch.Tensor, torch.Tensor]:
    _check_rows(input, residual, weight)
    return input.new_empty(input.shape), residual.new_empty(input.shape)


@all_reduce_add_rms_norm_quantize_f8e4m3.register_fake
def _(
    input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, epsilon: float, group: str
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    _check_rows(input, residual, weight)
    return input.new_empty(input.shape), residual.new_empty(input.shape), *_empty_quantized(input)


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

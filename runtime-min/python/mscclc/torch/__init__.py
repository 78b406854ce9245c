"""mscclc in PyTorch: the backend "mscclc" of torch.distributed, and operators.

    import mscclc.torch
    mscclc.register(mscclc.Kernel.compile("allreduce.cpp", params={"ranks": 2}))
    torch.distributed.init_process_group("mscclc")

Kernels are those that are registered on every rank before a group's first collective; `refresh` of the group takes
later ones. A call that no kernel fits runs by gloo, on CUDA by NCCL."""

from . import moe, operators, ops
from .backend import ProcessGroupMscclc, install
from .operators import (
    all_gather,
    all_reduce,
    all_reduce_add_rms_norm,
    all_reduce_add_rms_norm_quantize_f8e4m3,
    all_to_all,
    reduce_scatter,
)
from .options import Options
from .recorder import recorder

install()

__all__ = [
    "Options",
    "ProcessGroupMscclc",
    "all_gather",
    "all_reduce",
    "all_reduce_add_rms_norm",
    "all_reduce_add_rms_norm_quantize_f8e4m3",
    "all_to_all",
    "moe",
    "operators",
    "ops",
    "recorder",
    "reduce_scatter",
]

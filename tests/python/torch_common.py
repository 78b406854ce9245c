"""What the scripts of tests with PyTorch share. A script SCRIPT RANK SIZE FOLDER is one rank: it runs its scenarios, on
all ranks in the order of the file, and writes to FOLDER/RANK.json how each ended: "" or what went wrong."""

import json
import pathlib
import sys
import traceback
import warnings
from datetime import timedelta

import torch
import torch.distributed as dist

import mscclc
import mscclc.torch

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = HERE.parent.parent / "samples"
RANK, SIZE, FOLDER = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
SCENARIOS = []
GROUPS = {}  # "gloo": the same ranks by gloo
NAMES = {
    "all_gather": ("all_gather_single", "all_gather_into_tensor"),
    "reduce_scatter": ("reduce_scatter_single", "reduce_scatter_tensor"),
}


def scenario(function):
    SCENARIOS.append(function)
    return function


def flat(value):
    return [value] if isinstance(value, torch.Tensor) else [tensor for one in value for tensor in flat(one)]


def cloned(value):
    return value.clone() if isinstance(value, torch.Tensor) else [cloned(one) for one in value]


def values(shape, dtype, seed=0):
    """Returns small whole numbers, so that sums are exact in every type and order. They differ on each rank."""
    made = (torch.arange(torch.Size(shape).numel()) * 7 + 3 * RANK + seed) % 5 + 1
    return made.reshape(shape).to(dtype)


def launched(name):
    return dist.group.WORLD.launches.get(name, 0)


def same(call, *arguments, by=None):
    """Makes the same call on our group and on gloo's, and compares the resulting arguments. `by` is the kernel that
    must run, "" for none."""
    ours, theirs = cloned(arguments), cloned(arguments)
    before = dict(dist.group.WORLD.launches)
    call(*ours, group=dist.group.WORLD)
    after = dict(dist.group.WORLD.launches)
    ran = [name for name in after if after[name] != before.get(name, 0)]
    assert by is None or ran == ([by] if by else []), f"ran {ran}, not {by!r}"
    call(*theirs, group=GROUPS["gloo"])
    for a, b in zip(flat(ours), flat(theirs)):
        assert torch.equal(a, b), f"{a} and gloo's {b}"


def by_name(kind):
    new, old = NAMES[kind]
    return getattr(dist, new, None) or getattr(dist, old)


def start(samples=None):
    """Registers kernels, those of `samples` or of all scripts, and makes the groups. Yields the kernels, our group and
    that of gloo."""
    warnings.simplefilter("ignore", FutureWarning)
    torch.set_num_threads(1)
    params = {"ranks": SIZE, "threadBlocks": 1}
    rooted = {"ranks": SIZE, "threadBlocks": 1, "root": 0}
    plain = {
        "allreduce_allpairs": params,
        "allgather_allpairs": params,
        "reducescatter_allpairs": params,
        "alltoall": params,
        "broadcast_chain": rooted,
        "reduce_chain": rooted,
        "gather_direct": rooted,
        "scatter_direct": rooted,
    }
    kernels = [
        mscclc.Kernel.compile(SAMPLES / f"{name}.cpp", params=values, platform="host")
        for name, values in plain.items()
        if samples is None or name in samples
    ]
    for name in ("allreduce_max", "allreduce_prod") if samples is None else ():
        kernels.append(mscclc.Kernel.compile(HERE / f"{name}.cpp", params={"ranks": SIZE}, platform="host"))
    for kernel in kernels:
        mscclc.register(kernel)
    dist.init_process_group(
        "mscclc", init_method=f"file://{FOLDER}/store", rank=RANK, world_size=SIZE, timeout=timedelta(seconds=60)
    )
    GROUPS["gloo"] = dist.new_group(backend="gloo")
    return kernels, dist.group.WORLD, GROUPS["gloo"]


def run_all():
    """Runs the scenarios, up to the first one that fails."""
    ended = {}
    for function in SCENARIOS:
        try:
            function()
            ended[function.__name__] = ""
        except Exception:
            ended[function.__name__] = traceback.format_exc()
            break  # the other ranks are elsewhere
        finally:
            (FOLDER / f"{RANK}.json").write_text(json.dumps(ended))
    dist.destroy_process_group()

"""All-to-all by counts that only the device knows: the operators of mscclc.torch.ops, by a kernel and without, and uneven
splits of all_to_all_single; see torch_common.py. Everything is compared with a reference that copies slices."""

import logging

import torch
import torch.distributed as dist

import mscclc
import mscclc.torch
from mscclc.torch import ops
from torch_common import GROUPS, RANK, SAMPLES, SIZE, launched, run_all, scenario, start

POISON = 77
EXPERTS = 3
KERNEL = "alltoallv_packed"


def random(seed):
    return torch.Generator().manual_seed(seed)


def inputs_of(rows, shape, dtype, seed):
    """The inputs of all ranks, which each rank computes."""
    made = random(seed)
    return [torch.randint(0, 50, (rows, *shape), generator=made).to(dtype) for _ in range(SIZE)]


def splits_of(rows, numbers, kind, seed):
    """[rank][destination]: numbers that are together at most `rows` on each rank."""
    splits = torch.zeros(SIZE, numbers, dtype=torch.int64)
    if kind == "random":
        splits = torch.randint(0, rows // numbers + 1, (SIZE, numbers), generator=random(seed))
    elif kind == "all to one":
        splits[:, seed % numbers] = rows
    elif kind == "one sender":
        splits[seed % SIZE, :] = rows // numbers
    return splits


def slices(tensor, splits):
    return list(tensor[: int(splits.sum())].split(splits.tolist()))


def check_vdev(shape, dtype, kind, seed, group, rows=24, out_rows=None, symmetric=False):
    out_rows = rows * SIZE if out_rows is None else out_rows
    inputs, splits = inputs_of(rows, shape, dtype, seed), splits_of(rows, SIZE, kind, seed)
    came = [slices(inputs[src], splits[src])[RANK] for src in range(SIZE)]
    if symmetric:
        input = group.symmetric_empty(rows, *shape, dtype=dtype)
        out = group.symmetric_empty(out_rows, *shape, dtype=dtype)
        input.copy_(inputs[RANK])
        out.fill_(POISON)
    else:
        input, out = inputs[RANK].clone(), torch.full((out_rows, *shape), POISON, dtype=dtype)
    made = torch.full((2, SIZE), -1, dtype=torch.int64)
    ops.all_to_all_vdev(input, out, splits[RANK], made, group.group_name)
    lengths = torch.tensor([len(part) for part in came])
    expected = torch.full_like(out, POISON)
    expected[: int(lengths.sum())] = torch.cat(came)
    assert torch.equal(out, expected), (out, expected)
    assert torch.equal(made, torch.stack([lengths, lengths.cumsum(0) - lengths])), (made, lengths)
    assert torch.equal(input, inputs[RANK])


KINDS = ["random", "none", "all to one", "one sender"]


@scenario
def rows_by_counts_of_the_device():
    """Among them are rows of no whole 16 bytes, and outputs with just enough room."""
    before, calls = launched(KERNEL), 0
    for shape, dtype in (([8], torch.float32), ([3], torch.bfloat16), ([], torch.uint8), ([2, 5], torch.float64)):
        for seed, kind in enumerate(KINDS):
            check_vdev(shape, dtype, kind, seed, WORLD)
            calls += 1
    check_vdev([8], torch.float32, "random", 5, WORLD, rows=1000)
    check_vdev([8], torch.float32, "random", 6, WORLD, rows=4, out_rows=4)
    assert launched(KERNEL) == before + calls + 2, (launched(KERNEL), before, calls)


@scenario
def without_copies_in_symmetric_memory():
    before = launched(KERNEL)
    for seed, kind in enumerate(KINDS):
        check_vdev([6], torch.float32, kind, seed, WORLD, symmetric=True)
    assert launched(KERNEL) == before + len(KINDS)


@scenario
def groups_without_kernels():
    before = launched(KERNEL)
    for seed, kind in enumerate(KINDS):
        check_vdev([3], torch.float32, kind, seed, GROUPS["gloo"])
    check_vdev([3], torch.float32, "none", 0, WORLD, rows=0)
    assert launched(KERNEL) == before


def check_2d(kind, seed, align, group, rows=30, shape=(5,)):
    """To the experts, and back: every rank has its rows again, in the order of experts."""
    numbers = SIZE * EXPERTS
    inputs, splits = inputs_of(rows, shape, torch.float32, seed), splits_of(rows, numbers, kind, seed)
    out = torch.full((rows * SIZE + numbers * (align or 1), *shape), float(POISON))
    made = torch.full((2, numbers), -1, dtype=torch.int64)
    arguments = [] if align is None else [align]
    ops.all_to_all_vdev_2d(inputs[RANK], out, splits[RANK], made, group.group_name, *arguments)
    expected, at, lengths, offsets, step = torch.full_like(out, POISON), 0, [], [], align or 1
    for expert in range(RANK * EXPERTS, (RANK + 1) * EXPERTS):
        begin = at
        for source in range(SIZE):
            part = slices(inputs[source], splits[source])[expert]
            expected[at : at + len(part)] = part
            lengths.append(len(part))
            offsets.append(at)
            at += len(part)
        at = begin + max(step, (at - begin + step - 1) // step * step)
    assert torch.equal(out, expected), (out, expected)
    assert made.tolist() == [lengths, offsets], (made, lengths, offsets)
    back, places = torch.full_like(out, POISON), torch.full((2, numbers), -1, dtype=torch.int64)
    ops.all_to_all_vdev_2d_offset(out, back, made, places, group.group_name)
    own = int(splits[RANK].sum())
    assert torch.equal(back[:own], inputs[RANK][:own]) and bool((back[own:] == POISON).all())
    assert places.tolist() == [splits[RANK].tolist(), (splits[RANK].cumsum(0) - splits[RANK]).tolist()]


@scenario
def rows_to_experts_and_back():
    before = launched(KERNEL)
    for seed, kind in enumerate(KINDS):
        for align in (None, 1, 4):
            check_2d(kind, seed, align, WORLD)
    assert launched(KERNEL) > before
    check_2d("random", 3, 8, GROUPS["gloo"])


@scenario
def wrong_arguments():
    x, splits, made = torch.zeros(4, 3), torch.zeros(SIZE, dtype=torch.int64), torch.zeros(2, SIZE, dtype=torch.int64)
    name = WORLD.group_name
    for arguments, text in (
        ((x, torch.zeros(4, 2), splits, made), "rows of"),
        ((x, x.clone(), splits.int(), made), "splits and offsets are int64"),
        ((x, x.clone(), splits, made[:1]), "the latter has two rows"),
        ((x.T, x.clone(), splits, made), "must be contiguous"),
        ((x, x.clone(), splits[0], made), "the latter has two rows"),
        ((x, x.clone(), splits[None], made), "the latter has two rows"),
    ):
        refused(ops.all_to_all_vdev, arguments, name, text)
    for rows in (splits, made[:1], torch.cat([made, made])):
        refused(ops.all_to_all_vdev_2d_offset, (x, x.clone(), rows, made), name, "the latter has two rows")
    refused(torch.ops.mscclc.all_gather, (torch.tensor(1.0),), name, "without dimensions")


def refused(call, arguments, name, text):
    try:
        call(*arguments, name)
    except (ValueError, RuntimeError) as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"{text}: nothing was raised")


@scenario
def within_torch_compile():
    splits = splits_of(24, SIZE, "random", 1)
    inputs = inputs_of(24, [4], torch.float32, 1)

    def run(x, counts):
        out, made = torch.zeros(24 * SIZE, 4), torch.zeros(2, SIZE, dtype=torch.int64)
        torch.ops.mscclc.all_to_all_vdev(x * 2, out, counts, made, WORLD.group_name)
        return out + 1, made

    before = launched(KERNEL)
    out, made = torch.compile(run, fullgraph=True, backend="aot_eager")(inputs[RANK], splits[RANK])
    came = torch.cat([slices(inputs[src], splits[src])[RANK] for src in range(SIZE)])
    assert torch.equal(out[: len(came)], came * 2 + 1) and bool((out[len(came) :] == 1).all())
    assert made[0].tolist() == splits[:, RANK].tolist() and launched(KERNEL) == before + 1


def uneven(group, rows, shape, seed, kind="random"):
    """all_to_all_single with uneven splits, compared with gloo's."""
    splits = splits_of(rows, SIZE, kind, seed)
    input = inputs_of(rows, shape, torch.float32, seed)[RANK][: int(splits[RANK].sum())]
    lists = splits[:, RANK].tolist(), splits[RANK].tolist()
    made = [torch.full((sum(lists[0]), *shape), float(POISON)) for _ in range(2)]
    for out, by in zip(made, (group, GROUPS["gloo"])):
        dist.all_to_all_single(out, input, *lists, group=by)
    assert torch.equal(*made), made


@scenario
def uneven_splits_within_a_capacity():
    options = mscclc.torch.Options(capacity=8)
    group = dist.new_group(backend="mscclc", pg_options=options)
    for seed, (rows, kind, runs) in enumerate(
        [(8 * SIZE, "random", 1), (8, "all to one", 1), (8 * SIZE, "one sender", 1), (9, "all to one", 0), (8, "none", 1)]
    ):
        before = group.launches.get(KERNEL, 0)
        uneven(group, rows, [3], seed, kind)
        assert group.launches.get(KERNEL, 0) == before + runs, (kind, rows, group.launches)
    before = launched(KERNEL)
    uneven(WORLD, 8, [3], 1)  # this group was given no capacity
    assert launched(KERNEL) == before


if __name__ == "__main__":
    logging.getLogger("mscclc.torch").setLevel(logging.INFO)
    mscclc.register(mscclc.Kernel.compile(SAMPLES / "auto" / f"{KERNEL}.cpp", params={"ranks": SIZE}, platform="host"))
    _, WORLD, GLOO = start(["alltoall"])
    run_all()

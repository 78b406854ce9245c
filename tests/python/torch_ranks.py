"""Collectives of the backend, against gloo's, and what it chooses; see torch_common.py."""

import logging
import threading
import time
from datetime import timedelta

import torch
import torch.distributed as dist

import mscclc
from torch_common import RANK, SAMPLES, SIZE, by_name, cloned, launched, run_all, same, scenario, start, values

MOVED = [torch.float32, torch.int64, torch.bool, torch.bfloat16]


@scenario
def allreduce():
    for count in (1, 7, 1000, 5000):
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.uint8):
            same(lambda x, group: dist.all_reduce(x, group=group), values([count], dtype), by="allreduce_allpairs")
        for dtype in (torch.int64, torch.float64):
            same(lambda x, group: dist.all_reduce(x, group=group), values([count], dtype), by="")


@scenario
def operations_run_by_their_own_kernels():
    run = lambda op: lambda x, group: dist.all_reduce(x, op, group=group)
    for dtype in (torch.float32, torch.int32, torch.bfloat16):
        same(run(dist.ReduceOp.MAX), values([77], dtype), by="allreduce_max")
        same(run(dist.ReduceOp.MIN), values([77], dtype), by="")
        same(run(dist.ReduceOp.PRODUCT), values([77], dtype), by="allreduce_prod")
    same(run(dist.ReduceOp.BXOR), values([77], torch.int32), by="")
    mean = values([9], torch.float32)
    total = sum((torch.arange(9) * 7 + 3 * rank) % 5 + 1 for rank in range(SIZE))
    for tensor, kernel in ((mean, 1), (mean.double(), 0)):
        before = launched("allreduce_allpairs")
        dist.all_reduce(tensor, dist.ReduceOp.AVG)
        assert torch.equal(tensor, total.to(tensor.dtype) / SIZE), tensor
        assert launched("allreduce_allpairs") == before + kernel
    for factor in (RANK + 0.5, torch.tensor([RANK + 0.5])):
        tensor, before = torch.arange(9.0), launched("allreduce_allpairs")
        dist.all_reduce(tensor, dist._make_nccl_premul_sum(factor))
        assert torch.equal(tensor, torch.arange(9.0) * sum(rank + 0.5 for rank in range(SIZE))), tensor
        assert launched("allreduce_allpairs") == before + 1
    try:
        dist.all_reduce(torch.ones(3, dtype=torch.int32), dist.ReduceOp.AVG)
        raise AssertionError("the mean of integers")
    except ValueError as error:
        assert "SUM" in str(error)


@scenario
def floats_of_8_bits_are_scaled_in_32():
    group = dist.new_group(backend="mscclc")
    kernel = mscclc.Kernel.compile(
        SAMPLES / "allreduce_allpairs.cpp",
        params={"ranks": SIZE, "threadBlocks": 1},
        platform="host",
        options=["--dtype", "f8e4m3"],
    )
    mscclc.register(kernel, types=["float8_e4m3fn"])
    eights = lambda: torch.tensor([2.0, 4.0, -6.0]).to(torch.float8_e4m3fn)
    for op, factor in ((dist.ReduceOp.SUM, SIZE), (dist.ReduceOp.AVG, 1), (dist._make_nccl_premul_sum(0.5), SIZE / 2),
                       (dist._make_nccl_premul_sum(torch.tensor([0.5]).to(torch.float8_e4m3fn)), SIZE / 2)):
        x = eights()
        dist.all_reduce(x, op, group=group)
        assert torch.equal(x.float(), torch.tensor([2.0, 4.0, -6.0]) * factor), (op, x)
    assert group.launches == {"allreduce_allpairs": 4}
    dist.destroy_process_group(group)


@scenario
def allgather():
    for dtype in MOVED:
        for shape in ([1], [3, 5], [1031]):
            same(
                lambda out, x, group: dist.all_gather(out, x, group=group),
                [torch.zeros(shape, dtype=dtype) for _ in range(SIZE)],
                values(shape, dtype),
                by="allgather_allpairs",
            )
            whole = torch.zeros([SIZE * shape[0], *shape[1:]], dtype=dtype)
            same(
                lambda out, x, group: by_name("all_gather")(out, x, group=group),
                whole,
                values(shape, dtype),
                by="allgather_allpairs",
            )
    for dtype in MOVED:
        stacked = torch.zeros([SIZE, 3, 5], dtype=dtype)
        by_name("all_gather")(stacked, values([3, 5], dtype))
        same(lambda out, group: dist.broadcast(out, 0, group=group), stacked)
        assert torch.equal(stacked[RANK], values([3, 5], dtype))


@scenario
def outputs_that_are_contiguous_on_one_rank_only():
    for dtype in (torch.float32, torch.int64):
        before = launched("allgather_allpairs")
        wide = torch.zeros([SIZE * 3, 8], dtype=dtype)
        output = wide[:, ::2] if RANK == 1 else torch.zeros([SIZE * 3, 4], dtype=dtype)
        by_name("all_gather")(output, values([3, 4], dtype))
        by_name("all_gather")(expected := torch.zeros([SIZE * 3, 4], dtype=dtype), values([3, 4], dtype), group=GLOO)
        assert torch.equal(output, expected), (output, expected)
        assert launched("allgather_allpairs") == before + 1


@scenario
def reduce_scatter():
    for dtype in (torch.float32, torch.int32, torch.int64):
        kernel = "" if dtype == torch.int64 else "reducescatter_allpairs"
        for shape in ([1], [3, 5], [1031]):
            same(
                lambda out, x, group: dist.reduce_scatter(out, x, group=group),
                torch.zeros(shape, dtype=dtype),
                [values(shape, dtype, seed) for seed in range(SIZE)],
                by=kernel,
            )
            same(
                lambda out, x, group: by_name("reduce_scatter")(out, x, group=group),
                torch.zeros(shape, dtype=dtype),
                values([SIZE * shape[0], *shape[1:]], dtype),
                by=kernel,
            )
    same(
        lambda out, x, group: by_name("reduce_scatter")(out, x, dist.ReduceOp.MAX, group=group),
        torch.zeros(4),
        values([4 * SIZE], torch.float32),
        by="",
    )


@scenario
def alltoall():
    for dtype in MOVED:
        whole = values([SIZE * 6, 2], dtype)
        same(
            lambda out, x, group: dist.all_to_all_single(out, x, group=group),
            torch.zeros_like(whole),
            whole,
            by="alltoall",
        )
    # Rank r sends r + d + 1 rows to rank d.
    sent, got = [RANK + d + 1 for d in range(SIZE)], [s + RANK + 1 for s in range(SIZE)]
    same(
        lambda out, x, group: dist.all_to_all_single(out, x, got, sent, group=group),
        torch.zeros(sum(got), 3),
        values([sum(sent), 3], torch.float32),
        by="alltoall",
    )
    # To rank 0 alone, nothing to others: so unlike that padding costs more than it saves, on every rank.
    sent = [100000 if d == 0 else 0 for d in range(SIZE)]
    got = [100000 if RANK == 0 else 0 for _ in range(SIZE)]
    same(
        lambda out, x, group: dist.all_to_all_single(out, x, got, sent, group=group),
        torch.zeros(sum(got)),
        values([sum(sent)], torch.float32),
    )
    before = launched("alltoall")
    out = [torch.zeros(s + RANK + 1) for s in range(SIZE)]
    dist.all_to_all(out, [torch.full((RANK + d + 1,), 10.0 * RANK + d) for d in range(SIZE)])
    assert all(torch.equal(one, torch.full((s + RANK + 1,), 10.0 * s + RANK)) for s, one in enumerate(out)), out
    assert launched("alltoall") == before + 1


@scenario
def sizes_that_look_even_on_one_rank_only():
    # Between ranks 0 and 1 all is alike, rank 1 keeps another number: so rank 0 alone cannot tell.
    sizes = [2] * SIZE
    if RANK == 1:
        sizes[1] = 3
    same(
        lambda out, x, group: dist.all_to_all_single(out, x, sizes, sizes, group=group),
        torch.zeros(sum(sizes)),
        values([sum(sizes)], torch.float32),
    )


@scenario
def rooted():
    for root in range(SIZE):
        own = root == RANK
        for dtype in (torch.float32, torch.int64):
            same(
                lambda x, group: dist.broadcast(x, root, group=group),
                values([33], dtype),
                by="broadcast_chain" if root == 0 else "",
            )
            x, lists = values([33], dtype), [values([33], dtype, seed) for seed in range(SIZE)]
            same(
                lambda x, out, group: dist.gather(x, out if own else None, root, group=group),
                x,
                [torch.zeros_like(x) for _ in range(SIZE)],
                by="gather_direct" if root == 0 else "",
            )
            same(
                lambda x, given, group: dist.scatter(x, given if own else None, root, group=group),
                torch.zeros_like(x),
                lists,
                by="scatter_direct" if root == 0 else "",
            )
        x = values([33], torch.float32)
        dist.reduce(x, root)
        expected = sum(((torch.arange(33) * 7 + 3 * rank) % 5 + 1).float() for rank in range(SIZE))
        assert torch.equal(x, expected if own else values([33], torch.float32)), x
    assert launched("reduce_chain") == 1


@scenario
def memory_that_ranks_need_in_different_sizes():
    # The samples make as much on all ranks, a kernel need not.
    group, real = dist.new_group(backend="mscclc"), mscclc.Kernel.output_bytes
    mscclc.Kernel.output_bytes = lambda kernel, rank, message: real(kernel, rank, message) * (rank + 1)
    try:
        x = torch.ones(5000)
        dist.all_reduce(x, group=group)
    finally:
        mscclc.Kernel.output_bytes = real
    assert torch.equal(x, torch.full((5000,), float(SIZE))) and group.launches == {"allreduce_allpairs": 1}
    dist.destroy_process_group(group)


@scenario
def point_to_point():
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    got = torch.zeros(5)
    works = [dist.isend(torch.full((5,), float(RANK)), right), dist.irecv(got, left)]
    for work in works:
        work.wait()
    assert torch.equal(got, torch.full((5,), float(left)))
    operations = [
        dist.P2POp(dist.isend, torch.full((2,), RANK), right),
        dist.P2POp(dist.irecv, got2 := torch.zeros(2, dtype=torch.int64), left),
    ]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    assert torch.equal(got2, torch.full((2,), left))
    dist.barrier()


@scenario
def objects():
    found = [None] * SIZE
    dist.all_gather_object(found, {"rank": RANK, "text": "x" * (10 * RANK)})
    assert [one["rank"] for one in found] == list(range(SIZE))
    shared = [{"from": 0}] if RANK == 0 else [None]
    dist.broadcast_object_list(shared, 0)
    assert shared == [{"from": 0}]


@scenario
def strides_empty_tensors_and_order():
    wide = values([6, 8], torch.float32)
    strided, expected = wide[:, ::2], wide[:, ::2].clone()
    dist.all_reduce(strided)
    dist.all_reduce(expected, group=GLOO)
    assert torch.equal(strided, expected)
    dist.all_reduce(torch.zeros(0))
    x = torch.ones(2000)
    works = [dist.all_reduce(x, async_op=True) for _ in range(10)]  # each after the one before
    for work in works:
        work.wait()
        assert work.is_completed() and work.exception() is None
    assert torch.equal(x, torch.full((2000,), float(SIZE**10)))
    future = dist.all_reduce(torch.ones(3), async_op=True).get_future()
    assert torch.equal(future.wait()[0], torch.full((3,), float(SIZE)))


@scenario
def callbacks_of_futures_wait_for_later_collectives():
    def again(done):  # as DDP's hook of PowerSGD does
        return dist.all_reduce(done.value()[0], async_op=True).get_future().wait()[0]

    begin = threading.Event()
    WORLD._worker.submit("begin", [], begin.wait)  # nothing is done before the callbacks are there
    future = dist.all_reduce(torch.ones(3), async_op=True).get_future().then(again)
    begin.set()
    until = time.monotonic() + 20
    while not future.done():
        assert time.monotonic() < until, "a callback waits for ever"
        time.sleep(0.01)
    assert torch.equal(future.wait(), torch.full((3,), float(SIZE**2)))

    def fails():
        raise ValueError("of the job")

    for early in (True, False):
        work = WORLD._worker.submit("fails", [], fails)
        if not early:
            work._done.wait()
        try:
            work.get_future().wait()
            raise AssertionError("the future has a result")
        except (ValueError, RuntimeError) as error:
            assert "of the job" in str(error)


@scenario
def coalesced():
    tensors = [values([5], torch.float32), values([3, 2], torch.float32), values([1], torch.float32)]
    expected = cloned(tensors)
    before = launched("allreduce_allpairs")
    dist.all_reduce_coalesced(tensors)
    assert launched("allreduce_allpairs") == before + 1
    for tensor in expected:
        dist.all_reduce(tensor, group=GLOO)
    assert all(torch.equal(a, b) for a, b in zip(tensors, expected))
    mixed = [torch.ones(3), torch.ones(3, dtype=torch.int32)]
    WORLD.allreduce_coalesced(mixed).wait()
    assert [int(one[0]) for one in mixed] == [SIZE, SIZE]
    inputs = [values([5], torch.float32), values([7], torch.int64)]
    outputs = [torch.zeros(5 * SIZE), torch.zeros(7 * SIZE, dtype=torch.int64)]
    WORLD.allgather_into_tensor_coalesced(outputs, inputs).wait()
    for out, x in zip(outputs, inputs):
        by_name("all_gather")(expected := torch.zeros_like(out), x, group=GLOO)
        assert torch.equal(out, expected)
    outputs = [torch.zeros(5), torch.zeros(7)]
    inputs = [values([5 * SIZE], torch.float32), values([7 * SIZE], torch.float32)]
    WORLD.reduce_scatter_tensor_coalesced(outputs, inputs).wait()
    for out, x in zip(outputs, inputs):
        by_name("reduce_scatter")(expected := torch.zeros_like(out), x, group=GLOO)
        assert torch.equal(out, expected)


@scenario
def rare_calls_among_kernels_being_prepared():
    # The group is new: its worker exchanges what a kernel needs while the next calls come.
    group = dist.new_group(backend="mscclc")
    for count in (7, 5000, 70000):
        x = torch.ones(count)
        work = dist.all_reduce(x, group=group, async_op=True)
        if RANK == 0:
            work.wait()  # one rank's worker is done with it, the other's is not
        outputs = [[torch.zeros(3), torch.zeros(4)] for _ in range(SIZE)]
        dist.all_gather_coalesced(outputs, [torch.full((3,), RANK + 1.0), torch.full((4,), RANK + 2.0)], group=group)
        for rank, (first, second) in enumerate(outputs):
            assert torch.equal(first, torch.full((3,), rank + 1.0)), outputs
            assert torch.equal(second, torch.full((4,), rank + 2.0)), outputs
        other = dist.all_reduce(x, group=group, async_op=True)
        group.monitored_barrier(timedelta(seconds=20))
        assert other.is_completed() and torch.equal(x, torch.full((count,), float(SIZE**2)))
    assert group.launches == {"allreduce_allpairs": 6}
    dist.destroy_process_group(group)


@scenario
def groups():
    for ranks in ([0], list(range(SIZE))):
        group = dist.new_group(ranks, backend="mscclc")
        if RANK in ranks:
            x = torch.ones(4)
            dist.all_reduce(x, group=group)
            assert torch.equal(x, torch.full((4,), float(len(ranks))))
            assert ("allreduce_allpairs" in group.launches) == (len(ranks) == SIZE)
            dist.destroy_process_group(group)


@scenario
def kernels_registered_on_one_rank_only_are_not_used():
    group = dist.new_group(backend="mscclc")
    if RANK == 1:
        mscclc.register(KERNELS[0], priority=5)
    x = torch.ones(4)
    dist.all_reduce(x, group=group)
    assert torch.equal(x, torch.full((4,), float(SIZE))) and not group.launches
    if RANK != 1:
        mscclc.register(KERNELS[0], priority=5)
    group.refresh()
    dist.all_reduce(x, group=group)
    assert torch.equal(x, torch.full((4,), float(SIZE**2))) and group.launches == {"allreduce_allpairs": 1}
    dist.destroy_process_group(group)


@scenario
def a_function_selects():
    group = dist.new_group(backend="mscclc")
    asked = []

    def choose(query, kernels):
        asked.append(query)
        return kernels[0] if kernels and query.bytes > 1000 else None

    mscclc.set_selector(choose)
    try:
        for count in (4, 4000):
            dist.all_reduce(torch.ones(count), group=group)
    finally:
        mscclc.set_selector(None)
    assert group.launches == {"allreduce_allpairs": 1}
    assert {query.collective for query in asked} == {"allreduce"}
    dist.destroy_process_group(group)


@scenario
def log_lines_have_the_rank():
    heard, group = [], dist.new_group(backend="mscclc")
    handler = logging.Handler()
    handler.emit = lambda record: heard.append(record.getMessage())
    log = logging.getLogger("mscclc.torch")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        dist.all_reduce(torch.ones(3), group=group)
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)
    assert heard and all(line.startswith(f"mscclc: rank {RANK}: ") for line in heard), heard
    dist.destroy_process_group(group)


@scenario
def communicator_of_a_group():
    import numpy

    with mscclc.Communicator.from_torch(GLOO, platform="host") as ranks:
        x = numpy.full(64, RANK + 1, numpy.float32)
        ranks.run(KERNELS[0], [x])
        assert (x == sum(range(1, SIZE + 1))).all()


if __name__ == "__main__":
    KERNELS, WORLD, GLOO = start()
    run_all()

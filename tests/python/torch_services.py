"""What a group does besides collectives, as ProcessGroupNCCL does it; see torch_common.py."""

import logging
import os
import pickle
import time
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

import torch
import torch.distributed as dist

import mscclc
from mscclc.torch.work import CudaWork
from torch_common import FOLDER, RANK, SAMPLES, SIZE, launched, run_all, scenario, start


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), error
        return
    raise AssertionError(f"nothing is raised; {text!r} was expected")


@contextmanager
def warnings_of_log():
    """Yields the list of the warnings that are logged within."""
    said, handler = [], logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())
    logger = logging.getLogger("mscclc.torch")
    logger.addHandler(handler)
    try:
        yield said
    finally:
        logger.removeHandler(handler)


def works(group, count=4):
    x = torch.full((count,), RANK + 1.0)
    dist.all_reduce(x, group=group)
    assert torch.equal(x, torch.full((count,), SIZE * (SIZE + 1) / 2)), x


@scenario
def groups_after_their_end():
    for end, text in ((dist.destroy_process_group, "destroyed"), (lambda group: group.abort(), "aborted")):
        group = dist.new_group(backend="mscclc")
        works(group)
        dist.barrier(group=group)  # none ends it while another is at work
        end(group)
        raises(RuntimeError, text, lambda: group.allreduce([torch.ones(4)]))
        raises(RuntimeError, text, lambda: group.broadcast([torch.ones(4)]))
        raises(RuntimeError, text, lambda: group.barrier())
        dist.barrier()


@scenario
def groups_that_are_split_off():
    whole = WORLD.split_group(list(range(SIZE)), timeout=timedelta(seconds=30), group_name="whole")
    works(whole)
    assert whole.launches == {"allreduce_allpairs": 1} and whole.group_name == "whole", whole.launches
    assert (whole.rank(), whole.size(), whole.timeout) == (RANK, SIZE, timedelta(seconds=30))
    last = WORLD.split_group([SIZE - 1])
    assert (last is None) == (RANK != SIZE - 1)
    if last is not None:
        x = torch.ones(3)
        last.allreduce([x]).wait()
        assert torch.equal(x, torch.ones(3)) and last.global_ranks == (SIZE - 1,)
        last.shutdown()
    dist.barrier()
    whole.shutdown()


@scenario
def split_group_of_torch():
    # It wants an accelerator; the group does not.
    accelerator, torch.accelerator.is_available = torch.accelerator.is_available, lambda: True
    current, torch.accelerator.current_accelerator = torch.accelerator.current_accelerator, lambda: torch.device("cpu")
    WORLD.bound_device_id = torch.device("cuda", 0)
    try:
        group = dist.split_group(WORLD, [list(range(SIZE))], pg_options=mscclc.torch.Options())
        works(group)
        assert type(group) is type(WORLD) and group.launches == {"allreduce_allpairs": 1}
        dist.destroy_process_group(group)
    finally:
        WORLD.bound_device_id = None
        torch.accelerator.is_available, torch.accelerator.current_accelerator = accelerator, current


@scenario
def options():
    group = dist.new_group(backend="mscclc", pg_options=mscclc.torch.Options(eager=True), timeout=timedelta(seconds=50))
    assert group.options.eager and group.options._timeout == timedelta(seconds=50)
    assert "cpu" in group._engines and group._engines["cpu"]._kernels is not None
    works(group)
    dist.destroy_process_group(group)
    early = dist.new_group(backend="mscclc", pg_options=mscclc.torch.Options(pdl=True))
    works(early)
    communicator, wanted = early._engines["cpu"]._communicator, []
    launch = communicator.launch
    communicator.launch = lambda *given, **options: (wanted.append(options["pdl"]), launch(*given, **options))
    works(early)
    assert wanted == [True], wanted
    dist.destroy_process_group(early)
    assert not WORLD.options.eager and WORLD.options.backend == "mscclc"
    wrong = dist.ProcessGroupGloo._Options()
    raises(TypeError, "mscclc.torch.Options", lambda: dist.new_group(backend="mscclc", pg_options=wrong))
    raises(RuntimeError, "no CUDA or no NCCL", lambda: WORLD.register_mem_pool(None))
    raises(RuntimeError, "no CUDA or no NCCL", lambda: WORLD.deregister_mem_pool(None))


@scenario
def groups_that_add_in_one_order():
    """There is no kernel for doubles, so the backend behind adds them. Minimum, maximum and integers have no order."""

    def reduced(group, dtype, op=dist.ReduceOp.SUM):
        x = torch.full((4,), RANK + 1, dtype=dtype)
        dist.all_reduce(x, op, group=group)
        return x[0].item()

    total = SIZE * (SIZE + 1) / 2
    strict = dist.new_group(backend="mscclc", pg_options=mscclc.torch.Options(invariant="strict"))
    works(strict)
    assert strict.launches == {"allreduce_allpairs": 1}, strict.launches
    refused = "all_reduce of torch.float64 [4]: no kernel of one order fits it, and the group is strictly invariant"
    raises(RuntimeError, refused, lambda: reduced(strict, torch.float64))
    uneven = [torch.ones(rank + 1) for rank in range(SIZE)]
    raises(RuntimeError, "strictly invariant", lambda: dist.reduce_scatter(torch.ones(RANK + 1), uneven, group=strict))
    assert reduced(strict, torch.float64, dist.ReduceOp.MAX) == SIZE
    assert reduced(strict, torch.int64) == total
    works(strict)  # it goes on after a refusal

    warns = dist.new_group(backend="mscclc", pg_options=mscclc.torch.Options(invariant=True))
    with warnings_of_log() as said:
        assert reduced(warns, torch.float64) == reduced(warns, torch.float64) == total
    assert len(said) == 1 and "the backend behind adds in an order of its own" in said[0], said

    other = next(kernel for kernel in KERNELS if kernel.name == "allreduce_prod")
    assert other.sums == "0+1", other.sums
    other.sums = "1+0"
    try:  # two orders are none
        strict.refresh()
        raises(RuntimeError, "no kernel of one order", lambda: works(strict))
    finally:
        other.sums = "0+1"
    raises(ValueError, "invariant is 1.5", lambda: mscclc.torch.Options(invariant=1.5))
    for group in (strict, warns):
        dist.barrier(group=group)
        dist.destroy_process_group(group)


@scenario
def sizes_that_differ():
    """With padding, 5 and 6 floats have the same length. A group's first call compares the sizes, because the ranks
    meet there."""
    group = dist.new_group(backend="mscclc")
    raises(RuntimeError, "mismatch between collectives", lambda: dist.all_reduce(torch.ones(5 + RANK), group=group))
    dist.barrier()
    works(group)
    dist.barrier(group=group)
    dist.destroy_process_group(group)


@scenario
def sizes_that_differ_later():
    """The next calls need no more memory; or more memory on both ranks; or on one rank, while the other one waits in a
    kernel."""
    for first, later in ((4, (5, 6)), (4, (60000, 60001)), (4, (131071, 131072)), (40, (40, 4000))):
        for last in range(SIZE):
            group = dist.new_group(backend="mscclc", timeout=timedelta(seconds=5))
            works(group, first)
            mine = later[min(RANK, 1)]
            if RANK == last:
                time.sleep(0.2)
            raises(
                RuntimeError,
                f"rank {RANK} is running all_reduce of {mine} float32, sum, but rank",
                lambda: dist.all_reduce(torch.ones(mine), group=group),
            )
            raises(RuntimeError, "mismatch between collectives", lambda: works(group))  # it has ended
            dist.destroy_process_group(group)
            dist.barrier()


@scenario
def sizes_of_many_calls():
    group = dist.new_group(backend="mscclc")
    for count in (*range(1, 200), 3):  # more than are kept
        works(group, count)
    x = torch.ones(5 + RANK, dtype=torch.int32)
    raises(RuntimeError, f"is running all_reduce of {5 + RANK} int32", lambda: dist.all_reduce(x, group=group))
    dist.destroy_process_group(group)
    dist.barrier()


@scenario
def shapes_that_differ():
    group = dist.new_group(backend="mscclc")
    x = torch.ones([2, 3] if RANK else [6])  # sizes count, shapes do not
    dist.all_reduce(x, group=group)
    assert torch.equal(x.view(-1), torch.full((6,), float(SIZE)))
    dist.destroy_process_group(group)


@scenario
def detailed_debugging():
    group = dist.new_group(backend="mscclc", timeout=timedelta(seconds=3))
    works(group)
    before = dist.get_debug_level()
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    try:
        works(group)
        assert group.launches == {"allreduce_allpairs": 2}
        other = "[6] float32" if RANK == 0 else "[5] float32"
        raises(RuntimeError, other, lambda: dist.all_reduce(torch.ones(5 + RANK), group=group))
        call = (
            (lambda: dist.all_reduce(torch.ones(4), group=group))
            if RANK
            else (lambda: dist.broadcast(torch.ones(4), 0, group=group))
        )
        raises(RuntimeError, "but rank", call)
        call = lambda: dist.all_reduce(torch.ones(4), [dist.ReduceOp.SUM, dist.ReduceOp.MAX][RANK], group=group)
        raises(RuntimeError, "max", call)
        works(group)
        if RANK == 0:  # the others do not come
            raises(RuntimeError, "Ranks 1 failed", lambda: dist.all_reduce(torch.ones(4), group=group))
    finally:
        dist.set_debug_level(before)
    dist.barrier(group=GLOO)
    dist.distributed_c10d._abort_process_group(group)


@scenario
def events_of_the_profiler():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as found:
        works(WORLD)
        dist.all_reduce(torch.ones(4), async_op=True).wait()
        dist.barrier()
        dist.broadcast(torch.ones(3), 0)
    dist.barrier()
    names = [event.name for event in found.events() if event.name.startswith("mscclc:")]
    assert sorted(set(names)) == ["mscclc:all_reduce", "mscclc:barrier", "mscclc:broadcast"], names


@scenario
def the_flight_recorder():
    works(WORLD)
    raises(RuntimeError, "of the call", lambda: WORLD._submit("all_reduce", [torch.ones(1)], fails, entry()).wait())
    trace = pickle.loads((FOLDER / f"trace{RANK}").read_bytes())  # TORCH_FR_DUMP_TEMP_FILE
    good, bad = trace["entries"][-2:]
    assert (good["profiling_name"], good["state"], good["output_sizes"]) == ("nccl:all_reduce", "completed", [[4]]), (
        good
    )
    assert good["duration_ms"] >= 0 and good["collective_seq_id"] == bad["collective_seq_id"] - 1
    names = [frame["name"] for frame in good["frames"]]
    assert "all_reduce" in names and names.index("works") + 1 == names.index("the_flight_recorder"), names
    assert {frame["filename"] for frame in good["frames"] if frame["name"] == "works"} == {__file__}
    assert bad["state"] == "started" and bad["time_discovered_completed_ns"] is None
    assert (good["mscclc_failure"], bad["mscclc_failure"]) == ("", "of the call")
    assert trace["pg_config"][WORLD.group_name]["ranks"] == str(list(range(SIZE)))
    assert trace["pg_status"][WORLD.group_name]["last_completed_collective"] == good["collective_seq_id"]


@scenario
def a_late_call_is_explained():
    """The text of the failure, and the entry of the recorder, say what the runtime says of its waits."""
    group = dist.new_group(backend="mscclc")
    made = entry()

    class Engine:
        abort = staticmethod(lambda reason: None)
        failure = staticmethod(lambda: "MSCCLC_ERROR_ABORTED: late\ncause: rank 1 has not begun launch 3")

    group._engines = {"cuda": Engine}
    call = CudaWork(None, [], "all_reduce", abort=group._abort, failed=partial(mscclc.torch.recorder.failed, made))
    call.fail("late")
    raises(dist.DistBackendError, "cause: rank 1 has not begun launch 3", call.wait)
    assert "cause: rank 1 has not begun" in made["mscclc_failure"], made
    group._engines = {}
    dist.barrier()


@scenario
def symmetric_memory():
    x = WORLD.symmetric_empty(3, 5)
    before, engine = launched("allreduce_allpairs"), WORLD._engines["cpu"]
    direct = engine.direct
    run = lambda y: torch.ops.mscclc.symmetric_all_reduce_(y, "sum", WORLD.group_name)
    for call in (run, torch.compile(run, fullgraph=True, backend="eager")):
        x.fill_(RANK + 1.0)
        call(x)
        assert torch.equal(x, torch.full((3, 5), SIZE * (SIZE + 1) / 2)), x
    assert launched("allreduce_allpairs") == before + 2 and engine.direct == direct + 2
    y = WORLD.symmetric_empty(70000, dtype=torch.int32)  # another one, which is longer
    y.fill_(RANK)
    WORLD.symmetric_allreduce(y, dist.ReduceOp.SUM).wait()
    assert (y == SIZE * (SIZE - 1) // 2).all() and torch.equal(x, torch.full((3, 5), SIZE * (SIZE + 1) / 2))
    wide = WORLD.symmetric_empty(9, dtype=torch.float64)  # no kernel has this type: gloo works on it
    wide.fill_(RANK + 1.0)
    WORLD.symmetric_allreduce(wide).wait()
    assert (wide == SIZE * (SIZE + 1) / 2).all() and engine.direct == direct + 3
    raises(ValueError, "symmetric_empty", lambda: WORLD.symmetric_allreduce(torch.ones(3)))
    raises(ValueError, "symmetric_empty", lambda: WORLD.symmetric_allreduce(x[1:]))


def fails():
    raise RuntimeError("of the call")


def entry():
    one = [torch.ones(1)]
    return mscclc.torch.recorder.scheduled(WORLD, "all_reduce", next(WORLD._numbers), one, one)


@scenario
def operations_and_roots():
    """One kernel for four operations, and one for each root."""
    build = lambda name, **more: mscclc.Kernel.compile(
        SAMPLES / f"{name}.cpp", platform="host", options=["--dtype", "f32"], **more
    )
    four = build("allreduce_allpairs", params={"ranks": SIZE, "threadBlocks": 1}, ops=["sum", "min", "max", "prod"])
    mscclc.register(four, priority=9, tags=["four"])
    mscclc.register(build("broadcast_chain", params={"ranks": SIZE, "root": 1}), tags=["root 1"])
    group = dist.new_group(backend="mscclc")
    for op in (dist.ReduceOp.SUM, dist.ReduceOp.MIN, dist.ReduceOp.MAX, dist.ReduceOp.PRODUCT):
        ours, theirs = torch.arange(1.0, 8.0) + RANK, torch.arange(1.0, 8.0) + RANK
        dist.all_reduce(ours, op, group=group)
        dist.all_reduce(theirs, op, group=GLOO)
        assert torch.equal(ours, theirs), (op, ours, theirs)
    for root in range(SIZE):
        x = torch.full((9,), RANK + 1.0)
        dist.broadcast(x, root, group=group)
        assert torch.equal(x, torch.full((9,), root + 1.0))
    assert group.launches == {"allreduce_allpairs": 4, "broadcast_chain": 2}, group.launches
    dist.destroy_process_group(group)


if __name__ == "__main__":
    os.environ["TORCH_FR_DUMP_TEMP_FILE"] = str(FOLDER / "trace")
    KERNELS, WORLD, GLOO = start()
    run_all()

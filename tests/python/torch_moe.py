"""A mixture of experts by mscclc.torch.moe: rows and sums, by kernels and without, DeepEP's calls, and a layer that is trained;
see torch_common.py. Results are compared with references that loop over rows."""

import logging
import threading

import torch
import torch.distributed as dist

import mscclc
import mscclc.torch
from mscclc.torch import moe
from torch_common import GROUPS, RANK, SAMPLES, SIZE, launched, run_all, scenario, start

EXPERTS, CAPACITY = 3, 5  # of each rank; rows of each rank for an expert
ALL = EXPERTS * SIZE
READY = 4  # rows of a block that is handed over
SPLIT = SIZE == 2  # kernels are two, one that sends and one that receives
ONCE = SIZE > 2  # a dispatch sends a row once to each rank


def random(seed):
    return torch.Generator().manual_seed(seed)


def drawn(seed, choices, dtype, hidden=6, index_type=torch.int64):
    """Rows, indices and weights of all ranks, which each rank computes. Ranks have different numbers of rows; rank 1 none."""
    rows, index, weights = [], [], []
    for rank in range(SIZE):
        made, count = random(100 * seed + rank), 0 if rank == 1 else 7 + rank
        rows.append(torch.randn(count, hidden, generator=made).to(dtype))
        index.append(torch.randint(-1, ALL + 1, (count, choices), generator=made).to(index_type))
        weights.append(torch.rand(count, choices, generator=made))
    return rows, index, weights


def places_of(index, rank_major, align=0):
    """(source, row, choice) -> (rank, row in the layout), as the definition says."""
    found = {}
    for owner in range(SIZE):
        cells = {}
        for source in range(SIZE):
            for row, choices in enumerate(index[source].tolist()):
                for choice, expert in enumerate(choices):
                    if expert // EXPERTS == owner and 0 <= expert < ALL:
                        cells.setdefault((source, expert % EXPERTS), []).append((source, row, choice))
        groups = [[(s, e) for e in range(EXPERTS)] for s in range(SIZE)]
        if not rank_major:
            groups = [[(s, e) for s in range(SIZE)] for e in range(EXPERTS)]
        begin = 0
        for group in groups:
            at = begin
            for cell in group:
                for entry in cells.get(cell, [])[:CAPACITY]:
                    found[entry] = (owner, at)
                    at += 1
            if align > 1 and at == begin:
                at += 1
            while align and at % align:
                at += 1
            begin = at if align else begin + len(group) * CAPACITY
    return found


def check(seed, choices, dtype, group, rank_major=False, index_type=torch.int64, align=0):
    rows, index, weights = drawn(seed, choices, dtype, index_type=index_type)
    places = places_of(index, rank_major, align)
    got, handle = moe.dispatch(rows[RANK], index[RANK], CAPACITY, ALL, group, rank_major, align)
    room = handle.room
    expected = torch.zeros(room, rows[0].shape[1], dtype=dtype)
    cells = torch.zeros(SIZE, EXPERTS, dtype=torch.int32)
    for (source, row, choice), (owner, at) in places.items():
        if owner == RANK:
            expected[at] = rows[source][row]
            cells[source, int(index[source][row, choice]) % EXPERTS] += 1
    assert torch.equal(got.reshape(expected.shape), expected), (got, expected)
    assert torch.equal(handle.cells, cells), (handle.cells, cells)
    first = {}
    for (source, row, choice), (owner, at) in places.items():
        if owner == RANK:
            cell = source, int(index[source][row, choice]) % EXPERTS
            first[cell] = min(at, first.get(cell, at))
    assert all(int(handle.begins[cell]) == at for cell, at in first.items()), (handle.begins, first)
    made = [torch.randn(room, rows[0].shape[1], generator=random(seed + owner)).to(dtype) for owner in range(SIZE)]
    back = moe.combine(made[RANK].view(got.shape), index[RANK], weights[RANK], handle, group)
    wanted = torch.zeros(rows[RANK].shape, dtype=torch.float32)
    for row in range(len(wanted)):
        for choice in range(choices):
            if (RANK, row, choice) in places:
                owner, at = places[RANK, row, choice]
                wanted[row] = wanted[row] + weights[RANK][row, choice] * made[owner][at].float()
    assert torch.equal(back, wanted.to(dtype)), (back, wanted)


@scenario
def rows_go_to_experts_and_back():
    before = [launched(name) for name in ("moe_dispatch", "moe_combine")]
    calls = 0
    for seed, (choices, dtype) in enumerate([(1, torch.float32), (3, torch.bfloat16), (4, torch.float16), (8, torch.float32)]):
        check(seed, choices, dtype, WORLD)
        check(seed, choices, dtype, WORLD, index_type=torch.int32)
        check(seed, choices, dtype, WORLD, align=(1, 4, 3, 16)[seed])
        calls += 3
    assert [launched(name) for name in ("moe_dispatch", "moe_combine")] == [count + calls for count in before]


@scenario
def without_kernels():
    before = launched("moe_dispatch")
    for seed, (choices, dtype) in enumerate([(1, torch.float32), (3, torch.bfloat16)]):
        check(seed, choices, dtype, GROUPS["gloo"])
        check(seed, choices, dtype, GROUPS["gloo"], rank_major=True)
        check(seed, choices, dtype, GROUPS["gloo"], rank_major=True, align=1 + 3 * seed)
        check(seed, choices, dtype, WORLD, rank_major=True)  # no kernel is registered for it
    assert launched("moe_dispatch") == before


def check_payloads(seed, group, rank_major=False):
    """Payloads of other types and lengths arrive where those of one payload do, and beside one without elements."""
    rows, index, _ = drawn(seed, 3, torch.bfloat16, hidden=10)
    scales = [torch.arange(3 * len(x), dtype=torch.float32).view(-1, 3) + 100 * rank for rank, x in enumerate(rows)]
    ids = [torch.arange(len(x))[:, None] - 1000 * rank for rank, x in enumerate(rows)]
    given = [[x[rank] for x in (rows, scales, [x[:, :0] for x in rows], ids)] for rank in range(SIZE)]
    made, handle = moe.dispatch_all(given[RANK], index[RANK], CAPACITY, ALL, group, rank_major)
    alone, same = moe.dispatch(rows[RANK], index[RANK], CAPACITY, ALL, group, rank_major)
    assert torch.equal(made[0], alone) and torch.equal(handle.cells, same.cells)
    for payload, got in enumerate(made):
        expected = torch.zeros(ALL * CAPACITY, got.shape[2], dtype=given[0][payload].dtype)
        for (source, row, _), (owner, at) in places_of(index, rank_major).items():
            if owner == RANK:
                expected[at] = given[source][payload][row]
        assert torch.equal(got.reshape(expected.shape), expected), (payload, got, expected)


@scenario
def rows_of_several_payloads():
    before = launched("moe_dispatch")
    check_payloads(3, WORLD)
    assert launched("moe_dispatch") == before + 2
    check_payloads(4, WORLD, rank_major=True)  # no kernel is registered for it
    check_payloads(5, GROUPS["gloo"])
    x, index = torch.zeros(2, 4), torch.zeros(2, 1, dtype=torch.int64)
    for count in (0, 5):
        try:
            moe.dispatch_all([x] * count, index, CAPACITY, ALL, WORLD)
        except ValueError as error:
            assert f"{count} payloads" in str(error), error
        else:
            raise AssertionError("nothing was raised")


@scenario
def rows_in_eight_bits():
    hidden, most = 256, 7 + SIZE
    rows, index, _ = drawn(8, 2, torch.bfloat16, hidden=hidden)
    rows[RANK][:1] = 0  # a block of zeros has a scale, too
    values, scales = moe.quantize(rows[RANK])
    assert values.dtype == torch.float8_e4m3fn and scales.shape == (len(values), 2)
    again = values.float().view(len(values), 2, 128) * scales[:, :, None]
    error = (again - rows[RANK].float().view(again.shape)).abs()
    assert bool((error <= again.abs() / 16 + scales[:, :, None] / 512).all()), error
    for group in (WORLD, GROUPS["gloo"]):
        before = launched("moe_dispatch")
        (got, by), count, handle, _, _ = moe.Buffer(group).low_latency_dispatch(rows[RANK], index[RANK], most, ALL)
        assert launched("moe_dispatch") == before + (group is WORLD)
        assert got.dtype == torch.float8_e4m3fn and by.dtype == torch.float32
        assert got.shape == (EXPERTS, SIZE * most, hidden) and by.shape == (EXPERTS, SIZE * most, 2)
        assert by.stride() == (SIZE * most * 2, 1, SIZE * most)
        plain, same, _, _, _ = moe.Buffer(group).low_latency_dispatch(rows[RANK], index[RANK], most, ALL, use_fp8=False)
        assert torch.equal(count, same)
        for expert in range(EXPERTS):
            live = int(count[expert])
            wanted = moe.quantize(plain[expert, :live])
            assert torch.equal(got[expert, :live].view(torch.uint8), wanted[0].view(torch.uint8))
            assert torch.equal(by[expert, :live], wanted[1])


@scenario
def calls_of_deep_ep():
    most = 7 + SIZE
    size = moe.Buffer.get_low_latency_rdma_size_hint(most, 6, SIZE, ALL)
    buffer = moe.Buffer(WORLD, 0, size, True, EXPERTS, allow_nvlink_for_low_latency_mode=True)
    buffer.clean_low_latency_buffer(most, 6, ALL)
    rows, index, weights = drawn(9, 2, torch.float32)
    x = rows[RANK].requires_grad_()
    got, count, handle, event, hook = buffer.low_latency_dispatch(x, index[RANK], most, ALL, use_fp8=False)
    event.current_stream_wait()
    assert got.shape == (EXPERTS, SIZE * most, 6) and hook is None and not got.requires_grad
    named = torch.stack([(torch.cat(index) == RANK * EXPERTS + expert).sum() for expert in range(EXPERTS)])
    assert count.dtype == torch.int32 and bool((count <= named).all())
    for expert in range(EXPERTS):
        assert bool((got[expert, int(count[expert]) :] == 0).all())
    out = torch.empty_like(x, requires_grad=True)
    made, _, _ = buffer.low_latency_combine(got, index[RANK], weights[RANK], handle, False, False, False, out)
    assert made is out
    given = x, index[RANK]
    again = torch.ones(most + 1, 6), torch.zeros(most + 1, 1, dtype=torch.int64)
    for call, text in (
        (lambda: buffer.low_latency_dispatch(*given, most, ALL), "a scale for each 128"),
        (lambda: buffer.low_latency_dispatch(*again, most, ALL, False), f"{most + 1} rows are more than"),
        (lambda: buffer.low_latency_combine(got, index[RANK], weights[RANK], handle, True), "zero_copy"),
    ):
        try:
            call()
        except ValueError as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"{text}: nothing was raised")


@scenario
def calls_that_are_received_later():
    """Rows of two calls are under way at once; what their hooks bring is what calls without hooks return."""
    most = 7 + SIZE
    rows, index, weights = drawn(11, 2, torch.float32, hidden=128)
    given = rows[RANK], index[RANK], most, ALL
    for group in (WORLD, GROUPS["gloo"]):
        buffer, before = moe.Buffer(group), launched("moe_dispatch")
        late = [buffer.low_latency_dispatch(*given, fp8, return_recv_hook=True) for fp8 in (False, True)]
        for *_, hook in late:
            hook()
            hook()  # it receives once
        assert launched("moe_dispatch") == before + 2 * (group is WORLD)
        (got, count, handle, _, _), ((values, by), again, _, _, _) = late
        for fp8, found in ((False, [got, count]), (True, [values, by, again])):
            made, counts, _, _, none = buffer.low_latency_dispatch(*given, fp8)
            assert none is None
            wanted = [*made, counts] if fp8 else [made, counts]
            assert all(torch.equal(a.float(), b.float()) for a, b in zip(found, wanted))
        call = got * 2, index[RANK], weights[RANK], handle
        out = torch.empty_like(rows[RANK])
        made, _, hook = buffer.low_latency_combine(*call, return_recv_hook=True, out=out)
        hook()
        assert made is out and torch.equal(out, buffer.low_latency_combine(*call)[0])


@scenario
def a_call_that_another_one_receives():
    """The next call of the group moves rows that are under way out of the memory that calls share."""
    rows, index, weights = drawn(12, 2, torch.float32, hidden=128)
    buffer, before = moe.Buffer(WORLD), launched("moe_dispatch") + launched("moe_combine")
    given = rows[RANK], index[RANK], 7 + SIZE, ALL, False
    got, count, handle, _, hook = buffer.low_latency_dispatch(*given, return_recv_hook=True)
    # Only the hook adds up the rows of experts.
    wanted, counts, _, _, _ = buffer.low_latency_dispatch(*given)
    hook()
    assert torch.equal(got, wanted) and torch.equal(count, counts)
    call = got * 2, index[RANK], weights[RANK], handle
    made, _, hook = buffer.low_latency_combine(*call, return_recv_hook=True)
    buffer.low_latency_dispatch(*given)
    hook()
    assert torch.equal(made, buffer.low_latency_combine(*call)[0])
    assert launched("moe_dispatch") + launched("moe_combine") == before + 5


@scenario
def rows_that_are_handed_over():
    """A dispatch says how many rows of each block there are, and a combine waits for all words, by kernels and without."""
    rows, index, weights = drawn(13, 2, torch.float32)
    for group, rank_major in ((WORLD, False), (WORLD, True), (GROUPS["gloo"], False)):
        before = [launched(name) for name in ("moe_dispatch", "moe_combine")]
        plain, _ = moe.dispatch(rows[RANK], index[RANK], CAPACITY, ALL, group, rank_major)
        came, made = (moe.ready_words(READY, CAPACITY, ALL, group, rank_major) for _ in range(2))
        for align in (0, 4):
            got, handle = moe.dispatch(rows[RANK], index[RANK], CAPACITY, ALL, group, rank_major, align, came)
            assert handle.ready is came and (align != 0 or torch.equal(got, plain))
            grouped = handle.cells if rank_major else handle.cells.T
            live = grouped.sum(1)[:, None] - READY * torch.arange(came.blocks)
            words = came.words[1:].to(torch.int64) + (1 << 31)
            assert torch.equal(words, live.clamp(0, READY).flatten()), (words, live)
            came.words.zero_()
            wanted = moe.combine(got * 2, index[RANK], weights[RANK], handle, group)
            late = torch.zeros_like(got)

            def user():
                late.copy_(got * 2)
                made.words[1:] = -1

            timer = threading.Timer(0.05, user)
            timer.start()
            back = moe.combine(late, index[RANK], weights[RANK], handle, group, made)
            timer.join()
            assert torch.equal(back, wanted) and not bool(made.words.any())
        calls = 2 * (group is WORLD and not rank_major)  # no kernel is registered for the other layout
        alone = [int(group is WORLD and not rank_major), calls]
        assert [launched(name) for name in ("moe_dispatch", "moe_combine")] == [
            count + calls + more for count, more in zip(before, alone)
        ]
    for call, text in (
        (lambda: moe.ready_words(0, CAPACITY, ALL, WORLD), "0 rows"),
        (lambda: moe.dispatch(rows[RANK], index[RANK], CAPACITY + READY, ALL, WORLD, ready=came), "these are"),
        (lambda: moe.combine(plain.mT.contiguous().mT, index[RANK], weights[RANK], handle, WORLD, made), "contiguous"),
    ):
        try:
            call()
        except ValueError as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"{text}: nothing was raised")


@scenario
def wrong_arguments():
    x, index, weights = torch.zeros(2, 4), torch.zeros(2, 1, dtype=torch.int64), torch.ones(2, 1)
    rows, handle = moe.dispatch(x, index, CAPACITY, ALL, WORLD)
    for call, text in (
        (lambda: moe.dispatch(x, index[:1], CAPACITY, ALL, WORLD), "do not belong together"),
        (lambda: moe.dispatch(x, index.float(), CAPACITY, ALL, WORLD), "int32 or int64"),
        (lambda: moe.dispatch(x, index, CAPACITY, ALL + 1, WORLD), "experts with room"),
        (lambda: moe.dispatch(x, index, 0, ALL, WORLD), "experts with room"),
        (lambda: moe.dispatch(x, index, CAPACITY, ALL, WORLD, align=-1), "aligned to -1"),
        (lambda: moe.dispatch(x, index.to("meta"), CAPACITY, ALL, WORLD), "rows are on cpu and their index on meta"),
        (lambda: moe.combine(rows[:, 1:], index, weights, handle, WORLD), f"experts are [{ALL * CAPACITY}, hidden]"),
        (lambda: moe.combine(rows, index, weights.to("meta"), handle, WORLD), "on cpu and the weights on meta"),
        (lambda: moe.combine(rows, index.to("meta"), weights, handle, WORLD), "rows are on cpu and their index on meta"),
    ):
        try:
            call()
        except ValueError as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"{text}: nothing was raised")


@scenario
def a_changed_index_has_no_gradients():
    for call in (
        lambda x, index, weights, handle: moe.dispatch(x[:2], index, CAPACITY, ALL, WORLD)[0],
        lambda x, index, weights, handle: moe.combine(x, index, weights, handle, WORLD),
    ):
        x, index = torch.ones(ALL * CAPACITY, 4, requires_grad=True), torch.zeros(2, 1, dtype=torch.int64)
        _, handle = moe.dispatch(x.detach()[:2], index, CAPACITY, ALL, WORLD)
        made = call(x, index, torch.ones(2, 1), handle)
        index += 1
        try:
            made.sum().backward()
        except RuntimeError as error:
            assert "inplace" in str(error), error
        else:
            raise AssertionError("nothing was raised")


def by_hand(x, index, weights, experts):
    """The layer by all_to_all_single alone, of rows that fit in any case. Each row goes to rank and expert of its entry."""
    named = index.flatten()
    order = torch.sort(named, stable=True).indices
    counts = torch.bincount(named, minlength=ALL).view(SIZE, EXPERTS)
    came = torch.empty_like(counts)
    dist.all_to_all_single(came, counts, group=GROUPS["gloo"])
    splits = came.sum(1).tolist(), counts.sum(1).tolist()
    got = Exchange.apply(x[order // index.shape[1]], *splits)
    which = torch.arange(EXPERTS).repeat(SIZE).repeat_interleave(came.flatten())
    made = torch.zeros_like(got)
    for number, expert in enumerate(experts):
        made = made.index_copy(0, torch.nonzero(which == number).flatten(), expert(got[which == number]))
    back = Exchange.apply(made, splits[1], splits[0])
    rows = torch.empty_like(back).index_copy(0, order, back).view(*index.shape, -1)
    total = torch.zeros_like(x)
    for choice in range(index.shape[1]):
        total = total + weights[:, choice, None] * rows[:, choice]
    return total


class Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, came, sent):
        ctx.splits = sent, came
        out = x.new_empty(sum(came), x.shape[1])
        dist.all_to_all_single(out, x.contiguous(), came, sent, group=GROUPS["gloo"])
        return out

    @staticmethod
    def backward(ctx, gradient):
        return Exchange.forward(type("", (), {})(), gradient, *ctx.splits), None, None


def by_moe(x, index, weights, experts):
    got, handle = moe.dispatch(x, index, x.shape[0] * index.shape[1], ALL, WORLD)
    counts = handle.cells.sum(0).tolist()
    made = torch.stack(
        [
            torch.cat([expert(rows[:count]), rows[count:] * 0])
            for expert, rows, count in zip(experts, got.unbind(), counts)
        ]
    )
    return moe.combine(made, index, weights, handle, WORLD)


def losses_of(layer, steps=10, rows=12, hidden=8, choices=2):
    """Trains a gate and the experts of this rank; the gate's gradients are added up over ranks. Returns the loss of each step,
    and the square of the gradient of its rows."""
    torch.manual_seed(7)
    gate = torch.nn.Linear(hidden, ALL, bias=False)
    torch.manual_seed(RANK)
    experts = torch.nn.ModuleList(torch.nn.Linear(hidden, hidden) for _ in range(EXPERTS))
    optimizer = torch.optim.SGD([*gate.parameters(), *experts.parameters()], lr=0.05)
    losses = []
    for step in range(steps):
        made = random(1000 * step + RANK)
        x, target = torch.randn(rows, hidden, generator=made), torch.randn(rows, hidden, generator=made)
        x.requires_grad_()
        weights, index = gate(x).softmax(1).topk(choices)
        loss = (layer(x, index, weights, experts) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        dist.all_reduce(gate.weight.grad, group=GROUPS["gloo"])
        optimizer.step()
        losses.append([float(loss.detach()), float(x.grad.square().sum())])
    return losses


@scenario
def a_layer_is_trained():
    before = launched("moe_dispatch"), launched("moe_combine")
    ours, theirs = losses_of(by_moe), losses_of(by_hand)
    assert launched("moe_dispatch") == before[0] + 20 and launched("moe_combine") == before[1] + 30
    assert ours == theirs, (ours, theirs)
    assert ours[0] != ours[-1]


if __name__ == "__main__":
    logging.getLogger("mscclc.torch").setLevel(logging.INFO)
    for name in ("moe_dispatch", "moe_combine"):
        more = {"once": ONCE} if name == "moe_dispatch" else {}
        for ready in (0, READY):
            params = {"ranks": SIZE, "experts": EXPERTS, "split": SPLIT, "ready": ready, **more}
            kernel = mscclc.Kernel.compile(SAMPLES / "auto" / f"{name}.cpp", params=params, platform="host")
            assert kernel.is_split == SPLIT and kernel.is_once_per_rank == bool(more and ONCE)
            mscclc.register(kernel)
    _, WORLD, GLOO = start([])
    run_all()

"""Training and torch.compile with the backend, against gloo's; see torch_common.py."""

import torch
import torch.distributed as dist

from torch_common import RANK, SIZE, launched, run_all, scenario, start, values


def model():
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)
    )


def train(net, parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9)
    losses = []
    for step in range(10):
        torch.manual_seed(100 * step + RANK)
        x = torch.randn(16, 8)
        optimizer.zero_grad()
        loss = (net(x).squeeze(1) - x.sum(1)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def assert_trained(ours, theirs):
    assert ours[-1] < 0.5 * ours[0], ours
    assert torch.allclose(torch.tensor(ours), torch.tensor(theirs), rtol=1e-5), (ours, theirs)


@scenario
def ddp():
    found = []
    before = launched("allreduce_allpairs")
    for group in (WORLD, GLOO):
        net = torch.nn.parallel.DistributedDataParallel(model(), process_group=group, bucket_cap_mb=0.002)
        found.append(train(net, net.parameters()))
    assert_trained(*found)
    assert launched("allreduce_allpairs") >= before + 10


@scenario
def fsdp2():
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.fsdp import fully_shard

    found = []
    before = launched("allgather_allpairs"), launched("reducescatter_allpairs")
    for group in (WORLD, GLOO):
        net, mesh = model(), DeviceMesh.from_group(group, "cpu")
        for layer in net:
            if isinstance(layer, torch.nn.Linear):
                fully_shard(layer, mesh=mesh)
        fully_shard(net, mesh=mesh)
        found.append(train(net, net.parameters()))
    assert_trained(*found)
    assert launched("allgather_allpairs") >= before[0] + 30 and launched("reducescatter_allpairs") >= before[1] + 30, (
        WORLD.launches
    )


@scenario
def operators():
    name = WORLD.group_name

    def run(x):
        y = torch.ops.mscclc.all_reduce(x * 2, "sum", name)
        z = torch.ops.mscclc.all_gather(y + 1, name)
        return torch.ops.mscclc.all_to_all(torch.ops.mscclc.reduce_scatter(z, "sum", name), name).sin()

    results = []
    for call in (run, torch.compile(run, fullgraph=True, backend="aot_eager")):
        x = values([4 * SIZE, 3], torch.float32).requires_grad_()
        y = call(x)
        y.sum().backward()
        results.append((y.detach(), x.grad))
    assert all(torch.equal(a, b) for a, b in zip(*results))
    x = values([4 * SIZE, 3], torch.float32)
    total = x.clone()
    dist.all_reduce(total, group=GLOO)
    assert torch.equal(torch.ops.mscclc.all_reduce(x, "sum", name), total)
    assert torch.equal(torch.ops.mscclc.reduce_scatter(x, "sum", name), total.chunk(SIZE)[RANK])
    assert torch.equal(torch.ops.mscclc.all_gather(x[:1], name)[RANK], x[0])


@scenario
def compiled_functional_collectives():
    import torch.distributed._functional_collectives as functional

    def run(x):
        y = functional.all_reduce(x, "sum", WORLD) + 1
        return functional.all_gather_tensor(y, 0, WORLD)

    x = values([6, 2], torch.float32)
    assert torch.equal(torch.compile(run, fullgraph=True, backend="aot_eager")(x), run(x))


@scenario
def sparse_gradients():
    for made in (torch.eye(4).to_sparse() * (RANK + 1), torch.zeros(4, 4).to_sparse()):
        both = [made.clone(), made.clone()]
        for tensor, group in zip(both, (WORLD, GLOO)):
            dist.all_reduce(tensor, group=group)
        assert torch.equal(*(tensor.to_dense() for tensor in both)), both
    found = []
    for group in (WORLD, GLOO):
        torch.manual_seed(1)
        net = torch.nn.Sequential(torch.nn.Embedding(10, 4, sparse=True), torch.nn.Linear(4, 1))
        ddp = torch.nn.parallel.DistributedDataParallel(net, process_group=group)
        ddp(torch.tensor([RANK, 3])).sum().backward()
        found.append(net[0].weight.grad.to_dense())
    assert torch.equal(*found) and found[0][3].abs().sum() > 0, found


@scenario
def compiled_ddp():
    found = []
    before = launched("allreduce_allpairs")
    for group in (WORLD, GLOO):
        ddp = torch.nn.parallel.DistributedDataParallel(model(), process_group=group)
        found.append(train(torch.compile(ddp, backend="aot_eager"), ddp.parameters()))
    assert_trained(*found)
    assert launched("allreduce_allpairs") >= before + 10


@scenario
def compiled_calls():
    def broadcast(x):
        y = x * 2
        dist.broadcast(y, 0)
        return y + 1

    def waits(x):
        y = x * 2
        dist.all_reduce(y, async_op=True).wait()
        return y + 1

    for call, expected in ((broadcast, 3.0), (waits, SIZE * (SIZE + 1) + 1.0)):
        x = torch.full((3,), RANK + 1.0)
        for run in (call, torch.compile(call, backend="aot_eager")):
            assert torch.equal(run(x), torch.full((3,), expected)), (call, run(x))


if __name__ == "__main__":
    _, WORLD, GLOO = start()
    run_all()

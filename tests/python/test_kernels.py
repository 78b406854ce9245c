"""Tests how kernels are made and registered: operations, roots, tags, sizes."""

import pathlib
import tomllib

import numpy as np
import pytest

import mscclc
from conftest import SAMPLES

HERE = pathlib.Path(__file__).resolve().parent


def baked(name, **more):
    return mscclc.Kernel.compile(SAMPLES / f"{name}.cpp", platform="host", options=["--dtype", "f32"], **more)


def test_operations_of_a_kernel():
    """One kernel does what a call wants."""
    kernel = baked("allreduce_allpairs", params={"ranks": 2, "threadBlocks": 1}, ops=["sum", "min", "max", "prod"])
    with mscclc.Communicator(2, platform="host", wait_timeout=20) as ranks:
        for op, expected in (("sum", 5), ("min", 2), ("max", 3), ("prod", 6)):
            arrays = [np.full(64, rank + 2, np.float32) for rank in range(2)]
            ranks.run(kernel, arrays, op=op)
            assert (arrays[0] == expected).all() and (arrays[1] == expected).all(), op


def test_operations_that_a_program_does_not_allow():
    greatest = dict(params={"ranks": 2}, platform="host", options=["--dtype", "f32"])
    source = HERE / "allreduce_max.cpp"
    with pytest.raises(ValueError, match="reduces by 'max', and may add a value twice"):
        mscclc.Kernel.compile(source, ops=["sum"], **greatest)
    kernel = mscclc.Kernel.compile(source, ops=["min"], **greatest)
    with mscclc.Communicator(2, platform="host", wait_timeout=20) as ranks:
        arrays = [np.full(64, rank + 2, np.float32) for rank in range(2)]
        ranks.run(kernel, arrays, op="min")
        assert (arrays[1] == 2).all()
    with pytest.raises(ValueError, match="does not reduce"):
        mscclc.Kernel.compile(SAMPLES / "alltoall.cpp", params={"ranks": 2}, platform="host", ops=["max"])
    with pytest.raises(ValueError, match="no operation 'avg'; there are sum, min, max, prod"):
        mscclc.Kernel.compile(source, ops=["avg"], **greatest)
    with pytest.raises(TypeError, match="a list of names"):
        mscclc.Kernel.compile(source, ops="min", **greatest)


def test_roots_of_a_kernel(selector):
    for root in (0, 1):
        mscclc.register(baked("reduce_chain", params={"ranks": 2, "root": root}, ops=["sum", "max"]))
    with mscclc.Communicator(2, platform="host", wait_timeout=20) as ranks:
        for root in (0, 1):
            arrays = [np.full(64, rank + 2, np.float32) for rank in range(2)]
            made = [np.zeros(64, np.float32) for _ in range(2)]
            assert ranks.run("reduce", arrays, made, op="max", root=root).root == root
            assert (made[root] == 3).all(), made


def test_tags_and_sizes(allreduce, alltoall, selector):
    packets = baked("allreduce_packets", params={"ranks": 2})
    assert {"packets", "double-scratch"} <= packets.tags and alltoall.tags == frozenset()
    mscclc.register(packets, max_bytes="64K", tags=["small"])
    mscclc.register(allreduce, min_bytes="64K", max_bytes="1M", tags=["large", "mine"])
    assert "small" in packets.tags and {"large", "mine"} <= allreduce.tags
    assert [(entry.min_bytes, entry.max_bytes) for entry in selector.entries] == [(0, 1 << 16), (1 << 16, 1 << 20)]
    for wrong, error in (("1X", ValueError), ("", ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error, match="is no number of bytes; it is one such as 4096 or '64K'"):
            mscclc.register(allreduce, max_bytes=wrong)
    with pytest.raises(TypeError, match=r"tags are a list of names, as in \['large'\]"):
        mscclc.register(allreduce, tags="large")
    assert len(selector.entries) == 2


def test_the_version_is_that_of_the_wheel():
    project = HERE.parent.parent / "runtime-min/python/pyproject.toml"
    assert mscclc.__version__ == tomllib.loads(project.read_text())["project"]["version"]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_a_hook_agrees_with_torch(dtype):
    """The sum, the residual and the norm of rows, in the arithmetic of PyTorch: in f64, of the same rounded sums."""
    torch = pytest.importorskip("torch")
    ranks, rows, row = 4, 5, 200
    kernel = mscclc.Kernel.compile(SAMPLES / "auto" / "allreduce_norm.cpp", platform="host", params={"ranks": ranks})
    type_ = getattr(torch, dtype)
    torch.manual_seed(7)
    parts = [torch.randint(-8, 9, (rows, row)).to(type_) for _ in range(ranks)]  # their sums are exact
    residual = [torch.randn(rows, row).to(type_) for _ in range(ranks)]
    gamma, epsilon = torch.randn(row).to(type_), torch.tensor([1e-5])
    kept = [torch.stack(parts).float().sum(0).to(type_) + one for one in residual]
    arrays = {"residual": residual, "gamma": [gamma] * ranks, "epsilon": [epsilon] * ranks}
    with mscclc.Communicator(ranks, platform="host", wait_timeout=20) as communicator:
        communicator.run(kernel, parts, row=row, hook_arrays=arrays)
        with pytest.raises(mscclc.CallError, match="does not consist of whole rows"):
            communicator.run(kernel, parts, row=row + 1, hook_arrays=arrays)
        with pytest.raises(mscclc.CallError, match="takes an array 'gamma', and rank 0 has none"):
            communicator.run(kernel, parts, row=row, hook_arrays={"residual": residual, "epsilon": arrays["epsilon"]})
        with pytest.raises(mscclc.CallError, match="takes rows: say how long they are"):
            communicator.run(kernel, parts, hook_arrays=arrays)
    # In units of 2^-24: a square is added in at most 24 roundings (8 of its octet, 15 of 16 partial results, 1 of two of
    # these), and the mean and epsilon are 2 more. The root halves them. Then the root itself, the quotient and two products.
    # At last the rounding to the type, of half a unit in the last place.
    error = (26 / 2 + 5) * 2**-24 + torch.finfo(type_).eps / 2
    for rank in range(ranks):
        assert torch.equal(residual[rank], kept[rank])
        wide = kept[rank].double()
        norm = wide / (wide.square().mean(-1, keepdim=True) + epsilon.double()).sqrt() * gamma.double()
        assert ((parts[rank].double() - norm).abs() <= norm.abs() * error + 1e-7).all()


def test_a_kernel_with_a_hook_runs_no_plain_call(selector):
    mscclc.register(baked("auto/allreduce_norm", params={"ranks": 2}))
    with mscclc.Communicator(2, platform="host", wait_timeout=20) as ranks:
        with pytest.raises(mscclc.NoKernelError, match=r"collective allreduce\+add_rms_norm"):
            ranks.run("allreduce", [np.zeros(64, np.float32) for _ in range(2)])


def as_f8e4m3(blocks):
    """Rows as the wire format keeps them: an f32 scale of each, and the nearest f8e4m3 of quotients, ties to even."""
    codes = np.arange(127)  # of numbers from 0 to 448; the next one is NaN
    exponents, mantissas = codes >> 3, codes & 7
    numbers = np.where(exponents == 0, mantissas * 2.0**-9, (1 + mantissas / 8) * 2.0 ** (exponents - 7.0))
    scales = np.abs(blocks).max(1, keepdims=True) / np.float32(448)
    scales[scales == 0] = 1
    quotients = blocks / scales
    assert scales.dtype == quotients.dtype == np.float32
    middles = (numbers[1:] + numbers[:-1]) / 2  # of them, exact
    below, above = (np.searchsorted(middles, np.abs(quotients), side) for side in ("left", "right"))
    nearest = numbers[np.where(below % 2 == 0, below, above)].astype(np.float32)
    return np.copysign(nearest, quotients) * scales


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("block", [128, 32])
def test_a_wire_format_has_the_bits_of_its_definition(dtype, block):
    """Each contribution quantised once, then a sum of f32 in the order of ranks, quantised once; within its bound."""
    ranks = 3
    source = SAMPLES / "auto" / "allreduce_quantized.cpp"
    kernel = mscclc.Kernel.compile(source, platform="host", params={"ranks": ranks, "block": block})
    random = np.random.default_rng(5)
    parts = [(random.standard_normal((67, block)) * 2.0 ** random.integers(-8, 8, (67, 1))).astype(dtype) for _ in range(ranks)]
    for part in parts:
        part[7] = 0
    wide = [part.astype(np.float32) for part in parts]
    kept = [as_f8e4m3(part) for part in wide]
    total = kept[0] + kept[1] + kept[2]
    expected = as_f8e4m3(total).astype(dtype)
    with mscclc.Communicator(ranks, platform="host", wait_timeout=20) as communicator:
        communicator.run(kernel, parts)
        with pytest.raises(mscclc.CallError, match="does not consist of whole blocks"):
            communicator.run(kernel, [np.zeros(block + 1, dtype) for _ in range(ranks)])
    for part in parts:
        assert (part.view(np.uint8) == expected.view(np.uint8)).all()
    largest = sum(np.abs(each).max(1, keepdims=True).astype(np.float64) for each in [*wide, total])
    bound = largest / 28 * (1 + 2.0**-10) + np.abs(expected.astype(np.float64)) * (0 if dtype == np.float32 else 2.0**-12)
    error = np.abs(expected - sum(each.astype(np.float64) for each in wide))
    assert (error <= bound).all() and error.max() > 0


@pytest.mark.parametrize("width", [np.int32, np.int64])
@pytest.mark.parametrize("layout", ["padded", "packed"])
def test_rows_by_counts(layout, width):
    """Rows as the counts say; what is behind them stays; a sender with a count above the capacity is named."""
    ranks, capacity, row = 3, 4, 5
    kernel = mscclc.Kernel.compile(SAMPLES / "auto" / f"alltoallv_{layout}.cpp", platform="host", params={"ranks": ranks})
    given = np.array([[1, 0, 4], [2, 9, 1], [0, -3, 3]])
    moved = given.clip(0, capacity)
    inputs = [np.random.default_rng(rank).random((ranks * capacity, row)) for rank in range(ranks)]
    outputs = [np.full((ranks * capacity, row), -1.0) for _ in range(ranks)]
    counts = {"sent": list(given.astype(width))}
    for name in ("received", "sent_offsets", "received_offsets"):
        counts[name] = [np.full(ranks, -1, width) for _ in range(ranks)]
    counts["status"] = [np.full(ranks, 77, np.uint32) for _ in range(ranks)]
    with mscclc.Communicator(ranks, platform="host", wait_timeout=20) as communicator:
        communicator.run(kernel, inputs, outputs, row=row, counts=counts)
        with pytest.raises(mscclc.CallError, match="takes counts of rows, and the call has none"):
            communicator.run(kernel, inputs, outputs, row=row)
        with pytest.raises(ValueError, match="counts are all int32 or all int64"):
            communicator.run(kernel, inputs, outputs, row=row, counts={"sent": [np.zeros(ranks)] * ranks})
    fixed = np.arange(ranks) * capacity
    for rank in range(ranks):
        begins = [np.concatenate([[0], np.cumsum(given[src].clip(0))[:-1]]) if layout == "packed" else fixed for src in range(ranks)]
        places = np.concatenate([[0], np.cumsum(moved[:, rank])[:-1]]) if layout == "packed" else fixed
        expected = np.full_like(outputs[rank], -1)
        for src in range(ranks):
            rows = moved[src, rank]
            expected[places[src] : places[src] + rows] = inputs[src][begins[src][rank] : begins[src][rank] + rows]
        assert np.array_equal(outputs[rank], expected)
        assert np.array_equal(counts["received"][rank], moved[:, rank])
        assert np.array_equal(counts["received_offsets"][rank], places)
        assert np.array_equal(counts["sent_offsets"][rank], begins[rank])
        assert counts["status"][rank].tolist() == [0, mscclc.abi.COUNTS_CUT, mscclc.abi.COUNTS_CUT]

"""The operators that normalise and quantise the rows of an all-reduce, by kernels with hooks and without; see
torch_common.py."""

import logging
from contextlib import contextmanager

import torch
import torch.distributed as dist

import mscclc
from torch_common import RANK, SAMPLES, SIZE, launched, run_all, scenario, start

TYPES = [torch.float32, torch.bfloat16, torch.float16]
EPSILON = 0.5  # so large that a result without it is wrong
NORM = torch.ops.mscclc.all_reduce_add_rms_norm
QUANTIZE = torch.ops.mscclc.all_reduce_add_rms_norm_quantize_f8e4m3


def arguments(shape, dtype):
    """Returns input, residual and weight of this rank, and the exact sum of the inputs. They are whole numbers up to
    8 · SIZE, which every type has. The first row of the sum and of the residual is 0."""
    made = torch.Generator().manual_seed(7)
    parts = [torch.randint(-8, 9, shape, generator=made).to(dtype) for _ in range(SIZE)]
    residuals = [torch.randn(shape, generator=made).to(dtype) for _ in range(SIZE)]
    for tensor in (*parts, *residuals):
        tensor.view(-1, shape[-1])[:1] = 0
    weight = torch.randn(shape[-1], generator=made).to(dtype)
    return (parts[RANK], residuals[RANK], weight), torch.stack(parts).double().sum(0)


def check_norm(given, total, made, kept):
    """The new residual is exact, because a sum of two is rounded once. The norm is compared with f64.

    In units of 2^-24, for a row of n elements: each square is 1 rounding, their sum at most n - 1 in any order, the
    mean and epsilon 2 more: n + 2. The root halves them. Then the root, the quotient and two products are 4, and 1 is
    for the products of these errors, which are far smaller. At last comes the rounding to the type: half a unit in the
    last place, or half of the least number."""
    input, residual, weight = given
    wide = torch.promote_types(input.dtype, torch.float32)
    assert torch.equal(kept, (total.to(wide) + residual.to(wide)).to(residual.dtype)), (kept, total, residual)
    assert (made.dtype, made.shape, kept.shape) == (input.dtype, input.shape, input.shape)
    h, kind = kept.double(), torch.finfo(input.dtype)
    norm = h / (h.square().mean(-1, keepdim=True) + EPSILON).sqrt() * weight.double()
    relative = ((input.shape[-1] + 2) / 2 + 5) * 2.0**-24 + kind.eps / 2
    least = kind.smallest_normal * kind.eps / 2
    assert ((made.double() - norm).abs() <= norm.abs() * relative + least).all(), (made, norm)


def check_quantized(made, quantized, scales):
    """Both are defined by the norm alone, by one division each that is rounded correctly: so they are equal."""
    rows = made.float()
    most = rows.abs().amax(-1, keepdim=True) / scales.new_tensor(448)  # by a number, CUDA does not divide
    assert torch.equal(scales, torch.where(most == 0, 1.0, most)), scales
    expected = (rows / scales).clamp(-448, 448).to(torch.float8_e4m3fn)
    assert torch.equal(quantized.view(torch.uint8), expected.view(torch.uint8)), (quantized, expected)


def check(given, total, group=None, by=1, calls=(NORM, QUANTIZE)):
    """Calls both operators, and checks the results, that the arguments are as before, and how many of the two calls a
    kernel with a hook runs."""
    group = group or WORLD
    before, kept = launched("allreduce_norm"), [tensor.clone() for tensor in given]
    for call in calls:
        found = call(*given, EPSILON, group.group_name)
        check_norm(given, total, *found[:2])
        if len(found) == 4:
            check_quantized(found[0], *found[2:])
    assert launched("allreduce_norm") == before + by * len(calls), (launched("allreduce_norm"), before, by)
    assert all(torch.equal(*both) for both in zip(given, kept))


@scenario
def kernels_agree_with_pytorch():
    """Among them are rows that do not divide by the ranks, fewer rows than ranks, and rows of no whole 16 bytes."""
    for dtype in TYPES:
        for shape in ([5, 200], [SIZE * 2, 48], [1, 40], [3, 2, 33], [64]):
            check(*arguments(shape, dtype))


@scenario
def messages_and_rows_that_grow():
    for shape in ([2, 16], [200, 24], [3, 9000], [4000, 16]):
        check(*arguments(shape, torch.bfloat16))


@scenario
def within_torch_compile():
    given, total = arguments([5, 64], torch.bfloat16)
    before = launched("allreduce_norm")

    def norm(x, residual, weight):
        made, kept = NORM(x * 2, residual, weight, EPSILON, WORLD.group_name)
        return made * 1, kept

    def quantize(x, residual, weight):
        made, kept, quantized, scales = QUANTIZE(x * 2, residual, weight, EPSILON, WORLD.group_name)
        return made * 1, kept, quantized, scales * 1

    for call in (norm, quantize):
        found = torch.compile(call, fullgraph=True, backend="aot_eager")(*given)
        check_norm(given, total * 2, *found[:2])
        if len(found) == 4:
            check_quantized(found[0], *found[2:])
    assert launched("allreduce_norm") == before + 2
    for call in (NORM, QUANTIZE):
        torch.library.opcheck(
            call, (*given, EPSILON, WORLD.group_name), test_utils=("test_schema", "test_faketensor")
        )


@scenario
def no_rows():
    given, total = arguments([0, 64], torch.float32)
    check(given, total, by=0)
    found = QUANTIZE(*given, EPSILON, WORLD.group_name)
    assert [list(tensor.shape) for tensor in found] == [[0, 64], [0, 64], [0, 64], [0, 1]]


@scenario
def arguments_with_strides():
    given, total = arguments([6, 32], torch.float16)
    wide = [torch.stack([tensor, tensor], -1)[..., 0] for tensor in given]
    assert not wide[0].is_contiguous()
    check(wide, total)


@scenario
def rows_of_numbers_that_are_very_small():
    """The norm is 490 of the least number, the scale one of it, because 490 / 448 is rounded. The quotient, 490, is
    beyond the largest number of float8_e4m3fn."""
    given = torch.zeros([5, 24]), torch.ones([5, 24]), torch.full([24], 600 * 2.0**-149)
    for group, by in ((WORLD, 1), (GLOO, 0)):
        check(given, given[0].double(), group=group, by=by)
        assert (QUANTIZE(*given, EPSILON, group.group_name)[2].float() == 448).all()


@scenario
def rows_that_are_not_finite():
    (input, residual, weight), _ = arguments([5, 24], torch.float32)
    residual[1, 3], residual[2, 4] = torch.nan, torch.inf
    for group in (WORLD, GLOO):
        made, kept, quantized, scales = QUANTIZE(input, residual, weight, EPSILON, group.group_name)
        assert torch.equal(kept[1:3].isfinite(), residual[1:3].isfinite()), kept
        for row, wrong in enumerate([False, True, True, False, False]):
            assert (scales[row].isnan() == wrong).all() and (quantized[row].float().isnan() == wrong).all(), quantized
        assert made[1].isnan().all() and made[2, 4].isnan() and made[0].isfinite().all(), made


@scenario
def calls_that_no_kernel_takes():
    for dtype in (torch.float32, torch.bfloat16):
        check(*arguments([5, 24], dtype), group=GLOO, by=0)
    check(*arguments([5, 24], torch.float64), by=0)
    (input, residual, weight), total = arguments([5, 24], torch.bfloat16)
    check((input, residual.float(), weight), total, by=0)
    check((input, residual, weight.float()), total, by=0)
    before = launched("allreduce_allpairs")
    check(*arguments([MOST // 64 + 1, 16], torch.float32), by=0)  # too long for the rule
    assert launched("allreduce_allpairs") == before + 2  # a kernel adds, and PyTorch does the rest


@scenario
def rows_that_shares_cut():
    """No sample of an all-reduce has shares, but a kernel may."""
    said, handler = [], logging.Handler(logging.INFO)
    handler.emit = lambda record: said.append(record.getMessage())
    log = logging.getLogger("mscclc.torch")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    for kernel in HOOKED:
        kernel.message_shares = 2
    try:
        check(*arguments([4, 25], torch.float32))
        assert not any("cut rows" in line for line in said), said
        check(*arguments([5, 28], torch.float32), by=0)
        assert any("allreduce_norm has shares that cut rows of 112 bytes" in line for line in said), said
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)
        for kernel in HOOKED:
            kernel.message_shares = 1


@scenario
def groups_that_add_in_one_order():
    group = dist.new_group(backend="mscclc", pg_options=mscclc.torch.Options(invariant="strict"))
    given, total = arguments([5, 24], torch.float32)
    for call in (NORM, QUANTIZE):
        check_norm(given, total, *call(*given, EPSILON, group.group_name)[:2])
    assert group.launches == {"allreduce_norm": 2}, group.launches
    dist.barrier(group=group)
    dist.destroy_process_group(group)


@contextmanager
def refused(text):
    try:
        yield
    except (ValueError, RuntimeError) as error:
        assert text in str(error), error
        return
    raise AssertionError(f"nothing is raised; {text!r} was expected")


@scenario
def arguments_that_are_wrong():
    (input, residual, weight), _ = arguments([3, 8], torch.float32)
    for call in (NORM, QUANTIZE):
        with refused("the residual has [2, 8], the weight [8]"):
            call(input, residual[:2], weight, EPSILON, WORLD.group_name)
        with refused("the weight [7]"):
            call(input, residual, weight[:7], EPSILON, WORLD.group_name)
        for wrong in (input.int(), input[:, :0], input.sum()):
            with refused("has no rows of floats"):
                call(wrong, wrong, weight, EPSILON, WORLD.group_name)


@scenario
def few_rows_in_one_shot():
    for kernel in build(oneshot=True):
        mscclc.register(kernel, max_bytes=2000, priority=1)
    group = dist.new_group(backend="mscclc")
    for shape in ([3, 40], [SIZE * 9, 40]):
        check(*arguments(shape, torch.float32), group=group, by=0)
    assert group.launches == {"allreduce_norm_oneshot": 2, "allreduce_norm": 2}, group.launches
    dist.barrier(group=group)
    dist.destroy_process_group(group)


MOST = 1 << 20  # bytes of the messages that kernels with hooks are registered for


def build(**more):
    """Returns the kernels of the sample, the second of which quantises."""
    if RANK != 0:
        dist.barrier(group=GLOO)  # one rank compiles, the others find the library
    made = [
        mscclc.Kernel.compile(
            SAMPLES / "auto/allreduce_norm.cpp",
            params={"ranks": SIZE, "quantize": quantize, **more},
            platform="host",
        )
        for quantize in ("false", "true")
    ]
    if RANK == 0:
        dist.barrier(group=GLOO)
    return made


if __name__ == "__main__":
    _, WORLD, GLOO = start(["allreduce_allpairs"])
    HOOKED = [mscclc.register(kernel, max_bytes=MOST) for kernel in build()]
    run_all()

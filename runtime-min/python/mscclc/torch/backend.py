"""The backend "mscclc" of torch.distributed.

A registered kernel runs a collective if one fits. Otherwise the backend behind runs it: gloo for host tensors, NCCL
for CUDA tensors. Point-to-point calls go to that backend at once. Its other calls on host tensors run in the order of
the calls."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any, Callable, Sequence

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as c10d

from .engine import FLOATS_OF_8_BITS, Job, has_order, rounded, scale
from .group import Group, Tensors
from .work import untraced

_OPS = {
    dist.ReduceOp.SUM: "sum",
    dist.ReduceOp.AVG: "sum",
    dist.ReduceOp.PREMUL_SUM: "sum",
    dist.ReduceOp.MIN: "min",
    dist.ReduceOp.MAX: "max",
    dist.ReduceOp.PRODUCT: "prod",
}
_REDUCE_OPS = [*_OPS, dist.ReduceOp.BAND, dist.ReduceOp.BOR, dist.ReduceOp.BXOR]
#: The collectives that reduce, by their names in torch.distributed.
_CALLS = {"allreduce": "all_reduce", "reduce": "reduce", "reducescatter": "reduce_scatter"}


def _op_name(op: Any) -> str | None:
    """Returns the kernels' name of an operation; None if kernels do not have it."""
    return next((name for known, name in _OPS.items() if op == known), None)


def _op_text(op: Any) -> str:
    return next((known.name.lower() for known in _REDUCE_OPS if op == known), "an operation of its own")


def _flat(pieces: Sequence[Tensors]) -> Tensors:
    return [tensor for piece in pieces for tensor in piece]


def _row_bytes(tensor: torch.Tensor) -> int:
    return math.prod(tensor.shape[1:]) * tensor.element_size()


def _rows(output: torch.Tensor, input: torch.Tensor) -> Tensors:
    """Returns both as vectors, if possible. gloo does not accept a dimension for the ranks; NCCL does."""
    return [tensor.view(-1) if tensor.is_contiguous() else tensor for tensor in (output, input)]


@untraced
class ProcessGroupMscclc(Group):
    """A process group of torch.distributed. `launches` has the number of launches of each kernel. `global_ranks` are
    the group's ranks in the world."""

    def _reduced(
        self,
        collective: str,
        op: Any,
        inputs: list[Tensors],
        outputs: list[Tensors],
        piece: Tensors,
        behind: Callable[[Any], Any],
        root: int = 0,
        region: Any = None,
    ) -> Any:
        """Runs a collective that reduces. The mean is a sum, divided at the end, because gloo has no mean. If no
        kernel runs a sum that scales first, the backend behind does; gloo refuses it."""
        name = _op_name(op)
        factor = op.__getstate__()[1] if op == dist.ReduceOp.PREMUL_SUM else None
        job = Job(collective, inputs, outputs, piece, name, root, factor=factor, region=region, reduces=True) if name else None
        results = _flat(outputs) or _flat(inputs)
        mean = op == dist.ReduceOp.AVG
        if mean and not all(tensor.is_floating_point() or tensor.is_complex() for tensor in piece):
            raise ValueError("mscclc: the mean of integers is not defined; reduce with SUM")

        def divide() -> None:
            for tensor in _flat(outputs):
                if tensor.dtype in FLOATS_OF_8_BITS:
                    scale(tensor, 1 / self.size())
                else:
                    tensor.div_(self.size())

        return self._call(
            job,
            results,
            _CALLS[collective],
            lambda: behind(dist.ReduceOp.SUM if mean else op),
            divide if mean else None,
            _flat(inputs),
            piece,
            f"{_op_text(op)}, root {root}" if collective == "reduce" else _op_text(op),
            has_order(name, piece),
        )

    # -------------------------------------------------------------------------------------------------- collectives

    def allreduce(self, tensors: Tensors, opts: Any = None) -> Any:
        opts = opts or c10d.AllreduceOptions()

        def behind(op: Any) -> Any:
            opts.reduceOp = op
            return self._inner.allreduce(tensors, opts)

        return self._reduced("allreduce", opts.reduceOp, [tensors], [tensors], tensors, behind)

    def symmetric_empty(self, *shape: int, dtype: torch.dtype = torch.float32, device: str = "cpu") -> torch.Tensor:
        """Returns a tensor in memory that all ranks reach, for `symmetric_allreduce`, of the same size on all ranks.
        It ends with the group. `device`: "cpu", or "cuda" for the current device. Raises RuntimeError if no kernel is
        registered. Collective."""
        device = torch.device(device).type
        made: Tensors = []
        size = torch.Size(shape).numel() * dtype.itemsize

        def allocate() -> None:
            made.append(self._engine(device).symmetric(size).view(dtype).view(shape))

        self._worker.check()
        if device == "cpu":
            self._worker.submit("symmetric_empty", [], allocate).wait()
        else:
            allocate()
        return made[0]

    def symmetric_allreduce(self, tensor: torch.Tensor, op: Any = dist.ReduceOp.SUM) -> Any:
        """All-reduces tensors of `symmetric_empty`, one on each rank, all made by the same call. A kernel that works
        in place uses them directly. Other kernels get copies."""
        region = self._engine(tensor.device.type).region_of(tensor)
        opts = c10d.AllreduceOptions()

        def behind(op: Any) -> Any:
            opts.reduceOp = op
            return self._inner.allreduce([tensor], opts)

        return self._reduced("allreduce", op, [[tensor]], [[tensor]], [tensor], behind, region=region)

    def allreduce_then(self, hook: str, tensor: torch.Tensor, arrays: dict[str, torch.Tensor]) -> bool:
        """Sums in place by a kernel of "allreduce+HOOK", and waits as Work.wait does. `arrays` are the hook's, by
        name: contiguous tensors on the same device. A row is the last dimension. Returns False if no kernel fits, on
        all ranks alike; then nothing was done."""
        given = [tensor, *arrays.values()]
        row = tensor.shape[-1] * tensor.element_size()
        job = Job(
            f"allreduce+{hook}",
            [[tensor]],
            [[tensor]],
            [tensor],
            piece_bytes=tensor.nbytes,
            reduces=True,
            row=row,
            arrays=arrays,
        )
        missed: list[str] = []

        def behind() -> None:
            missed.append(hook)

        text = f"sum, then {hook}"
        work = self._call(job, [tensor], "all_reduce", behind, used=given, alike=given, more=text)
        if work is not None:
            work.wait()
        return not missed

    def allreduce_coalesced(self, tensors: Tensors, opts: Any = None) -> Any:
        op = opts.reduceOp if opts is not None else dist.ReduceOp.SUM

        def behind(op: Any) -> None:
            each = c10d.AllreduceOptions()
            each.reduceOp = op
            for tensor in tensors:
                self._inner.allreduce([tensor], each).wait()

        return self._reduced("allreduce", op, [tensors], [tensors], tensors, behind)

    def broadcast(self, tensors: Tensors, opts: Any = None) -> Any:
        opts = opts or c10d.BroadcastOptions()
        here = opts.rootRank == self.rank()
        job = Job("broadcast", [tensors] if here else [], [] if here else [tensors], tensors, root=opts.rootRank)
        behind = lambda: self._inner.broadcast(tensors, opts)
        return self._call(job, tensors, "broadcast", behind, alike=tensors, more=f"root {opts.rootRank}")

    def reduce(self, tensors: Tensors, opts: Any = None) -> Any:
        opts = opts or c10d.ReduceOptions()

        def behind(op: Any) -> Any:
            opts.reduceOp = op
            # The backend behind may overwrite the tensors of ranks other than the root.
            own = tensors if opts.rootRank == self.rank() else [tensor.clone() for tensor in tensors]
            return self._inner.reduce(own, opts)

        here = opts.rootRank == self.rank()
        return self._reduced(
            "reduce", opts.reduceOp, [tensors], [tensors] if here else [], tensors, behind, opts.rootRank
        )

    def allgather(self, outputs: list[Tensors], inputs: Tensors, opts: Any = None) -> Any:
        opts = opts or c10d.AllgatherOptions()
        same = (
            len(inputs) == 1
            and all(len(one) == self.size() for one in outputs)
            and all(tensor.shape == inputs[0].shape and tensor.dtype == inputs[0].dtype for tensor in _flat(outputs))
        )
        job = Job("allgather", [inputs], [[tensor] for tensor in outputs[0]], inputs) if same else None
        behind = lambda: self._inner.allgather(outputs, inputs, opts)
        return self._call(job, _flat(outputs), "all_gather", behind, used=inputs, alike=inputs)

    def all_gather_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any = None) -> Any:
        return self.all_gather_single_coalesced([output], [input], opts)

    def all_gather_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> Any:
        opts = opts or c10d.AllgatherOptions()
        job = None
        # Only its own rank knows whether a tensor is contiguous, so the choice of a kernel must not depend on it.
        made = [output.contiguous() for output in outputs]
        if all(o.dtype == i.dtype and o.numel() == i.numel() * self.size() for o, i in zip(outputs, inputs)):
            pieces = [output.view(self.size(), *inputs[k].shape) for k, output in enumerate(made)]
            job = Job("allgather", [inputs], [[piece[rank] for piece in pieces] for rank in range(self.size())], inputs)

        def behind() -> None:
            for output, input in zip(made, inputs):
                self._inner._allgather_base(*_rows(output, input.contiguous()), opts).wait()

        def copy() -> None:
            for output, gathered in zip(outputs, made):
                if gathered is not output:
                    output.copy_(gathered)

        return self._call(job, outputs, "all_gather", behind, copy, [*made, *inputs], inputs)

    def allgather_coalesced(self, outputs: list[Tensors], inputs: Tensors, opts: Any = None) -> Any:
        opts = opts or c10d.AllgatherOptions()
        behind = lambda: self._inner.allgather_coalesced(outputs, inputs, opts)
        return self._call(None, _flat(outputs), "all_gather", behind, used=inputs, alike=inputs)

    def reduce_scatter(self, outputs: Tensors, inputs: list[Tensors], opts: Any = None) -> Any:
        opts = opts or c10d.ReduceScatterOptions()

        def behind(op: Any) -> Any:
            opts.reduceOp = op
            return self._inner.reduce_scatter(outputs, inputs, opts)

        same = len(outputs) == 1 and all(tensor.shape == outputs[0].shape for tensor in _flat(inputs))
        if not same:
            ordered = has_order(_op_name(opts.reduceOp), outputs)
            run = lambda: behind(opts.reduceOp)
            return self._call(None, outputs, "reduce_scatter", run, used=_flat(inputs), has_order=ordered)
        return self._reduced(
            "reducescatter", opts.reduceOp, [[tensor] for tensor in inputs[0]], [outputs], outputs, behind
        )

    def reduce_scatter_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any = None) -> Any:
        return self.reduce_scatter_single_coalesced([output], [input], opts)

    def reduce_scatter_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> Any:
        opts = opts or c10d.ReduceScatterOptions()

        def behind(op: Any) -> None:
            opts.reduceOp = op
            for output, input in zip(outputs, inputs):
                self._inner._reduce_scatter_base(*_rows(output, input), opts).wait()

        if any(i.numel() != o.numel() * self.size() or i.dtype != o.dtype for o, i in zip(outputs, inputs)):
            ordered = has_order(_op_name(opts.reduceOp), outputs)
            run = lambda: behind(opts.reduceOp)
            return self._call(None, outputs, "reduce_scatter", run, used=inputs, has_order=ordered)
        pieces = [input.reshape(self.size(), *outputs[k].shape) for k, input in enumerate(inputs)]
        given = [[piece[rank] for piece in pieces] for rank in range(self.size())]
        return self._reduced("reducescatter", opts.reduceOp, given, [outputs], outputs, behind)

    def gather(self, outputs: list[Tensors], inputs: Tensors, opts: Any = None) -> Any:
        opts = opts or c10d.GatherOptions()
        made = [[tensor] for tensor in outputs[0]] if outputs else []
        job = Job("gather", [inputs], made, inputs, root=opts.rootRank)
        behind = lambda: self._inner.gather(outputs, inputs, opts)
        root = f"root {opts.rootRank}"
        return self._call(job, _flat(made) or inputs, "gather", behind, used=inputs, alike=inputs, more=root)

    def scatter(self, outputs: Tensors, inputs: list[Tensors], opts: Any = None) -> Any:
        opts = opts or c10d.ScatterOptions()
        given = [[tensor] for tensor in inputs[0]] if inputs else []
        job = Job("scatter", given, [outputs], outputs, root=opts.rootRank)
        behind = lambda: self._inner.scatter(outputs, inputs, opts)
        root = f"root {opts.rootRank}"
        return self._call(job, outputs, "scatter", behind, used=_flat(inputs), alike=outputs, more=root)

    def alltoall(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> Any:
        opts = opts or c10d.AllToAllOptions()
        return self._call(
            lambda: self._alltoall_job(outputs[0].device.type, outputs, inputs),
            outputs,
            "all_to_all",
            lambda: self._alltoall_behind(outputs, inputs, opts),
            used=inputs,
        )

    def _alltoall_behind(self, outputs: Tensors, inputs: Tensors, opts: Any) -> Any:
        if outputs[0].device.type != "cpu":
            return self._inner.alltoall(outputs, inputs, opts)
        # gloo has no alltoall of lists: the pieces become those of one tensor.
        given = torch.cat([tensor.reshape(-1) for tensor in inputs])
        made = torch.empty(sum(tensor.numel() for tensor in outputs), dtype=given.dtype)
        splits = [[tensor.numel() for tensor in tensors] for tensors in (outputs, inputs)]
        self._inner.alltoall_base(made, given, *splits, opts).wait()
        with torch.no_grad():
            for tensor, piece in zip(outputs, made.split(splits[0])):
                tensor.copy_(piece.view(tensor.shape))
        return None

    def all_to_all_single(
        self,
        output: torch.Tensor,
        input: torch.Tensor,
        output_splits: "list[int] | None",
        input_splits: "list[int] | None",
        opts: Any = None,
    ) -> Any:
        opts = opts or c10d.AllToAllOptions()
        behind = lambda: self._inner.alltoall_base(output, input, output_splits or [], input_splits or [], opts)
        whole = output.is_contiguous() and all(
            (sum(splits) == tensor.shape[0]) if splits else tensor.shape[0] % self.size() == 0
            for tensor, splits in ((output, output_splits), (input, input_splits))
            if tensor.dim() > 0
        )
        device = output.device.type
        if not whole or output.dim() == 0 or input.dim() == 0:
            none = lambda: self._alltoall_job(device, None, None)
            return self._call(none, [output], "all_to_all", behind, used=[input])

        if self.options.capacity and (output_splits or input_splits):
            even = lambda tensor: [tensor.shape[0] // self.size()] * self.size()
            splits = [output_splits or even(output), input_splits or even(input)]
            came = torch.full((2, self.size()), -1, dtype=torch.int64, device=output.device)
            rows = lambda: self._alltoallv_job(output, input, splits, came)

            def check() -> None:
                if device == "cpu" and int(came.min()) >= 0 and came[0].tolist() != splits[0]:
                    raise RuntimeError(f"mscclc: {splits[0]} rows were to come, and {came[0].tolist()} came")

            return self._call(rows, [output], "all_to_all", behind, check, [input, came])

        def job() -> "Job | None":
            return self._alltoall_job(
                device,
                list(output.split(output_splits or output.shape[0] // self.size() or 1)),
                list(input.split(input_splits or input.shape[0] // self.size() or 1)),
            )

        return self._call(job, [output], "all_to_all", behind, used=[input])

    def alltoallv(
        self, output: torch.Tensor, input: torch.Tensor, splits: torch.Tensor, splits_offsets: torch.Tensor
    ) -> bool:
        """Sends `splits[r]` rows of dimension 0 to each rank r by a kernel of packed rows, and waits as Work.wait does.
        The rows for a rank follow those for the rank before it, in input and output. `splits_offsets` [2, ranks]: gets
        the rows that came from each rank, and the offset of the first in `output`. All are contiguous, on one device,
        and of the same sizes on all ranks; splits are int64. No rows are moved that input or output has no room for.
        Returns False on all ranks if no kernel fits; then nothing was done."""
        missed: list[str] = []
        job = self._rows_job(output, input, splits, splits_offsets, input.shape[0])
        job.rooms = (input.shape[0], output.shape[0])
        engine = self._engine(input.device.type)
        (given, job.region), (made, job.out_region) = map(engine.find_region, (input, output))
        work = self._call(
            job,
            [output, splits_offsets],
            "all_to_all",
            lambda: missed.append("no kernel"),
            used=[input, splits],
            alike=[input, output],
            more=f"rows by counts, in symmetric memory {given} and {made}",
        )
        if work is not None:
            work.wait()
        return not missed

    def by_index(
        self,
        collective: str,
        inputs: Tensors,
        outputs: Tensors,
        rows: int,
        row: int,
        index: "dict[str, Any]",
        in_parts: bool = False,
    ) -> Callable[[], bool]:
        """Begins to move rows by a kernel that takes an index of experts. `inputs` and `outputs` are its payloads: they
        have rows along dimension 0, contiguous. `rows`: those of the experts of a rank. `row`: bytes of all payloads of
        a row, or more. Both are the same on all ranks. Returns a function that waits as Work.wait does. It returns False
        on all ranks if no kernel fits; then nothing was done. `in_parts`: a split kernel only sends, and receives when
        that function is called, or before the next call of the group."""
        missed: list[str] = []
        job = Job(
            collective,
            [inputs],
            [outputs],
            inputs[:1],
            piece_bytes=rows * row,
            row=row,
            reduces=collective.startswith("combine"),
            index=index,
            payloads=[(given, made, _row_bytes(given)) for given, made in zip(inputs, outputs)],
            in_parts=in_parts,
        )
        device = outputs[0].device.type
        used = [*inputs, *(value for value in index.values() if isinstance(value, torch.Tensor))]
        types = ", ".join(f"{given.dtype} in rows of {_row_bytes(given)}" for given in inputs)
        work = self._call(
            job,
            outputs,
            "all_to_all",
            lambda: missed.append("no kernel"),
            used=used,
            more=f"{collective} of {job.piece_bytes} bytes of {types}",
        )

        def receive() -> None:
            self._engine(device).receive(None if device == "cpu" else torch.cuda.current_stream().cuda_stream, job)

        def finish() -> bool:
            if work is not None:
                work.wait()
            if job.has_sent:
                self._call(None, outputs, "all_to_all", receive, used=used).wait()
            return not missed

        return finish

    def _rows_job(
        self,
        output: torch.Tensor,
        input: torch.Tensor,
        splits: torch.Tensor,
        splits_offsets: torch.Tensor,
        capacity: int,
    ) -> Job:
        """`capacity`: the rows that a rank sends to another one, at most."""
        row = _row_bytes(input)
        return Job(
            "alltoallv+packed",
            [[input]],
            [[output]],
            [input],
            piece_bytes=self.size() * capacity * row,
            row=row,
            counts={"sent": splits, "received": splits_offsets[0], "received_offsets": splits_offsets[1]},
        )

    def _alltoallv_job(
        self, output: torch.Tensor, input: torch.Tensor, splits: "list[list[int]]", came: torch.Tensor
    ) -> "Job | None":
        """A job for uneven splits, of output and input, if they fit the capacity on all ranks, and rows are equally
        long. Each rank says so by one word. `came`: int64 [2, ranks], gets the splits of what came."""
        device, row = output.device.type, _row_bytes(input)
        fits = row == _row_bytes(output) and row > 0 and max(map(max, splits)) <= self.options.capacity
        own = torch.tensor([row if fits else -1], dtype=torch.int64)
        every = [torch.empty_like(own) for _ in range(self.size())]
        self._meetings[device].allgather([every], [own]).wait()
        if any(int(word) != row for word in every) or not fits:
            return None
        sent = torch.tensor(splits[1], dtype=torch.int64, device=input.device)
        return self._rows_job(output, input, sent, came, self.options.capacity)

    def _alltoall_job(self, device: str, outputs: "Tensors | None", inputs: "Tensors | None") -> "Job | None":
        """Sizes are each rank's own, so all ranks tell each other before a kernel is thought of. A piece is as long as
        the largest one; where that is much more than what is sent, no kernel does it. None: a rank's arguments are
        wrong.
        """
        sizes = torch.full((self.size(), 2), -1, dtype=torch.int64)
        if outputs is not None and inputs is not None and len(outputs) == len(inputs) == self.size():
            for column, tensors in enumerate((outputs, inputs)):
                sizes[:, column] = torch.tensor([tensor.nbytes for tensor in tensors])
        every = [torch.empty_like(sizes) for _ in range(self.size())]
        self._meetings[device].allgather([every], [sizes]).wait()
        table = torch.stack(every)  # rank, peer, output and input
        largest, total = int(table.max()), int(table[:, :, 1].sum())
        agree = bool((table[:, :, 0] == table[:, :, 1].T).all()) and int(table.min()) >= 0
        if not agree or outputs is None or inputs is None or largest * self.size() ** 2 > 4 * total + (1 << 16):
            return None
        return Job(
            "alltoall",
            [[tensor] for tensor in inputs],
            [[tensor] for tensor in outputs],
            inputs[:1],
            piece_bytes=rounded(largest),
        )

    # ------------------------------------------------------------------------------------------------ straight through

    def send(self, tensors: Tensors, rank: int, tag: int = 0) -> Any:
        return self._inner.send(tensors, rank, tag)

    def recv(self, tensors: Tensors, rank: int, tag: int = 0) -> Any:
        return self._inner.recv(tensors, rank, tag)

    def recv_anysource(self, tensors: Tensors, tag: int = 0) -> Any:
        return self._inner.recv_anysource(tensors, tag)

    def barrier(self, opts: Any = None) -> Any:
        """Waits for the earlier collectives, and for all ranks."""
        return self._meet("barrier", lambda: self._gloo.barrier().wait())

    def monitored_barrier(self, timeout: "timedelta | None" = None, wait_all_ranks: bool = False) -> None:
        """Does the same as `barrier`, and names the ranks that do not arrive."""
        self._meet(
            "barrier", lambda: self._inner.monitored_barrier(timeout or self.timeout, wait_all_ranks), "monitored"
        ).wait()

    # The names before PyTorch 2.13.
    _allgather_base = all_gather_single  # type: ignore[assignment]
    allgather_into_tensor_coalesced = all_gather_single_coalesced  # type: ignore[assignment]
    _reduce_scatter_base = reduce_scatter_single  # type: ignore[assignment]
    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced  # type: ignore[assignment]
    alltoall_base = all_to_all_single  # type: ignore[assignment]


def _create(group: Any, options: Any) -> ProcessGroupMscclc:
    return ProcessGroupMscclc(
        group.store, group.group_rank, group.group_size, group.timeout, options, group.global_ranks_in_group
    )


def install() -> None:
    """Makes the backend known to torch.distributed. A second call does nothing."""
    if not hasattr(dist.Backend, "MSCCLC"):
        dist.Backend.register_backend("mscclc", _create, extended_api=True, devices=["cpu", "cuda"])

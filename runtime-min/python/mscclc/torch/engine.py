"""The kernels of a group. This module chooses the kernel of a call, and the memory that it works on.

Tensors are copied into memory that all ranks reach, and the result is copied back. That is right for any tensor. The
choice depends only on values that all ranks share: collective, element type, operation, root and sizes. So all ranks
make the same choice. The first collective of a group checks that all have registered the same kernels."""

from __future__ import annotations

import ctypes
import hashlib
import logging
import math
import pickle
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Callable, Sequence

import torch

from .. import abi
from .. import selector as selectors
from ..buffer import Buffer
from ..communicator import Communicator
from ..errors import CallError, Error, NoKernelError
from ..kernels import Kernel
from ..query import Query
from ..selector import Selector
from . import checks

log = logging.getLogger("mscclc.torch")

#: The names of types of elements.
DTYPES = {getattr(torch, name): name for name in abi.DTYPES}
FLOATS_OF_8_BITS = (torch.float8_e4m3fn, torch.float8_e5m2)
ALIGNMENT = 16  # bytes; tensors and pieces begin at multiples of it, so that they are moved 16 bytes at a time

#: Exchanges bytes between ranks: takes those of this rank, and returns those of every rank.
Exchange = Callable[[bytes], Sequence[bytes]]


def scale(tensor: torch.Tensor, factor: "float | torch.Tensor") -> None:
    """Multiplies in place. Torch does not compute with 8-bit floats, so these are converted to float32 and rounded
    once."""
    if tensor.dtype not in FLOATS_OF_8_BITS:
        tensor.mul_(factor)
        return
    tensor.copy_(tensor.float().mul_(factor.float() if isinstance(factor, torch.Tensor) else factor))


def has_order(op: str | None, tensors: Sequence[torch.Tensor]) -> bool:
    """True if the bits of the tensors' sums, or products, depend on their order. `op` is the kernels' name; None: an
    operation that kernels do not have. These are of bits."""
    return op in ("sum", "prod") and any(tensor.is_floating_point() or tensor.is_complex() for tensor in tensors)


def rounded(size: int, unit: int = ALIGNMENT) -> int:
    """Returns the next multiple of `unit`."""
    return (size + unit - 1) // unit * unit


@dataclass(frozen=True)
class Choice:
    """A kernel for a call, with the sizes of a message and of a piece, in bytes."""

    kernel: Kernel
    dtype: str
    op: str
    message: int
    piece: int
    #: The bytes of a row, if the kernel takes rows; else 0.
    row: int = 0
    #: The rows that input and output have room for, if rows are packed; 0: those of all slots.
    rooms: tuple[int, int] = (0, 0)

    @property
    def row_to_load(self) -> int:
        """The bytes of the longest row that the kernel has to be loaded for. Chunks are multiples of 16 bytes."""
        return math.lcm(self.row, ALIGNMENT) if self.row else 0


@dataclass
class Job:
    """A collective on tensors. `inputs` and `outputs` are lists of pieces: one piece, or one for each rank. A piece
    is a list of consecutive tensors. A rank without input or output has no pieces. `piece_tensors`: the tensors of a
    piece of this call, or tensors of the same types and sizes."""

    collective: str
    inputs: list[list[torch.Tensor]]
    outputs: list[list[torch.Tensor]]
    piece_tensors: list[torch.Tensor]
    op: str = "sum"
    root: int = 0
    #: The size of a piece in bytes, if pieces differ and all ranks know the largest; else the size of `piece_tensors`.
    piece_bytes: int | None = None
    #: The factor of the inputs: a number, or a tensor with one number.
    factor: "float | torch.Tensor | None" = None
    #: Memory of `symmetric`. On all ranks it holds the only input and output, so nothing is copied.
    region: "_Region | None" = None
    #: Other memory of it, which holds the output.
    out_region: "_Region | None" = None
    reduces: bool = False
    #: The bytes of a row, if the kernel takes rows; then a message is the rows of the input alone, without padding.
    row: int = 0
    #: Counts of rows by name (MscclcCounts), int64, of this rank and on its device; those that the kernel takes.
    counts: "dict[str, torch.Tensor]" = field(default_factory=dict)
    #: Fields of MscclcIndex by name: tensors of this rank on its device, or numbers. Then the kernel itself copies the
    #: input and the output.
    index: "dict[str, torch.Tensor | int]" = field(default_factory=dict)
    #: Its payloads: where rows come from, where they go to, and the bytes of a row.
    payloads: "list[tuple[torch.Tensor, torch.Tensor, int]]" = field(default_factory=list)
    #: The caller receives later (Engine.receive). So a split kernel only sends, and sets `has_sent`.
    in_parts: bool = False
    has_sent: bool = False
    #: As in Choice.
    rooms: tuple[int, int] = (0, 0)
    #: The hook's arrays by name: contiguous tensors of this rank, on its device.
    arrays: "dict[str, torch.Tensor]" = field(default_factory=dict)

    @property
    def has_order(self) -> bool:
        """True if the bits of the result depend on the order of its sums."""
        return self.reduces and not self.index and has_order(self.op, self.piece_tensors)

    def size(self) -> int:
        return (
            self.piece_bytes
            if self.piece_bytes is not None
            else sum(rounded(tensor.nbytes) for tensor in self.piece_tensors)
        )


class _Region:
    """Memory of the communicator, as a tensor of this rank's bytes."""

    def __init__(self, buffer: Buffer, rank: int, on_host: bool):
        self.buffer = buffer
        if on_host:
            memory = (ctypes.c_uint8 * buffer.bytes).from_address(buffer.address(rank))
            self.bytes = torch.frombuffer(memory, dtype=torch.uint8)
        else:
            self.__cuda_array_interface__ = {
                "shape": (buffer.bytes,),
                "typestr": "|u1",
                "version": 3,
                "data": (buffer.address(rank), False),
            }
            self.bytes = torch.as_tensor(self, device="cuda")

    def views(self, start: int, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Returns the tensors of a piece as views of the memory. The piece begins at byte `start`."""
        found = []
        for tensor in tensors:
            found.append(self.bytes[start : start + tensor.nbytes].view(tensor.dtype).view(tensor.shape))
            start += rounded(tensor.nbytes)
        return found


class Engine:
    """The kernels of one group, on the host or on CUDA. Its calls are collective."""

    def __init__(
        self,
        rank: int,
        size: int,
        on_host: bool,
        exchange: Exchange,
        timeout: float,
        invariant: "bool | str" = False,
        pdl: bool = False,
    ):
        self.rank, self.size, self.on_host, self.timeout, self.invariant = rank, size, on_host, timeout, invariant
        self.pdl = pdl
        self._exchange = exchange
        self._kernels: Selector | None = None
        self._kernels_of_one_order = Selector()
        self._communicator: Communicator | None = None
        self._ledger: checks.Ledger | None = None
        self._due: "tuple[Job, Callable[[int | None, str], None]] | None" = None  # what receive() has to do
        self._regions: list[_Region] = []
        self._symmetric: dict[int, _Region] = {}  # by address
        self._said: set[object] = set()
        #: The reason why no kernel runs; None if kernels run.
        self.disabled: str | None = None
        #: The number of calls that each kernel has run, by its name.
        self.launches: dict[str, int] = {}
        #: The number of these calls that worked directly on the tensor.
        self.direct = 0

    def refresh(self) -> None:
        """Reads the registered kernels again at the next collective."""
        self._kernels = None
        self.disabled = None

    # ---------------------------------------------------------------------------------------------------- selection

    def begin(self) -> None:
        """Agrees on the kernels and lets the ranks meet, at the first call."""
        if self._kernels is None:
            self._kernels = self._agree_on_kernels("")

    def choose(self, job: Job, what: str = "") -> Choice | None:
        """Returns the kernel for a call; None if there is none, which is so on all ranks. `what` describes the call,
        and is the same on all ranks. If the ranks exchange data, they compare it, and raise RuntimeError if it
        differs."""
        if self._kernels is None:
            self._kernels = self._agree_on_kernels(what)
        if self.disabled is not None or self._reason_against(job):
            return None
        kernels = self._kernels_of_one_order if self.invariant and job.has_order else self._kernels
        dtype = DTYPES[job.piece_tensors[0].dtype] if job.reduces else "uint8"
        element = job.piece_tensors[0].element_size() if job.reduces else 1
        types = {tensor.dtype for tensor in job.piece_tensors}
        elements = DTYPES.get(types.pop(), "") if len(types) == 1 else ""
        shares = [
            entry.kernel.message_shares
            for entry in kernels.entries
            if entry.kernel.collective == job.collective and entry.kernel.ranks == self.size
        ]
        if not shares:
            return None
        # A message is a piece for each rank, or a single piece.
        pieces = shares[0]
        # The size is rounded up to a multiple of every kernel's shares. The added bytes belong to no result. A hook
        # would take them for rows.
        unit = math.lcm(*shares, pieces * ALIGNMENT) * element
        message = job.size() if job.row else rounded(pieces * job.size(), unit)
        for in_place in (True, False):
            query = Query(job.collective, self.size, dtype, job.op, in_place, message, job.root, elements=elements)
            try:
                kernel = kernels.select(query)
            except NoKernelError as error:
                self._say((query, in_place), "no kernel: %s", error)
                continue
            if job.row and message % (kernel.message_shares * job.row) != 0:
                text = "no kernel: %s has shares that cut rows of %d bytes"
                self._say((query, in_place, job.row), text, kernel.name, job.row)
                continue
            row = job.row
            if kernel.is_once_per_rank:  # a row brings the list of its places
                row = rounded(row + 4 * int(job.index["choices"]))
                message = message // job.row * row
                if message > kernel.max_bytes:
                    self._say((query, kernel.name, row), "no kernel: rows with lists are too long for %s", kernel.name)
                    return None
            self._say(
                (query, kernel.name), "%s of %d bytes of %s: kernel %s", job.collective, message, dtype, kernel.name
            )
            return Choice(kernel, dtype, job.op, message, message // pieces, row, job.rooms)
        return None

    def _reason_against(self, job: Job) -> bool:
        first = job.piece_tensors[0] if job.piece_tensors else None
        # The layout is checked first, because sparse tensors have no size in bytes.
        if first is None or any(tensor.layout != torch.strided for tensor in job.piece_tensors) or job.size() == 0:
            return True
        return job.reduces and any(
            tensor.dtype not in DTYPES or tensor.dtype != first.dtype for tensor in job.piece_tensors
        )

    def _agree_on_kernels(self, what: str) -> Selector:
        """Returns the registered kernels if all ranks have the same; otherwise an empty selector."""
        kernels, reason = Selector(), ""
        try:
            if selectors.default.entries:
                kernels = selectors.default.copy("host" if self.on_host else "cuda")
        except Error as error:
            reason = f"rank {self.rank}: {error}"
        seen = [
            (
                entry.kernel.name,
                entry.kernel.library.name,
                entry.tags,
                entry.min_bytes,
                entry.max_bytes,
                entry.priority,
                entry.types,
                entry.kernel.sums,
            )
            for entry in kernels.entries
        ]
        self._kernels_of_one_order = kernels.in_one_order()
        print_ = hashlib.sha256(repr((seen, self.invariant)).encode()).hexdigest()
        if self._agree(reason, print_, what) and kernels.entries:
            self._start()
        return kernels

    def _agree(self, reason: str, same: str = "", what: str = "") -> bool:
        """True if all ranks succeeded. Otherwise no kernel runs in this group any more, and the log has the reason.
        Raises RuntimeError if the ranks do not make the same call."""
        answers = [pickle.loads(answer) for answer in self._exchange(pickle.dumps((reason, same, what)))]
        checks.compare(self.rank, [call for _, _, call in answers])
        found = next((why for why, _, _ in answers if why), "")
        if not found and any(theirs != same for _, theirs, _ in answers):
            found = "the ranks have registered different kernels"
        if found and self.disabled is None:
            self.disabled = found
            log.warning("mscclc: rank %d: kernels are not used in this group: %s", self.rank, found)
        return not found

    def _start(self) -> None:
        if self._communicator is not None:
            return
        reason = ""
        try:
            devices = None if self.on_host else [torch.cuda.current_device()]
            self._communicator = Communicator(
                self.size,
                first_local_rank=self.rank,
                local_ranks=1,
                devices=devices,
                allgather=self._exchange,
                platform="host" if self.on_host else "cuda",
                setup_timeout=self.timeout,
                wait_timeout=self.timeout,
            )
        except Error as error:
            reason = f"rank {self.rank}: {error}"
        try:
            self._ledger = checks.Ledger(self.rank, self.size, self._exchange)
        except OSError as error:
            log.info("mscclc: rank %d: its calls are not compared with those of other ranks: %s", self.rank, error)
        self._agree(reason)

    def check_order(self, name: str, tensors: Sequence[torch.Tensor]) -> None:
        """Checks a call that the backend behind runs and whose result depends on the order of sums. If the group is
        invariant, warns once for each kind of call. If it is strictly so, raises RuntimeError. All ranks do the same.
        `tensors` are the results of call `name`."""
        if not self.invariant or self.size == 1:
            return
        what = ", ".join(f"{tensor.dtype} {list(tensor.shape)}" for tensor in tensors)
        text = f"{name} of {what}: no kernel of one order fits it"
        if self.invariant == "strict":
            raise RuntimeError(f"mscclc: {text}, and the group is strictly invariant")
        if text not in self._said:
            self._said.add(text)
            log.warning("mscclc: rank %d: %s; the backend behind adds in an order of its own", self.rank, text)

    def _say(self, key: object, text: str, *values: object) -> None:
        if key not in self._said:
            self._said.add(key)
            log.info("mscclc: rank %d: " + text, self.rank, *values)

    # ---------------------------------------------------------------------------------------------------- execution

    def prepare(self, choice: Choice, what: str = "") -> bool:
        """Makes the memory for a call, and loads the kernel. Memory that is too small is made again. Returns False if
        a rank failed; then no kernel runs any more."""
        kernel, communicator = choice.kernel, self._communicator
        assert communicator is not None
        # An allocation is collective, with the same size on all ranks. But the sizes of a kernel's input and output
        # differ by rank.
        sizes = [
            max(size(rank, choice.message) for rank in range(self.size))
            for size in (kernel.input_bytes, kernel.output_bytes)
        ]
        sizes = [min(size, room * choice.row or size) for size, room in zip(sizes, choice.rooms)]
        if kernel.in_place:
            sizes = [max(sizes)]
        grows = [size for size, region in zip(sizes, self._regions) if region.buffer.bytes < size]
        if len(self._regions) >= len(sizes) and not grows and communicator.holds(
            kernel, choice.message, choice.row_to_load
        ):
            return True
        reason = ""
        try:
            for index, size in enumerate(sizes):
                have = self._regions[index].buffer.bytes if index < len(self._regions) else 0
                if have < size:
                    region = self._new_region(communicator, size)
                    old = self._regions[index : index + 1]
                    self._regions[index : index + 1] = [region]
                    for one in old:
                        try:
                            one.buffer.release()
                        except CallError as error:
                            if error.name != "MSCCLC_ERROR_IN_GRAPH":  # a graph keeps it, in all processes alike
                                raise
            most = min(kernel.max_bytes, 1 << (choice.message - 1).bit_length())
            communicator.prepare(kernel, most, choice.row_to_load)
        except CallError as error:
            reason = f"rank {self.rank}: {error}"
        return self._agree(reason, what=what)

    def _new_region(self, communicator: Communicator, size: int) -> _Region:
        """Allocates memory of at least `size` bytes on all ranks. Collective."""
        return _Region(communicator.allocate(1 << (max(size, 4096) - 1).bit_length()), self.rank, self.on_host)

    def symmetric(self, size: int) -> torch.Tensor:
        """Returns memory of `size` bytes that all ranks reach, the same size on each, until `close`. Raises
        RuntimeError."""
        self.begin()
        if self._communicator is None or self.disabled is not None:
            why = self.disabled or "no kernel is registered"
            raise RuntimeError(f"mscclc: there is no memory that all ranks reach: {why}")
        region = self._new_region(self._communicator, size)
        self._symmetric[region.bytes.data_ptr()] = region
        return region.bytes[:size]

    def find_region(self, tensor: torch.Tensor) -> "tuple[int, _Region | None]":
        """Returns the memory of `symmetric` that begins with a tensor, with its number, which is the same on all ranks;
        -1 and None if there is none."""
        region = self._symmetric.get(tensor.data_ptr()) if tensor.is_contiguous() else None
        return (-1, None) if region is None else (list(self._symmetric.values()).index(region), region)

    def region_of(self, tensor: torch.Tensor) -> _Region:
        """Does the same without the number. Raises ValueError."""
        _, region = self.find_region(tensor)
        if region is None:
            raise ValueError("the tensor is none of symmetric_empty of this group, from its beginning")
        return region

    def note(self, number: int, what: str) -> None:
        """Shows the other ranks a call for which `choose` will be called. `number` is the same on all ranks."""
        if self._ledger is not None:
            self._ledger.write(number, what)

    def compare(self) -> None:
        """Compares the calls so far with those that other ranks have shown by `note`. Raises MismatchError."""
        if self._ledger is not None:
            self._ledger.compare()

    def run(self, choice: Choice, job: Job, stream: int | None = None) -> None:
        """Copies the input, launches, and copies the output, after `prepare`. On the host it waits for the launch. On
        CUDA everything is queued on the stream, which is the current one. With `in_parts`, a split kernel only sends."""
        given, made = self._regions[0], self._regions[0 if choice.kernel.in_place else 1]
        # The kernel and the sizes are the same on all ranks, and so is this choice.
        direct = job.region is not None and choice.kernel.in_place and job.region.buffer.bytes >= choice.message
        if direct:
            assert job.region is not None
            given = made = job.region
        if job.counts and job.region is not None and job.out_region is not None:
            direct = True
            given, made = job.region, job.out_region
        direct = direct or bool(job.index)
        part = "send" if job.in_parts and choice.kernel.is_split else ""
        input_step, output_step = choice.kernel.steps(choice.message)
        with torch.no_grad():
            for index, piece in enumerate([] if direct else job.inputs):
                start = self.rank * input_step + index * choice.piece
                for view, tensor in zip(given.views(start, piece), piece):
                    view.copy_(tensor)
                    if job.factor is not None:
                        scale(view, job.factor)
            # The kernel leaves what lies behind live rows as it is.
            for piece in job.outputs if job.counts and not direct else []:
                for view, tensor in zip(made.views(0, piece), piece):
                    view.copy_(tensor)
            self._launch(choice, job, given, made, stream, part)
            for index, piece in enumerate([] if direct else job.outputs):
                start = self.rank * output_step + index * choice.piece
                for view, tensor in zip(made.views(start, piece), piece):
                    tensor.copy_(view)
        self.direct += int(direct)
        self.launches[choice.kernel.name] = self.launches.get(choice.kernel.name, 0) + 1
        if part:
            job.has_sent = True
            self._due = job, partial(self._launch, choice, job, given, made)

    def receive(self, stream: int | None, of: "Job | None" = None) -> None:
        """Receives what a job with `in_parts` has sent, if that is still due. Every later call on these ranks does so
        first, because jobs share memory. `of`: only if that is the job."""
        if self._due is not None and (of is None or self._due[0] is of):
            (_, launch), self._due = self._due, None
            launch(stream, "receive")

    def _launch(
        self, choice: Choice, job: Job, given: "_Region", made: "_Region", stream: int | None, part: str
    ) -> None:
        """Starts the kernel, or one of its parts. On the host it waits for that."""
        communicator = self._communicator
        assert communicator is not None
        communicator.launch(
            choice.kernel,
            given.buffer,
            None if made is given else made.buffer,
            message_bytes=choice.message,
            dtype=choice.dtype,
            op=choice.op,
            streams=None if stream is None else [stream],
            threads=1 if self.on_host and choice.message < 1 << 16 else 0,
            pdl=self.pdl,
            row_bytes=choice.row,
            hook_arrays={name: [array.data_ptr()] for name, array in job.arrays.items()},
            counts={name: [array.data_ptr()] for name, array in job.counts.items()} if job.counts else None,
            in_rows=choice.rooms[0],
            out_rows=choice.rooms[1],
            index=self._index_of(job),
            part=part,
        )
        if stream is None:
            communicator.synchronize()

    @staticmethod
    def _index_of(job: Job) -> "dict[str, list[Any]] | None":
        """Returns the index of a job as Communicator.launch takes it."""
        if not job.index:
            return None
        payloads = tuple((given.data_ptr(), made.data_ptr(), size) for given, made, size in job.payloads)
        fields = {name: [value if isinstance(value, int) else value.data_ptr()] for name, value in job.index.items()}
        return {"payloads": [payloads], **fields}

    def abort(self, reason: str) -> None:
        if self._communicator is not None:
            self._communicator.abort(reason)

    def failure(self) -> str:
        """Why its kernels failed; empty if they have not."""
        return "" if self._communicator is None else self._communicator.failure

    def close(self) -> None:
        """Closes the communicator, which is collective. If the communicator failed, it is left open until the process
        ends."""
        communicator, self._communicator = self._communicator, None
        self._regions, self._symmetric, self._ledger, self._due = [], {}, None, None
        if communicator is not None:
            try:
                communicator.close()
            except CallError as error:
                log.info("mscclc: rank %d: %s", self.rank, error)

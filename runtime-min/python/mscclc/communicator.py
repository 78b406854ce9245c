"""Communicators of the runtime: ranks, and launches of kernels."""

from __future__ import annotations

import ctypes
import math
import threading
import warnings
from types import TracebackType
from typing import Any, Callable, Mapping, Sequence

from . import abi, devices, selector
from .arrays import Memory, memory_of
from .buffer import Buffer
from .errors import CallError
from .kernels import Kernel
from .query import Query, code_of


def _milliseconds(seconds: float | None) -> int:
    return 0 if seconds is None else max(1, int(seconds * 1000))


#: Exchanges bytes between processes: takes those of this process, and returns those of all, in the order of the
#: processes. All have the same length.
Allgather = Callable[[bytes], Sequence[bytes]]


class _Meeting:
    """The caller's exchange in the form that the runtime calls. `raised` is the exception that the exchange raised."""

    def __init__(self, exchange: Allgather, process: int, processes: int):
        self.exchange, self.process, self.processes = exchange, process, processes
        self.raised: BaseException | None = None

    def __call__(self, _context: int | None, address: int, each: int) -> int:
        try:
            own = ctypes.string_at(address + self.process * each, each)
            all_bytes = b"".join(self.exchange(own))
            if len(all_bytes) != each * self.processes:
                raise ValueError(
                    f"the allgather gives {len(all_bytes)} bytes for {each} of each of {self.processes} processes"
                )
            ctypes.memmove(address, all_bytes, len(all_bytes))
            return 0
        except BaseException as error:  # an exception cannot pass through the runtime: Communicator raises it
            self.raised = error
            return 1


class Communicator:
    """Ranks that launch kernels together, in one process or several.

    ranks              how many there are
    first_local_rank   the ranks of this process: `local_ranks` from this one on; all by default
    devices            the device of each local rank
    platform           "cuda", "host" (CPU stand-in) or "auto": CUDA where a device is there
    rendezvous         where several processes meet: the path of a Unix socket, or "@name" in the abstract namespace
    allgather          an exchange of your own by which several processes of one machine meet instead; each process has
                       as many local ranks
    nccl, nccl_library see from_nccl, which is the way to give them
    setup_timeout      seconds that a process waits for the others in a collective call; 60 by default
    wait_timeout       seconds that a wait in a kernel may take; for ever by default (10 in debug builds)
    report_after       seconds after which a wait that goes on is reported on stderr, again and again; 30 by default
    unchained          whether launches of different kernels may run side by side, where ranks have devices of their
                       own; see MscclcCommunicatorOptions of runtime.h for when they deadlock

    Calls that are marked collective are made by every process of the communicator, in the same order. Failures are
    CallError with the reason. Close it, or use it in a `with` statement; both are collective."""

    def __init__(
        self,
        ranks: int,
        *,
        first_local_rank: int = 0,
        local_ranks: int | None = None,
        devices: Sequence[int] | None = None,
        platform: str = "auto",
        rendezvous: str | None = None,
        allgather: Allgather | None = None,
        nccl: Sequence[int] | None = None,
        nccl_library: int = 0,
        setup_timeout: float | None = None,
        wait_timeout: float | None = None,
        report_after: float | None = None,
        unchained: bool = False,
    ):
        self._handle: ctypes.c_void_p | None = None
        #: Held during calls of the runtime, because only one thread at a time may use a communicator.
        self.lock = threading.RLock()
        #: The memory of adopted arrays, by the handle of their buffer. It stays alive until the buffer is released or
        #: the communicator is closed, even if nothing refers to the Buffer any more.
        self.adopted: dict[int | None, list[Memory]] = {}
        self._instances: dict[int, tuple[ctypes.c_void_p, int, int]] = {}
        runtime, options = abi.runtime(), abi.CommunicatorOptions()
        runtime.mscclc_communicator_options_init(ctypes.byref(options))
        if ranks < 1:
            raise ValueError(f"ranks must be at least 1, not {ranks}")
        if first_local_rank < 0 or (local_ranks is not None and local_ranks < 1):
            local = "all" if local_ranks is None else local_ranks
            raise ValueError(f"{ranks} ranks, of these {local} here from rank {first_local_rank} on")
        options.ranks = ranks
        options.first_local_rank = first_local_rank
        options.local_ranks = local_ranks or 0
        count = local_ranks or ranks
        if devices is not None:
            if len(devices) != count:
                raise ValueError(f"{len(devices)} devices for {count} local ranks")
            options.devices = (ctypes.c_int32 * count)(*devices)
        options.platform = code_of(abi.PLATFORMS, "platform", platform)
        options.rendezvous = rendezvous.encode() if rendezvous else None
        options.setup_timeout_ms = _milliseconds(setup_timeout)
        options.wait_timeout_ms = _milliseconds(wait_timeout)
        options.report_after_ms = _milliseconds(report_after)
        options.unchained = unchained
        meeting = None
        if allgather is not None:
            if ranks % count != 0 or first_local_rank % count != 0:
                raise ValueError(
                    f"{count} of {ranks} ranks from rank {first_local_rank} on: with an allgather each process "
                    "has as many ranks"
                )
            meeting = _Meeting(allgather, first_local_rank // count, ranks // count)
            options.allgather = abi.AllgatherFunction(meeting)
        if nccl is not None:
            options.nccl = (ctypes.c_void_p * count)(*nccl)
            options.nccl_library = nccl_library
        handle = ctypes.c_void_p()
        try:
            runtime.mscclc_communicator_create(ctypes.byref(options), ctypes.byref(handle))
        except CallError as error:
            raise error from meeting.raised if meeting else None
        self._handle = handle
        self.ranks: int = runtime.mscclc_communicator_ranks(handle)
        first_local_rank = runtime.mscclc_communicator_first_local_rank(handle)
        self.local_ranks = range(first_local_rank, first_local_rank + count)
        self._by_nccl = nccl is not None
        self.on_host: bool = runtime.mscclc_communicator_platform(handle) == abi.PLATFORMS["host"]

    @classmethod
    def from_torch(cls, group: Any = None, **options: Any) -> "Communicator":
        """Makes a communicator of the ranks of a torch.distributed group (default: the world), one rank in each
        process. `options` are the other arguments of Communicator. On CUDA it uses the current device. Collective."""
        import torch
        import torch.distributed as dist

        size, rank = dist.get_world_size(group), dist.get_rank(group)

        def exchange(own: bytes) -> list[bytes]:
            found: list[Any] = [None] * size
            dist.all_gather_object(found, own, group=group)
            return found

        if torch.cuda.is_available() and options.get("platform") != "host":
            options.setdefault("devices", [torch.cuda.current_device()])
        return cls(size, first_local_rank=rank, local_ranks=1, allgather=exchange, **options)

    @classmethod
    def from_nccl(cls, comms: Sequence[int], *, library: int = 0, **options: Any) -> "Communicator":
        """Makes a communicator on NCCL's communicators, which must live longer. `comms` has the ncclComm_t of each
        local rank, as a number. Their ranks are consecutive. Processes meet and share memory by NCCL, 2.28.9 or
        newer. `library` is a handle of dlopen for that NCCL; by default the NCCL that is loaded. `options` are the
        platform, the timeouts and `unchained` of Communicator. Collective."""
        if len(comms) == 0 or not all(comms):
            raise ValueError(f"{len(comms)} communicators of NCCL, of these {sum(not one for one in comms)} null")
        return cls(len(comms), local_ranks=len(comms), nccl=comms, nccl_library=library, **options)

    @property
    def closed(self) -> bool:
        return self._handle is None

    @property
    def handle(self) -> ctypes.c_void_p:
        """Returns the MscclcCommunicator *."""
        if self._handle is None:
            raise ValueError("the communicator is closed")
        return self._handle

    # ------------------------------------------------------------------------------------------------------- memory

    def allocate(self, bytes: int) -> Buffer:
        """Allocates memory on every rank, filled with zeros. Collective."""
        made = ctypes.c_void_p()
        with self.lock:
            abi.runtime().mscclc_buffer_allocate(self.handle, bytes, ctypes.byref(made))
        return Buffer(self, made, bytes)

    def adopt(self, arrays: Sequence[Any]) -> Buffer:
        """Makes a buffer of arrays, one for each local rank, of the same size and element type. They stay alive until
        the buffer is released or the communicator is closed. Host arrays can be adopted only if all ranks are in one
        process. Collective."""
        memories = self._memories(arrays)
        pointers = (ctypes.c_void_p * len(memories))(*[memory.address for memory in memories])
        made = ctypes.c_void_p()
        with self.lock:
            abi.runtime().mscclc_buffer_register(self.handle, pointers, memories[0].bytes, ctypes.byref(made))
            self.adopted[made.value] = memories
        return Buffer(self, made, memories[0].bytes, memories[0].dtype)

    def _memories(self, arrays: Sequence[Any]) -> list[Memory]:
        if isinstance(arrays, (str, bytes)) or not hasattr(arrays, "__len__") or len(arrays) != len(self.local_ranks):
            raise ValueError(
                f"{len(self.local_ranks)} arrays are needed, one for each local rank; "
                f"{len(arrays) if hasattr(arrays, '__len__') else type(arrays).__name__} given"
            )
        memories = [memory_of(array) for array in arrays]
        for rank, memory in zip(self.local_ranks, memories):
            if memory.bytes != memories[0].bytes or memory.dtype != memories[0].dtype:
                raise ValueError(
                    f"rank {rank} has {memory.bytes} bytes of {memory.dtype}, rank {self.local_ranks[0]} "
                    f"{memories[0].bytes} of {memories[0].dtype}; all are to be the same"
                )
            if memory.on_host != self.on_host:
                raise ValueError(
                    f"the array of rank {rank} is {'in host memory' if memory.on_host else 'on a device'}, "
                    f"the communicator is on {'the host' if self.on_host else 'CUDA devices'}"
                )
        return memories

    # ----------------------------------------------------------------------------------------------------- launches

    def holds(self, kernel: Kernel, max_bytes: int, max_row_bytes: int = 0) -> bool:
        """True if the kernel is loaded for messages of `max_bytes` bytes, and rows of `max_row_bytes`."""
        known = self._instances.get(ctypes.addressof(kernel.pointer.contents))
        return known is not None and known[1] >= max_bytes and known[2] >= max_row_bytes

    def prepare(self, kernel: Kernel, max_bytes: int, max_row_bytes: int = 0) -> ctypes.c_void_p:
        """Loads a kernel for messages of up to `max_bytes` bytes, and rows of up to `max_row_bytes`, if a hook of it
        takes rows. `launch` calls it; an earlier call announces the largest message. Collective, unless the kernel is
        already loaded for this size."""
        key = ctypes.addressof(kernel.pointer.contents)
        with self.lock:
            known = self._instances.get(key)
            if known and known[1] >= max_bytes and known[2] >= max_row_bytes:
                return known[0]
            if known:
                max_bytes, max_row_bytes = max(max_bytes, known[1]), max(max_row_bytes, known[2])
            if kernel.ranks != self.ranks:
                raise ValueError(f"{kernel} in a communicator of {self.ranks} ranks")
            if known:
                del self._instances[key]
                try:
                    abi.runtime().mscclc_instance_destroy(known[0])
                except CallError as error:
                    if error.name != "MSCCLC_ERROR_IN_GRAPH":  # a graph keeps it until close()
                        raise
            made = ctypes.c_void_p()
            abi.runtime().mscclc_instance_create_for_rows(
                self.handle, kernel.pointer, max_bytes, max_row_bytes, ctypes.byref(made)
            )
            self._instances[key] = (made, max_bytes, max_row_bytes)
            return made

    def launch(
        self,
        kernel: Kernel,
        input: Buffer,
        output: Buffer | None = None,
        *,
        message_bytes: int,
        dtype: str,
        op: str = "sum",
        input_offset: int = 0,
        output_offset: int | None = None,
        streams: Sequence[int] | None = None,
        threads: int = 0,
        source: Sequence[int] | None = None,
        pdl: bool = False,
        row_bytes: int = 0,
        hook_arrays: Mapping[str, Sequence[int]] | None = None,
        counts: Mapping[str, Sequence[int]] | None = None,
        count_bytes: int = 8,
        in_rows: int = 0,
        out_rows: int = 0,
        index: Mapping[str, Sequence[Any]] | None = None,
        part: str = "",
    ) -> None:
        """Starts the kernel on all local ranks, asynchronously; `synchronize` waits.

        Without `output` the kernel works in place. `message_bytes`: the output of an allgather, the input of any other
        collective. `streams`: one for each local rank, as numbers; by default the communicator's own. A larger message
        than before is collective, as `prepare` is.

        The average of floats ("avg") is a sum of what is divided before, in the input buffer; that of integers is
        divided afterwards, towards zero. `source`: addresses, one for each local rank, from which the kernel copies the
        input to its buffer first; by default it lies there already.

        `pdl`: programmatic dependent launch. The kernel may begin before the earlier kernel of its stream has ended, and
        waits for that end before it accesses memory. Ranks that share a device, devices below sm_90 and the host launch
        without.

        A kernel with a hook takes `row_bytes`, the length of a row, if it takes rows, and `hook_arrays`: for each array
        the addresses on the local ranks.

        A kernel that takes counts of rows (MscclcCounts) takes `row_bytes`, and `counts`: the addresses of "sent", and of
        "received", "sent_offsets", "received_offsets" and "status" if wanted, on the local ranks, in their memory. A
        number has `count_bytes` bytes, 4 or 8, one of "status" always 4. `in_rows` and `out_rows`: as there.

        A kernel that takes an index of experts (MscclcIndex) takes `row_bytes`, and `index`: for each field there, its
        value on each local rank; for "payloads", tuples of from, to and bytes. Addresses are of the rank's memory. Those
        that are not wanted may be left out.

        A launch of a split kernel (Kernel.is_split) is two kernels. `part` "send" starts the one that sends, which waits
        for no other rank, and "receive" the one that receives: the next launch of the kernel, with the same arguments."""
        call = abi.Call()
        abi.runtime().mscclc_call_init(ctypes.byref(call))
        call.dtype = code_of(abi.DTYPES, "element type", dtype)
        call.reduce_op = selector.reduce_op(op)
        call.input, call.output = input.handle, (output or input).handle
        call.input_offset = input_offset
        call.output_offset = input_offset if output_offset is None and output is None else output_offset or 0
        call.message_bytes, call.threads, call.pdl = message_bytes, threads, pdl
        call.part = code_of(abi.PARTS, "part of a launch", part)
        if streams is not None:
            call.streams = self._for_each_rank("streams", streams)
        if op == "avg" or source is not None:
            call.staging = self._staging(kernel, call, input, output or input, source, op == "avg")
        call.row_bytes = row_bytes
        if hook_arrays:
            arrays = (
                abi.CallArray(name.encode(), self._for_each_rank(f"arrays {name!r}", addresses))
                for name, addresses in hook_arrays.items()
            )
            call.arrays = (abi.CallArray * len(hook_arrays))(*arrays)
            call.num_arrays = len(hook_arrays)
        if counts is not None:
            call.counts = self._counts(counts, count_bytes, in_rows, out_rows)
        if index is not None:
            call.index = (abi.Index * len(self.local_ranks))()
            for name, values in index.items():
                for one, value in zip(call.index, values):
                    setattr(one, name, value)
        with self.lock:
            instance = self.prepare(kernel, message_bytes, math.lcm(row_bytes, 16) if row_bytes else 0)
            abi.runtime().mscclc_launch(instance, ctypes.byref(call))

    def _for_each_rank(self, what: str, values: Sequence[int]) -> "ctypes.Array[ctypes.c_void_p]":
        """Returns streams or addresses, one for each local rank, as the runtime takes them. Raises ValueError."""
        if len(values) != len(self.local_ranks):
            raise ValueError(f"{len(values)} {what} for {len(self.local_ranks)} local ranks")
        return (ctypes.c_void_p * len(values))(*values)

    def _counts(
        self, counts: Mapping[str, Sequence[int]], count_bytes: int, in_rows: int, out_rows: int
    ) -> "ctypes.Array[abi.Counts]":
        given = (abi.Counts * len(self.local_ranks))()
        for one in given:
            one.width, one.in_rows, one.out_rows = count_bytes, in_rows, out_rows
        for name, addresses in counts.items():
            if name not in ("sent", "received", "sent_offsets", "received_offsets", "status"):
                raise ValueError(f"there are no counts {name!r}")
            for one, address in zip(given, self._for_each_rank(f"arrays {name!r}", addresses)):
                setattr(one, name, address)
        return given

    def _staging(
        self,
        kernel: Kernel,
        call: abi.Call,
        input: Buffer,
        output: Buffer,
        source: Sequence[int] | None,
        averages: bool,
    ) -> "ctypes.Array[abi.Staging]":
        """Returns the kernel's own copies: the input from `source`, or the input in place if it has to be scaled."""
        staging = (abi.Staging * len(self.local_ranks))()
        input_step, output_step = kernel.steps(call.message_bytes)
        for index, rank in enumerate(self.local_ranks):
            one = staging[index]
            one.input_bytes = kernel.input_bytes(rank, call.message_bytes)
            one.output_bytes = kernel.output_bytes(rank, call.message_bytes)
            here = input.address(rank) + call.input_offset + rank * input_step
            one.input = source[index] if source is not None else here
            one.output = output.address(rank) + call.output_offset + rank * output_step
            one.scaling = abi.SCALINGS["average" if averages else "none"]
        return staging

    def run(
        self,
        kernel: "Kernel | str",
        input: Sequence[Any],
        output: Sequence[Any] | None = None,
        *,
        op: str = "sum",
        root: int = 0,
        tags: Sequence[str] = (),
        row: int = 0,
        hook_arrays: Mapping[str, Sequence[Any]] | None = None,
        counts: Mapping[str, Sequence[Any]] | None = None,
    ) -> Kernel:
        """Runs a collective on arrays, one for each local rank, and waits for it; on CUDA first for what their
        devices were given before. Collective.

        `kernel` is a kernel, or the name of a collective: then one is picked among the registered ones, by `op`,
        `root`, `tags`, the type and the size. Without `output` it works in place, on arrays as long as the longer of
        input and output. For a kernel with a hook, `row` is the number of elements of a row, if it takes rows, and
        `hook_arrays` has its arrays by name, each one for every local rank; the name of its collective ends in that of
        the hook, as in "allreduce+add_rms_norm". For a kernel that takes counts of rows, `row` is that number too, and
        `counts` has the arrays of `launch`, each one for every local rank: int32 or int64, "status" uint32. Input and
        output are ranks times the capacity of rows long. Returns the kernel that ran. Raises ValueError for arrays that do not fit the kernel,
        NoKernelError if nothing registered fits, CallError."""
        inputs = self._memories(input)
        outputs = inputs if output is None else self._memories(output)
        if outputs[0].dtype != inputs[0].dtype:
            raise ValueError(f"the input has elements of {inputs[0].dtype}, the output of {outputs[0].dtype}")
        name = kernel if isinstance(kernel, str) else kernel.collective
        message = max(inputs[0].bytes, outputs[0].bytes) if output is None or name == "allgather" else inputs[0].bytes
        if isinstance(kernel, str):
            kernel = selector.default.select(
                Query(name, self.ranks, inputs[0].dtype, op, output is None, message, root, tuple(tags))
            )
        self._check_sizes(kernel, message, inputs[0].bytes, None if output is None else outputs[0].bytes)
        # The kernel divides the input before it adds. The caller's input must not change.
        keeps = op == "avg" and output is not None and self._adopts
        if keeps:
            given = self.allocate(inputs[0].bytes)
        else:
            given = self.adopt(input) if self._adopts else self._staged(inputs)
        made = None
        try:
            if output is not None:
                made = self.adopt(output) if self._adopts else self._staged(outputs)
            if not self.on_host:
                # Work on the arrays may still be in flight on the caller's streams, and the communicator's streams do
                # not wait for those.
                device = abi.runtime().mscclc_communicator_device
                devices.synchronize(device(self.handle, index) for index in range(len(inputs)))
            source = [memory.address for memory in inputs] if keeps else None
            brought = {name: self._memories(arrays) for name, arrays in (hook_arrays or {}).items()}
            self.launch(
                kernel,
                given,
                made,
                message_bytes=message,
                dtype=inputs[0].dtype,
                op=op,
                source=source,
                row_bytes=row * abi.DTYPE_BYTES[inputs[0].dtype],
                hook_arrays={name: [memory.address for memory in memories] for name, memories in brought.items()},
                counts=None if counts is None else {name: self._numbers(name, of) for name, of in counts.items()},
                count_bytes=8 if counts is None else self._width(counts),
            )
            self.synchronize()
            if not self._adopts:
                self._fetch(made or given, outputs)
        finally:
            if self.healthy:
                for buffer in filter(None, (made, given)):
                    buffer.release()
        return kernel

    def _width(self, counts: Mapping[str, Sequence[Any]]) -> int:
        types = {memory.dtype for name, of in counts.items() if name != "status" for memory in self._memories(of)}
        if len(types) != 1 or not types <= {"int32", "int64"}:
            raise ValueError(f"counts are all int32 or all int64, not {', '.join(sorted(types))}")
        return abi.DTYPE_BYTES[types.pop()]

    def _numbers(self, name: str, arrays: Sequence[Any]) -> list[int]:
        memories = self._memories(arrays)
        for memory in memories:
            if name == "status" and memory.dtype != "uint32":
                raise ValueError(f"the status of senders is uint32, not {memory.dtype}")
            if memory.bytes != self.ranks * abi.DTYPE_BYTES[memory.dtype]:
                raise ValueError(f"{name!r} has {self.ranks} numbers, one for each rank")
        return [memory.address for memory in memories]

    @property
    def _adopts(self) -> bool:
        """True if arrays can be adopted. On the host with several processes, and on NCCL, only memory that is
        allocated here can be shared."""
        return not self.on_host or (len(self.local_ranks) == self.ranks and not self._by_nccl)

    def _staged(self, memories: list[Memory]) -> Buffer:
        buffer = self.allocate(memories[0].bytes)
        for rank, memory in zip(self.local_ranks, memories):
            abi.runtime().mscclc_buffer_write(buffer.handle, rank, 0, memory.address, memory.bytes)
        return buffer

    def _fetch(self, buffer: Buffer, memories: list[Memory]) -> None:
        for rank, memory in zip(self.local_ranks, memories):
            abi.runtime().mscclc_buffer_read(buffer.handle, rank, 0, memory.address, memory.bytes)

    @staticmethod
    def _check_sizes(kernel: Kernel, message: int, given: int, made: int | None) -> None:
        if kernel.in_place != (made is None):
            raise ValueError(
                f"{kernel} works {'in place: pass no output' if kernel.in_place else 'on two arrays: pass an output'}"
            )
        inputs = max(kernel.input_bytes(rank, message) for rank in range(kernel.ranks))
        outputs = max(kernel.output_bytes(rank, message) for rank in range(kernel.ranks))
        wanted = max(inputs, outputs) if made is None else inputs
        if given != wanted:
            raise ValueError(f"{kernel} takes {wanted} bytes of input for a message of {message} bytes, not {given}")
        if made is not None and made != outputs:
            raise ValueError(f"{kernel} makes {outputs} bytes of output for a message of {message} bytes, not {made}")

    # ------------------------------------------------------------------------------------------------ life and health

    def synchronize(self) -> None:
        """Waits until all launches so far are done. If the communicator failed, raises the reason."""
        with self.lock:
            abi.runtime().mscclc_communicator_synchronize(self.handle)

    def barrier(self) -> None:
        """Waits until every process has called it, but not for their launches. Collective."""
        with self.lock:
            abi.runtime().mscclc_communicator_barrier(self.handle)

    @property
    def failure(self) -> str:
        """Why the communicator failed: the cause, and which rank waits where for whom; empty if it has not failed."""
        try:
            abi.runtime().mscclc_communicator_health(self.handle)
        except CallError as error:
            return str(error)
        return ""

    @property
    def healthy(self) -> bool:
        return not self.failure

    def abort(self, reason: str) -> None:
        """Makes every wait of every rank give up, in all processes. From any thread."""
        abi.runtime().mscclc_communicator_abort(self.handle, reason.encode())

    def reset(self) -> None:
        """Makes a communicator usable again after an abort or a time-out. Collective."""
        with self.lock:
            abi.runtime().mscclc_communicator_reset(self.handle)

    def stream(self, rank: int) -> int:
        """Returns the communicator's own stream of a local rank, as a number."""
        return abi.runtime().mscclc_communicator_stream(self.handle, rank) or 0

    def close(self) -> None:
        """Waits for the launches, and frees everything that was made from the communicator. A second call does
        nothing. If a CUDA graph keeps a launch, raises CallError MSCCLC_ERROR_IN_GRAPH, and can be called again.
        Collective."""
        with self.lock:
            if self._handle is not None:
                try:
                    abi.runtime().mscclc_communicator_destroy(self._handle)
                except CallError as error:
                    if error.name == "MSCCLC_ERROR_IN_GRAPH":
                        raise
                    self._drop()
                    raise
                self._drop()

    def _drop(self) -> None:
        self._handle = None
        self._instances.clear()
        self.adopted.clear()

    def __enter__(self) -> "Communicator":
        return self

    def __exit__(
        self, kind: "type[BaseException] | None", error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or self.closed:
            return self.close()
        # The other processes would wait for this one.
        if len(self.local_ranks) < self.ranks:
            self.abort(f"rank {self.local_ranks[0]}: {error}")
        try:
            self.close()
        except CallError:
            pass  # the error that is under way says more

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is None:
            return
        if len(self.local_ranks) == self.ranks:
            self.close()
        else:
            warnings.warn(f"a communicator of {self.ranks} ranks in several processes was not closed", ResourceWarning)

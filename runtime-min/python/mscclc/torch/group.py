"""A group of the backend "mscclc": the backend behind it, the execution of calls, and the end of the group."""

from __future__ import annotations

import itertools
import logging
import os
from datetime import timedelta
from functools import partial
from typing import Any, Callable, Sequence

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as c10d

from . import checks, watchdog
from .engine import Engine, Job
from .options import Options
from .recorder import profiled, recorder
from .watchdog import Watchdog
from .work import CudaWork, HostWork, Worker, untraced

log = logging.getLogger("mscclc.torch")

Tensors = list[torch.Tensor]


@untraced
class Group(dist.ProcessGroup):
    """Runs calls of torch.distributed by kernels, or by the backend behind."""

    Options = Options

    def __init__(
        self,
        store: c10d.Store,
        rank: int,
        size: int,
        timeout: timedelta,
        options: Any = None,
        global_ranks: Sequence[int] = (),
    ):
        super().__init__(rank, size)  # type: ignore[call-arg]
        self.options = Options.of(options, timeout)
        self.timeout = timeout
        self.global_ranks = tuple(global_ranks) or tuple(range(size))
        self._store = store
        self._split_off: list[Group] = []  # kept: C++ holds the part of a group that is not Python's
        self._numbers = itertools.count(1)
        self._watchdog: Watchdog | None = None
        self._said_failure = False
        # The backend behind. The worker calls its collectives, under names that this class defines itself. PyTorch 2.11
        # has these names, and 2.13, too.
        self._inner: Any = dist.ProcessGroup(store, rank, size)
        self._gloo: Any = dist.ProcessGroupGloo(c10d.PrefixStore("gloo", store), rank, size, timeout=timeout)
        self._register("cpu", self._gloo, dist.ProcessGroup.BackendType.GLOO)
        self._nccl: Any = None
        if torch.cuda.is_available() and dist.is_nccl_available():
            self._nccl = nccl = dist.ProcessGroupNCCL(
                c10d.PrefixStore("nccl", store), rank, size, self.options.of_nccl()
            )
            self._register("cuda", nccl, dist.ProcessGroup.BackendType.NCCL)
        # Gloo matches calls by their order. Each engine exchanges in its own thread, so it needs its own group.
        devices = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)
        self._meetings: dict[str, Any] = {
            device: dist.ProcessGroupGloo(c10d.PrefixStore(f"mscclc {device}", store), rank, size, timeout=timeout)
            for device in devices
        }
        self._engines: dict[str, Engine] = {}
        self._worker = Worker(f"mscclc rank {rank}")
        self._stream: torch.cuda.Stream | None = None
        if self.options.eager:
            begun = [self._worker.submit("begin", [], lambda: self._engine("cpu").begin())]
            if "cuda" in devices:
                self._engine("cuda").begin()
            for work in begun:
                work.wait()

    def _register(self, device: str, backend: Any, kind: Any) -> None:
        for group in (self, self._inner):
            group._register_backend(torch.device(device), kind, backend)
        if device == "cpu":
            self._inner._set_default_backend(kind)
            self._set_default_backend(kind)

    def getBackendName(self) -> str:
        return "mscclc"

    @property
    def launches(self) -> dict[str, int]:
        """Returns the number of calls that each kernel has run in this process."""
        total: dict[str, int] = {}
        for engine in self._engines.values():
            for name, count in engine.launches.items():
                total[name] = total.get(name, 0) + count
        return total

    def refresh(self) -> None:
        """Uses the kernels that are registered at the next collective. Every rank must call it, between the same
        collectives."""
        for engine in self._engines.values():
            engine.refresh()

    def shutdown(self) -> None:
        self._worker.close("the process group was destroyed")
        if self._watchdog is not None:
            self._watchdog.stop()
        if self._worker.join(self.timeout.total_seconds()):
            for engine in self._engines.values():
                engine.close()
        self._engines = {}
        for gloo in (self._gloo, *self._meetings.values()):
            gloo.shutdown()

    def abort(self) -> None:
        self._abort("the process group was aborted")

    def _abort(self, reason: str) -> str:
        """Ends all calls. Gives the reason, with what kernels of this rank waited for."""
        self._worker.close(reason)
        for engine in self._engines.values():
            engine.abort(reason)
        if self._nccl is not None:
            self._nccl.abort()
        for gloo in (self._gloo, *self._meetings.values()):
            gloo.abort()
        return "\n".join(filter(None, (engine.failure() for engine in self._engines.values()))) or reason

    def splitGroup(
        self,
        ranks: list[int],
        timeout: "timedelta | None" = None,
        opts: Any = None,
        name: "str | None" = None,
        description: "str | None" = None,
        devices: Any = None,
    ) -> "Group | None":
        """Makes a group of some ranks of this one, for split_group; None on other ranks. It has its own kernels and
        its own NCCL. Options of other backends are ignored, because split_group passes on those of the backend
        behind."""
        if self.rank() not in ranks:
            return None
        name = name or f"{self.group_name}:split:{','.join(map(str, ranks))}:{len(self._split_off)}"
        made = type(self)(
            c10d.PrefixStore(f"{name}/", self._store),
            ranks.index(self.rank()),
            len(ranks),
            timeout or self.timeout,
            opts if isinstance(opts, Options) else self.options,
            [self.global_ranks[rank] for rank in ranks],
        )
        made._set_group_name(name)  # type: ignore[arg-type]
        made._set_group_desc(description or "undefined")
        self._split_off.append(made)
        return made

    def get_group_store(self) -> c10d.Store:
        return self._store

    def register_mem_pool(self, pool: Any, symm: bool = False) -> None:
        """Registers memory of a torch.cuda.MemPool with the NCCL behind. Kernels still copy to their own memory."""
        self._of_nccl("register_mem_pool")(pool, symm)

    def deregister_mem_pool(self, pool: Any) -> None:
        self._of_nccl("deregister_mem_pool")(pool)

    def _of_nccl(self, name: str) -> Any:
        if self._nccl is None:
            raise RuntimeError(f"mscclc: {name} is for the NCCL behind the group, and there is no CUDA or no NCCL here")
        return getattr(self._nccl, name)

    # ----------------------------------------------------------------------------------------------- how a call runs

    def _exchange(self, device: str, own: bytes) -> list[bytes]:
        """Exchanges bytes between all ranks, by gloo, for the engine of a device. Their lengths may differ."""
        gloo = self._meetings[device]
        lengths = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size())]
        gloo.allgather([lengths], [torch.tensor([len(own)], dtype=torch.int64)]).wait()
        longest = max(1, *(int(length) for length in lengths))
        given = torch.frombuffer(bytearray(own.ljust(longest, b"\0")), dtype=torch.uint8)
        made = [torch.empty_like(given) for _ in lengths]
        gloo.allgather([made], [given]).wait()
        return [bytes(tensor[: int(length)].tolist()) for tensor, length in zip(made, lengths)]

    def _engine(self, device: str) -> Engine:
        if device not in self._engines:
            exchange = partial(self._exchange, device)
            self._engines[device] = Engine(
                self.rank(),
                self.size(),
                device == "cpu",
                exchange,
                self.timeout.total_seconds(),
                self.options.invariant,
                self.options.pdl,
            )
        return self._engines[device]

    def _call(
        self,
        job: "Job | Callable[[], Job | None] | None",
        result: Tensors,
        name: str,
        behind: Callable[[], Any],
        after: Callable[[], None] | None = None,
        used: Sequence[torch.Tensor] = (),
        alike: Sequence[torch.Tensor] = (),
        more: str = "",
        has_order: bool = False,
    ) -> Any:
        """Runs a job by a kernel, or by `behind` if there is none. Then runs `after` on the result. `job` may be a
        function that makes the job; None: no kernel does it. `used`: tensors besides the result that `behind` reads
        or writes. `name` is the call's name in torch.distributed. `alike` and `more` are arguments that are the same
        on all ranks. `has_order`: the bits of the result depend on the order of sums."""
        self._worker.check()
        device = result[0].device.type
        if device not in ("cpu", "cuda"):
            return behind()
        number = next(self._numbers)

        def run(stream: int | None) -> None:
            if checks.is_detailed():
                exchange = partial(self._exchange, device)
                what = checks.describe(name, number, alike, more)
                checks.meet(self._meetings[device], exchange, self.timeout, self.rank(), what)
            made = job() if callable(job) else job
            engine = self._engine(device)
            call = checks.sizes(name, alike, more)
            choice = engine.choose(made, call) if made is not None else None
            if made is not None:
                engine.note(number, call)
            try:
                if choice is not None:
                    engine.receive(stream)
                if choice is not None and engine.prepare(choice, call):
                    engine.compare()
                    engine.run(choice, made, stream)  # type: ignore[arg-type]
                else:
                    if has_order:
                        engine.check_order(name, result)
                    work = behind()
                    if work is not None:
                        work.wait()
                engine.compare()
            except Exception as error:
                raise self._explained(engine, error)
            if after is not None:
                with torch.no_grad():
                    after()

        entry = recorder.scheduled(self, name, number, used or result, result)
        if device == "cpu":
            return self._submit(name, result, lambda: run(None), entry)
        return self._on_stream(run, result, used, entry, name)

    def _explained(self, engine: Engine, error: Exception) -> Exception:
        """Returns the exception that a call raises after it failed with `error`. If another rank has made another
        call, that is MismatchError, and the group and the kernels end on all ranks."""
        try:
            engine.compare()
        except checks.MismatchError as found:
            error = found
        if isinstance(error, checks.MismatchError):
            reason = str(error).removeprefix("mscclc: ")
            self._worker.close(reason)
            engine.abort(reason)
        return error

    def _submit(self, name: str, result: Tensors, job: Callable[[], None], entry: dict[str, Any]) -> HostWork:
        """Passes a call to the worker, with its entry of the recorder."""

        event = profiled(name)

        def run() -> None:
            recorder.started(entry)
            try:
                job()
            except Exception as error:
                recorder.failed(entry, str(error))
                self._failed(f"{name} failed: {error}")
                raise
            finally:
                if event is not None:
                    event.set_result(None)
            recorder.completed(entry)

        return self._worker.submit(name, result, run)

    def _failed(self, reason: str) -> None:
        """Logs a failure, and writes the recorder's data, once for each group."""
        if not self._said_failure:
            self._said_failure = True
            path = recorder.dump(self._global_rank()) if recorder.dumps_failures() else None
            log.error("mscclc: rank %d: %s%s", self.rank(), reason, f"; its last calls are in {path}" if path else "")

    def _global_rank(self) -> int:
        return self.global_ranks[self.rank()]

    def _on_stream(
        self,
        run: Callable[[int | None], None],
        result: Tensors,
        used: Sequence[torch.Tensor],
        entry: dict[str, Any],
        name: str,
    ) -> CudaWork:
        if self._stream is None:
            self._stream = self.options.stream()
            self._watchdog = Watchdog(self.timeout.total_seconds(), self._expired)
        self._stream.wait_stream(torch.cuda.current_stream())
        recorder.started(entry)
        # The event covers only the host's part, as in NCCL: the profiler sees the kernels itself.
        with torch.profiler.record_function(f"mscclc:{name}"), torch.cuda.stream(self._stream):
            run(self._stream.cuda_stream)
            event = torch.cuda.Event()
            event.record()
        for tensor in (*result, *used):  # the caller may let go of them before the stream is done
            if tensor.is_cuda:
                tensor.record_stream(self._stream)
        ends = partial(recorder.completed, entry), partial(recorder.failed, entry)
        work = CudaWork(event, result, name, self.timeout, self._abort, *ends)
        assert self._watchdog is not None
        self._watchdog.watch(work)
        return work

    def _expired(self, work: CudaWork) -> None:
        """Handles a call that the watchdog found to be late. Like PyTorch's own, it aborts, and then ends the
        process."""
        reason = f"{work.name} is not done after {self.timeout.total_seconds()} s"
        self._failed(work.fail(reason))
        if watchdog.ends_process():
            log.critical("mscclc: rank %d: ends, as streams would go on with wrong data", self.rank())
            os.abort()

    def _meet(self, name: str, behind: Callable[[], Any], more: str = "") -> HostWork:
        self._worker.check()
        if self._stream is not None:
            self._stream.synchronize()
        number = next(self._numbers)

        def run() -> None:
            if checks.is_detailed():
                what = checks.describe(name, number, (), more)
                checks.meet(self._meetings["cpu"], partial(self._exchange, "cpu"), self.timeout, self.rank(), what)
            behind()

        return self._submit(name, [], run, recorder.scheduled(self, name, number, (), ()))

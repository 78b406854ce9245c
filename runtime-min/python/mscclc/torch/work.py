"""The results of asynchronous collectives: on the host, of a thread; on CUDA, of an event on a stream."""

from __future__ import annotations

import atexit
import inspect
import queue
import threading
import time
import weakref
from datetime import timedelta
from typing import Any, Callable

import torch
import torch.distributed as dist

from . import watchdog

_Work = dist.Work if hasattr(dist, "Work") else torch._C._distributed_c10d.Work


#: The threads that complete futures.
_completing: "weakref.WeakSet[threading.Thread]" = weakref.WeakSet()


@atexit.register
def _end_completing() -> None:
    """Waits for these threads. A thread that returns from C++ after the interpreter has ended is ended there, and C++
    would abort."""
    for thread in list(_completing):
        thread.join(5)


def untraced(kind: type) -> type:
    """Returns a class whose methods torch.compile does not trace. It breaks the graph there, because it does not see
    their effects in other threads."""
    for name, value in list(vars(kind).items()):
        if inspect.isfunction(value) and not name.startswith("__"):
            setattr(kind, name, torch.compiler.disable(value))
    return kind


@untraced
class HostWork(_Work):  # type: ignore[misc, valid-type]
    """A collective that a thread does. `wait` raises the failure."""

    def __init__(self, name: str, result: list[torch.Tensor]):
        super().__init__()
        self._name = name
        self._result = result
        self._done = threading.Event()
        self._error: Exception | None = None
        self._begun: torch.futures.Future[None] | None = None  # completed where the collective is
        self._future: torch.futures.Future[list[torch.Tensor]] | None = None  # what follows it
        self._lock = threading.Lock()  # for what decides who completes the future

    def finish(self, error: Exception | None) -> None:
        with self._lock:
            self._error = error
            self._done.set()
        if self._begun is not None:
            # Callbacks of the future run on the thread that completes it. They may wait for later collectives and
            # futures. So neither the worker's thread nor a thread that completes other futures may complete it.
            begun = self._begun
            name = f"mscclc future of {self._name}"
            completing = threading.Thread(target=begun.set_result, args=(None,), name=name, daemon=True)
            _completing.add(completing)
            completing.start()

    def _outcome(self, _: object) -> list[torch.Tensor]:
        if self._error is not None:
            raise self._error
        return self._result

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        if not self._done.wait(timeout.total_seconds() or None):
            raise RuntimeError(f"mscclc: {self._name} is not done after {timeout.total_seconds()} s")
        if self._error is not None:
            raise self._error
        return True

    def synchronize(self) -> None:
        self.wait()

    def is_completed(self) -> bool:
        return self._done.is_set()

    def is_success(self) -> bool:
        return self._done.is_set() and self._error is None

    def exception(self) -> Exception | None:
        return self._error

    def result(self) -> list[torch.Tensor]:
        return self._result

    def get_future(self) -> "torch.futures.Future[list[torch.Tensor]]":
        """Returns a future whose `wait` raises the failure, also in C++ code such as DDP. `Future.set_exception`
        would not do that: C++ takes the exception for a value."""
        with self._lock:
            if self._future is None:
                self._begun = torch.futures.Future()
                self._future = self._begun.then(self._outcome)
                if self._done.is_set():
                    self._begun.set_result(None)
            return self._future


@untraced
class CudaWork(_Work):  # type: ignore[misc, valid-type]
    """A collective on a stream. `wait` makes the current stream wait for it, as in NCCL. With a time-out, or if
    TORCH_NCCL_BLOCKING_WAIT is 1, the host waits, too."""

    def __init__(
        self,
        event: "torch.cuda.Event",
        result: list[torch.Tensor],
        name: str = "a collective",
        timeout: timedelta = timedelta(0),
        abort: Callable[[str], str] = lambda reason: reason,
        completed: Callable[[], None] = lambda: None,
        failed: Callable[[str], None] = lambda reason: None,
    ):
        super().__init__()
        self._event = event
        self._result = result
        self.name, self.begun = name, time.monotonic()
        self._timeout, self._abort, self._completed, self._failed = timeout, abort, completed, failed
        self._is_done = False
        self._failure = ""

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        self._raise()
        torch.cuda.current_stream().wait_event(self._event)
        if not timeout and watchdog.waits_on_host():
            timeout = self._timeout
        until = time.monotonic() + timeout.total_seconds()
        while timeout and not self._event.query():
            if time.monotonic() > until:
                self.fail(f"{self.name} is not done after {timeout.total_seconds()} s")
            self._raise()
            time.sleep(0.001)
        return True

    def fail(self, reason: str) -> str:
        """Aborts the group; whoever waits from here on raises. Gives the reason as the abort explains it."""
        self._failure = reason
        self._failure = self._abort(reason)
        self._failed(self._failure)
        return self._failure

    def _raise(self) -> None:
        if self._failure:
            raise dist.DistBackendError(f"mscclc: {self._failure}; the process group was aborted")

    def synchronize(self) -> None:
        self.wait()

    def is_completed(self) -> bool:
        if not self._is_done and self._event.query():
            self._is_done = True
            self._completed()
        return self._is_done or bool(self._failure)

    def is_success(self) -> bool:
        return self.is_completed() and not self._failure

    def result(self) -> list[torch.Tensor]:
        return self._result

    def get_future(self) -> "torch.futures.Future[list[torch.Tensor]]":
        future: torch.futures.Future[list[torch.Tensor]] = torch.futures.Future(
            devices=[torch.device("cuda", torch.cuda.current_device())]
        )
        with torch.cuda.stream(torch.cuda.Stream()):
            self.wait()
            future.set_result(self._result)
        return future


class Worker:
    """A thread that does collectives one after the other, in the order of the calls, which is the same on all ranks."""

    def __init__(self, name: str):
        self._jobs: "queue.SimpleQueue[tuple[HostWork, Callable[[], Any]] | None]" = queue.SimpleQueue()
        self._lock = threading.Lock()  # a job that is taken comes before the end
        self._closed = ""
        self._thread = threading.Thread(target=self._loop, name=name, daemon=True)
        self._thread.start()

    def submit(self, name: str, result: list[torch.Tensor], job: Callable[[], Any]) -> HostWork:
        """Queues a job. Raises RuntimeError after the end."""
        work = HostWork(name, result)
        with self._lock:
            self.check()
            self._jobs.put((work, job))
        return work

    def check(self) -> None:
        if self._closed:
            raise RuntimeError(f"mscclc: {self._closed}")

    def _loop(self) -> None:
        while (item := self._jobs.get()) is not None:
            work, job = item
            error: Exception | None = None
            try:
                job()
            except Exception as raised:  # whoever waits for the work gets it
                error = raised
            work.finish(error)
            del item, work, job  # tensors are not kept until the next collective

    def close(self, reason: str) -> None:
        """Accepts no more jobs; later ones raise `reason`. The jobs in the queue are still done."""
        with self._lock:
            if not self._closed:
                self._closed = reason
                self._jobs.put(None)

    def join(self, seconds: float) -> bool:
        """Waits for the end of the thread. Returns False if that takes longer than `seconds` seconds."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

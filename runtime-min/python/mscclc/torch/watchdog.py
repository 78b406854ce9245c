"""Finds calls on a device that exceed a group's time-out while the host does not wait for them."""

from __future__ import annotations

import os
import threading
import time
from typing import Any, Callable


def ends_process() -> bool:
    """True if a late call ends the process, by PyTorch's TORCH_NCCL_ASYNC_ERROR_HANDLING. 1 and 3 (the default) end
    the process, because streams continue after an abort, with wrong data. 2 only aborts."""
    return os.environ.get("TORCH_NCCL_ASYNC_ERROR_HANDLING", "3") not in ("0", "2")


def waits_on_host() -> bool:
    """True if `wait` returns only when the call is done, by PyTorch's TORCH_NCCL_BLOCKING_WAIT."""
    return os.environ.get("TORCH_NCCL_BLOCKING_WAIT", "0") == "1"


class Watchdog:
    """A thread that observes calls in flight. Each has `is_completed`, `name` and `begun` (time.monotonic). The first
    one that takes longer than `seconds` is passed to `expired`, and the thread ends."""

    def __init__(self, seconds: float, expired: Callable[[Any], None], interval: float = 0.5):
        self._seconds, self._expired, self._interval = seconds, expired, interval
        self._watched: list[Any] = []
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="mscclc watchdog", daemon=True)
        self._thread.start()

    def watch(self, work: Any) -> None:
        with self._lock:
            self._watched.append(work)

    def stop(self) -> None:
        self._stopped.set()

    def _loop(self) -> None:
        while not self._stopped.wait(self._interval):
            with self._lock:
                self._watched = [work for work in self._watched if not work.is_completed()]
                late = next((work for work in self._watched if time.monotonic() - work.begun > self._seconds), None)
            if late is not None:
                self._expired(late)
                return

"""Records the collectives of this process. There is a flight recorder like PyTorch's for NCCL, in the format that
`torchfrtrace` reads, and events for torch.profiler.

The variables are PyTorch's: TORCH_FR_BUFFER_SIZE (the number of calls that are kept, 2000; 0: none),
TORCH_FR_DUMP_TEMP_FILE (the names of files, without the rank at the end) and TORCH_NCCL_DUMP_ON_TIMEOUT (0: a failure
writes no file)."""

from __future__ import annotations

import collections
import itertools
import os
import pathlib
import pickle
import sys
import threading
import time
import types
from typing import Any, Sequence

import torch


def _first_set(*names: str, otherwise: str) -> str:
    return next((os.environ[name] for name in names if os.environ.get(name)), otherwise)


_PACKAGE = str(pathlib.Path(__file__).parent.parent)


def _stack() -> tuple[tuple[types.CodeType, int], ...]:
    """Returns code and line of the frames that lead into this package, the innermost first."""
    found: list[tuple[types.CodeType, int]] = []
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith(_PACKAGE):
            found.clear()  # also those of PyTorch between two frames of the package
        else:
            found.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(found)


class Recorder:
    """The last calls of all groups of a process. From any thread."""

    def __init__(self) -> None:
        size = int(_first_set("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE", otherwise="2000"))
        self._entries: collections.deque[dict[str, Any]] = collections.deque(maxlen=max(0, size))
        self._ids = itertools.count()
        self._groups: dict[str, dict[str, str]] = {}
        self._status: dict[str, dict[str, int]] = {}
        self._lock = threading.Lock()

    def scheduled(
        self, group: Any, name: str, number: int, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]
    ) -> dict[str, Any]:
        """Returns the entry of a call that is made now, for `started` and `completed`. `number` counts the calls of a
        group."""
        kept = {"process_group": (group.group_name, group.group_desc or "undefined")}
        entry: dict[str, Any] = {
            "record_id": next(self._ids),
            "pg_id": 0,
            **kept,
            "collective_seq_id": number,
            "p2p_seq_id": 0,
            "is_p2p": False,
            "op_id": number,
            # The reader accepts only names in its list.
            "profiling_name": f"nccl:{name}",
            "time_created_ns": time.time_ns(),
            "input_sizes": [list(tensor.shape) for tensor in inputs],
            "input_dtypes": [str(tensor.dtype).removeprefix("torch.") for tensor in inputs],
            "output_sizes": [list(tensor.shape) for tensor in outputs],
            "output_dtypes": [str(tensor.dtype).removeprefix("torch.") for tensor in outputs],
            "state": "scheduled",
            "time_discovered_started_ns": None,
            "time_discovered_completed_ns": None,
            "duration_ms": None,
            "timeout_ms": int(group.timeout.total_seconds() * 1000),
            "retired": False,
            "frames": _stack(),
            "mscclc_failure": "",  # PyTorch's reader leaves it alone
        }
        with self._lock:
            self._entries.append(entry)
            ranks = str(list(group.global_ranks))
            self._groups[group.group_name] = {
                "name": group.group_name,
                "desc": entry["process_group"][1],
                "ranks": ranks,
            }
            status = self._status.setdefault(
                group.group_name,
                {"last_enqueued_collective": -1, "last_started_collective": -1, "last_completed_collective": -1},
            )
            status["last_enqueued_collective"] = number
        return entry

    def _reached(self, entry: dict[str, Any], state: str) -> None:
        with self._lock:
            entry["state"] = state
            entry[f"time_discovered_{state}_ns"] = time.time_ns()
            self._status[entry["process_group"][0]][f"last_{state}_collective"] = entry["collective_seq_id"]

    def started(self, entry: dict[str, Any]) -> None:
        self._reached(entry, "started")

    def completed(self, entry: dict[str, Any]) -> None:
        self._reached(entry, "completed")
        entry["retired"] = True
        if entry["time_discovered_started_ns"] is not None:
            entry["duration_ms"] = (entry["time_discovered_completed_ns"] - entry["time_discovered_started_ns"]) / 1e6

    def failed(self, entry: dict[str, Any], reason: str) -> None:
        """`reason` of a call that failed is part of its entry, as is the state that it had reached."""
        with self._lock:
            entry["mscclc_failure"] = reason

    def trace(self) -> dict[str, Any]:
        """Returns all entries, in the format of PyTorch's recorder."""

        def formatted(entry: dict[str, Any]) -> dict[str, Any]:
            frames = [
                {"name": code.co_name, "filename": code.co_filename, "line": line} for code, line in entry["frames"]
            ]
            return {**entry, "frames": frames}

        with self._lock:
            return {
                "version": "2.10",
                "pg_config": dict(self._groups),
                "pg_status": {name: dict(status) for name, status in self._status.items()},
                "entries": [formatted(entry) for entry in self._entries],
            }

    def dump(self, rank: int) -> pathlib.Path | None:
        """Writes the entries to the file of a rank of the program. Returns its path, or None if nothing is kept."""
        if self._entries.maxlen == 0:
            return None
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "torch")
        prefix = _first_set(
            "TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE", otherwise=str(cache / "comm_lib_trace_rank_")
        )
        path = pathlib.Path(f"{prefix}{rank}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(self.trace()))
        return path

    @staticmethod
    def dumps_failures() -> bool:
        return _first_set("TORCH_FR_DUMP_ON_TIMEOUT", "TORCH_NCCL_DUMP_ON_TIMEOUT", otherwise="1") not in ("0", "false")


#: The recorder of this process.
recorder = Recorder()


def profiled(name: str) -> "torch.futures.Future[None] | None":
    """Begins an event "mscclc:NAME" of torch.profiler. It ends when the returned future is completed. Returns None if
    nothing is profiled."""
    if not torch._C._autograd._profiler_enabled():
        return None
    ends: torch.futures.Future[None] = torch.futures.Future()
    event = torch.profiler.record_function(f"mscclc:{name}")
    event.__enter__()
    event._call_end_callbacks_on_future(ends)
    return ends

"""Tests what a group of the backend does besides collectives: on each rank, and with an imitation of a GPU."""

import os
import pickle
import signal
import subprocess
import sys
import time
from datetime import timedelta

import pytest

torch = pytest.importorskip("torch")
import mscclc.torch  # noqa: E402
from mscclc.torch import watchdog, work  # noqa: E402


class Event:
    """An event of a stream that is done `after` seconds from now."""

    def __init__(self, after):
        self.at = time.monotonic() + after

    def query(self):
        return time.monotonic() > self.at


class Stream:
    def wait_event(self, event):
        self.event = event


@pytest.fixture
def stream(monkeypatch):
    found = Stream()
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: found)
    return found


def test_waiting_for_a_stream(stream, monkeypatch):
    done, aborted = [], []
    event = Event(0.2)
    call = work.CudaWork(event, [], "all_reduce", timedelta(seconds=9), aborted.append, lambda: done.append(1))
    started = time.monotonic()
    assert call.wait() and stream.event is event and time.monotonic() - started < 0.1  # the stream waits, not the host
    assert not call.is_completed() and call.wait(timedelta(seconds=5)) and call.is_success()
    assert call.is_completed() and done == [1] and aborted == []
    monkeypatch.setenv("TORCH_NCCL_BLOCKING_WAIT", "1")
    event = Event(0.2)
    assert work.CudaWork(event, [], "all_reduce", timedelta(seconds=9)).wait() and event.query()


def test_a_wait_that_takes_too_long(stream):
    aborted = []
    abort = lambda reason: aborted.append(reason) or reason
    call = work.CudaWork(Event(60), [], "all_reduce", timedelta(seconds=9), abort)
    for _ in range(2):  # it stays failed
        with pytest.raises(torch.distributed.DistBackendError, match="all_reduce is not done after 0.1 s; .*aborted"):
            call.wait(timedelta(seconds=0.1))
    assert aborted == ["all_reduce is not done after 0.1 s"] and not call.is_success()


def test_the_watchdog_finds_what_is_late():
    late = []
    dog = watchdog.Watchdog(0.3, late.append, interval=0.05)
    soon, never = (work.CudaWork(Event(after), [], name) for after, name in ((0.1, "soon"), (60, "never")))
    for call in (soon, never):
        dog.watch(call)
    until = time.monotonic() + 10
    while not late and time.monotonic() < until:
        time.sleep(0.01)
    assert late == [never] and 0.3 < time.monotonic() - never.begun < 5
    stopped = watchdog.Watchdog(0.1, late.append, interval=0.05)
    stopped.watch(work.CudaWork(Event(60), [], "of a group that ended"))
    stopped.stop()
    time.sleep(0.3)
    assert late == [never]


EXPIRES = """
import sys, time, torch, torch.distributed as dist, mscclc.torch
from datetime import timedelta
from mscclc.torch.work import CudaWork
class Never:
    def query(self): return False
dist.init_process_group("mscclc", init_method=f"file://{sys.argv[1]}/store", rank=0, world_size=1)
group = dist.group.WORLD
call = CudaWork(Never(), [], "all_reduce", timedelta(seconds=1), group._abort)
group._expired(call)
try:
    group.barrier()
except RuntimeError as error:
    print(error)
"""


@pytest.mark.parametrize("handling, code", [("", -signal.SIGABRT), ("3", -signal.SIGABRT), ("2", 0), ("0", 0)])
def test_what_a_late_call_ends(tmp_path, handling, code):
    """The same choice as in PyTorch's own backend: the process ends, or only the group."""
    environment = {**os.environ, "TORCH_FR_DUMP_TEMP_FILE": str(tmp_path / "trace")}
    if handling:
        environment["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = handling
    command = [sys.executable, "-c", EXPIRES, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=100, check=False)
    assert done.returncode == code, done.stderr
    assert f"rank 0: all_reduce is not done after 1800.0 s; its last calls are in {tmp_path}/trace0" in done.stderr
    assert code or "all_reduce is not done after 1800.0 s" in done.stdout, done.stdout


ENDS = """
import time, mscclc.torch
from mscclc.torch.work import HostWork
call = HostWork("all_reduce", [])
call.get_future().then(lambda future: time.sleep(1))
call.finish(None)
"""


def test_a_process_that_ends_while_a_future_is_completed():
    done = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr


def test_the_reader_of_pytorch_takes_a_trace(tmp_path):
    """Two ranks, one of which makes a different call."""

    class Group:
        group_name, group_desc, global_ranks, timeout = "7", "of a test", (0, 1), timedelta(seconds=9)

    for rank in range(2):
        recorder, x = mscclc.torch.recorder.__class__(), [torch.ones(3)]
        for number, name in enumerate(["all_reduce", ["all_reduce", "broadcast"][rank]], 1):
            entry = recorder.scheduled(Group, name, number, x, x)
            recorder.started(entry)
            if number == 1:
                recorder.completed(entry)
        (tmp_path / f"trace{rank}").write_bytes(pickle.dumps(recorder.trace()))
    command = [sys.executable, "-m", "torch.distributed.flight_recorder.fr_trace", str(tmp_path), "-p", "trace"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0 and "broadcast" in done.stdout + done.stderr, done.stdout + done.stderr

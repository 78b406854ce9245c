"""Which orders that one thread gave are lost by fusing, found by trying all pairs; see passes/analysis/thread_order.h.

Every operation that the DSL records names one channel or semaphore, so one thread does all that its block does there. A
fused operation is done by a thread for each of what it names.
"""
from typing import NamedTuple

from mscclpp.language.internal import operations
from mscclpp.language.internal.types import ChannelType, SyncType


class Act(NamedTuple):
    """A relevant act of one operation, in iteration n."""
    op: int
    counter: tuple  # the channel and its direction, or the semaphore
    thread: int
    phase_before: int
    phase: int
    sends: bool = False
    waits: bool = False
    flushes: bool = False
    moves: bool = False  # reads or writes chunks
    put_to: tuple = None  # memory, of a put through a port
    relaxed: bool = False


def number(ops, first=0):
    """Numbers the operations of the block; returns the next number."""
    for op in ops:
        op.origin, first = first, first + 1
        if hasattr(op, "operations"):
            first = number(op.operations, first)
    return first


def channels(op):
    return list(getattr(op, "channel_ids", getattr(op, "semaphore_ids", [])))


def members(op):
    """Returns the operations from which `op` was fused, each as (origin, number of names before its own). For an
    operation that was not fused, that is only itself."""
    return getattr(op, "fused_of", None) or [(op.origin, 0)]


def note_fused(left, right, result):
    """Records members() and the order of names of `result`, which is `left` + `right`."""
    if isinstance(left, operations.SyncOperation) or isinstance(right, operations.SyncOperation):
        result.origin = (right if isinstance(left, operations.SyncOperation) else left).origin
        return
    names = getattr(left, "names", None) or channels(left)
    result.fused_of = members(left) + [(origin, len(names) + offset) for origin, offset in members(right)]
    result.names = names + channels(right)


def walk(ops, loops):
    """Returns the operations in the order in which a block runs them, with `loops` iterations of each loop."""
    for op in ops:
        yield op
        for _ in range(loops if hasattr(op, "operations") else 0):
            yield from walk(op.operations, loops)


def phases(ops):
    """Returns [iteration][operation]: the phase in which it runs, and the operation."""
    phase, found = 1, [{}, {}]
    for op in walk(ops, 2):
        asks = op.data_sync if operations.check_data_sync_op(op) else SyncType.none
        block_sync = op.name.value in ("nop", "barrier")
        phase += asks in (SyncType.before, SyncType.both)
        for origin, offset in members(op):
            found[origin in found[0]][origin] = phase, op, offset
        phase += block_sync or asks in (SyncType.after, SyncType.both)
    return found


def acts(before, after, memory_of):
    """Returns all relevant acts, in the order of the program."""
    was, became = phases(before), phases(after)
    seen, result = set(), []
    for op in walk(before, 2):
        time = op.origin in seen
        seen.add(op.origin)
        if op.origin not in became[time]:
            continue  # a nop that fell away
        phase, merged, offset = became[time][op.origin]
        name, port = op.name.value, getattr(op, "channel_type", None) == ChannelType.port
        signals = name in ("signal", "rlxsignal") or (port and name in ("pws", "pwsf"))
        waits = name in ("wait", "rlxwait", "sem_acquire")
        names, thread = channels(op), offset
        if name == "flush":
            thread = list(dict.fromkeys(getattr(merged, "names", None) or channels(merged))).index(names[0])
        counts = signals or waits or name in ("sem_release", "flush") or (port and hasattr(op, "dst_buff"))
        counter = (str(getattr(op, "channel_type", "semaphore")), *names[:1]) if counts else None
        moves = not operations.check_data_sync_op(op) and name not in ("nop", "barrier", "pipeline")
        to = memory_of(op) if port and moves else None
        result.append(Act(op.origin, counter, thread, was[time][op.origin][0], phase, signals or name == "sem_release",
                          waits, name == "flush", moves, to, name == "rlxsignal"))
    return result, {origin for op in walk(after, 1) for origin, _ in members(op)[1:]}


def losses(earlier, later, together, relays):
    """Returns the names of orders between two acts of one phase that different threads do now. `together`: fused into
    one."""
    one_counter = earlier.counter is not None and earlier.counter == later.counter
    semaphore = one_counter and earlier.counter[0] == "semaphore"
    port = one_counter and earlier.counter[0] == str(ChannelType.port)
    a, b = earlier.put_to, later.put_to
    if later.waits:
        if one_counter and earlier.waits and not (semaphore and together):
            yield "waits take turns"
        return
    if earlier.waits and (later.sends or later.put_to):
        yield "what was waited for goes along"
    if one_counter and earlier.put_to and (
            later.sends or later.flushes or (b and a[0] == b[0] and a[1] < b[2] and b[1] < a[2])):
        yield "puts of one queue"
    if one_counter and earlier.sends and later.sends and (relays or port or earlier.relaxed != later.relaxed):
        yield "signals that tell something else"


ORDERS = ["what was waited for goes along", "data before a sync", "puts of one queue",
          "signals that tell something else", "waits take turns", "data behind a sync"]


def lost(before, after, memory_of):
    """Returns the origins of operations that may not be fused with the operations before them: the first one of each
    phase of `after`."""
    listed, merged = acts(before, after, memory_of)
    run = {origin: members(op)[0] for op in walk(after, 1) for origin, _ in members(op)}
    blamed = {}
    for i, later in enumerate(listed):
        relays = any(earlier.waits and earlier.phase == later.phase for earlier in listed[:i])
        for order in ORDERS if later.phase not in blamed else ():
            for earlier in listed[:i]:
                apart = earlier.phase_before < later.phase_before
                if order == "data before a sync":
                    found = later.sends and (earlier.moves or earlier.flushes) and apart
                elif order == "data behind a sync":
                    found = later.moves and not later.counter and (earlier.waits or earlier.flushes) and apart
                else:
                    found = (earlier.op != later.op and earlier.counter and later.counter
                             and earlier.thread != later.thread
                             and order in losses(earlier, later, run[earlier.op] == run[later.op], relays))
                if found and earlier.phase == later.phase:
                    culprits = [op for op in (later.op, earlier.op) if op in merged and order != "data behind a sync"]
                    culprits += [act.op for act in listed if act.op > earlier.op and run[act.op] == run[earlier.op]
                                 and act.phase_before > earlier.phase_before]
                    if culprits:
                        blamed.setdefault(later.phase, culprits[0])
                    break
    return set(blamed.values())

"""The MSCCL++ DSL with its unsound rules replaced, as the tests of tests/lit/passes/upstream-faults describe them.

The DSL's own code records, fuses, places syncs and prints; only what a rule of RULES names is done here instead.
"""
import contextlib
import copy
import json

from mscclpp.language.internal import buffer_access, gpu, operations, optimizer, threadblock
from mscclpp.language.internal.types import *

import thread_order

RULES = {
    "accumulates": "reduces fuse only where the destination is their first source, and no other source meets it",
    "one source buffer": "puts through memory channels fuse only where their sources lie in one kind of buffer",
    "loop ends": "a pipeline syncs before if it begins so and after if it ends so; its body is fused after a nop too",
    "own accesses": "after a conflict all accesses of the operation count",
    "switch accesses": "switch operations read and write memory",
    "switch in place": "a switch reduce and broadcast fuse only in place, and each index is written as it is",
    "packet reduce": "of a packet reduce the first source is plain and the others are packets; packets are checked",
    "port packets": "a port sends the source of a ppkt as it lies there: packets, which must have been written before",
    "in place": "in place, input and output are one memory",
    "barriers": "the order in which a barrier's blocks are listed makes no other barrier",
    "one shift": "replication shifts every chunk of an operation, and once",
    "one thread": "operations fuse only where that parts nothing that one thread ordered",
}


def record(source, names, rules=()):
    """Returns the DSL's program that `source` records, not yet processed."""
    barrier = operations.BarrierOperation
    barrier._BarrierOperation__current_barriers = []  # else it counts on over programs
    make = barrier.BarrierInfo.__init__
    if "barriers" in rules:
        barrier.BarrierInfo.__init__ = lambda self, blocks: make(self, sorted(blocks))
    try:
        names = dict(names)
        exec(source, names)
    finally:
        barrier.BarrierInfo.__init__ = make
    program = names["program"]
    program.validate_signal_wait_pairing = lambda: None  # random programs have no pairs
    return program


UNAWAITED = "unawaited"  # of packets that an operation reads without waiting for them


class Refused(Exception):
    """Raised if instances would share a chunk."""


class Corrected:
    """Corrects those rules for `program` that `rules` names. plan() may be called only once for a recorded program."""

    def __init__(self, program, rules):
        self.program = program
        self.rules = rules
        self.kept_apart = False  # by the rule "one thread", in some block

    def has(self, rule):
        return rule in self.rules

    # ---- memory
    def place(self, rank, kind, index):
        collective = self.program.collective
        if not self.has("in place") or not collective.inplace or kind == BufferType.scratch:
            return kind, index
        if collective.name == "allgather":
            share = rank * collective.chunk_factor
            return (BufferType.output, share + index) if kind == BufferType.input else (kind, index)
        if collective.name == "reducescatter":
            share = rank * collective.chunk_factor
            return (BufferType.input, share + index) if kind == BufferType.output else (kind, index)
        return BufferType.input, index

    def memory(self, rank, kind, index, size, packet=False):
        """Returns (buffer, first, last + 1). Packets need twice the size of their data."""
        kind, index = self.place(rank, kind, index)
        scale = 2 if packet else 1
        return kind, scale * index, scale * (index + size)

    def chunk(self, rank, chunk, packet=False):
        return self.memory(rank, getattr(chunk, "type", None) or chunk.buffer, chunk.index, chunk.size, packet)

    @staticmethod
    def meet(a, b):
        return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]

    def accesses(self, op, rank):
        """Returns (memory, is a write, is a packet or UNAWAITED) for each chunk of the operation's own rank."""
        name = op.name.value
        if name == "pipeline":
            return [access for inner in op.operations for access in self.accesses(inner, rank)]
        if name in ("glre", "gstore", "gstorepkt", "glres"):
            return self.switch_accesses(op, rank) if self.has("switch accesses") else []
        if isinstance(op, operations.ReduceOperation):
            sources = [(c, op.packet and i > 0) for i, c in enumerate(op.local_src_buff)]
            if not self.has("packet reduce"):
                sources = [(c, False) for i, c in enumerate(op.local_src_buff) if not op.packet or i > 0]
            return ([(self.chunk(rank, c, packet), False, packet) for c, packet in sources]
                    + [(self.chunk(rank, c), True, False) for c in op.local_dst_buff]
                    + [(self.chunk(rank, c, True), True, True) for c in op.local_pkt_dst_buff])
        reads = op.src_buff if name in ("copy", "cpkt", "upkt", "put", "pws", "pwsf", "ppkt", "rppkt") else []
        writes = op.dst_buff if name in ("copy", "cpkt", "upkt", "get") else []
        from_packet, to_packet = name in ("upkt", "rppkt"), name == "cpkt"
        if name == "ppkt" and op.channel_type == ChannelType.port and self.has("port packets"):
            from_packet = UNAWAITED
        return ([(self.chunk(rank, c, from_packet), False, from_packet) for c in reads]
                + [(self.chunk(rank, c, to_packet), True, to_packet) for c in writes])

    def switch_accesses(self, op, rank):
        name = op.name.value
        if name == "glres":
            return ([(self.memory(rank, op.buffer_type, i, op.size), False, False) for i in op.src_index]
                    + [(self.memory(rank, op.buffer_type, i, op.size), True, False) for i in op.dst_index])
        if name == "glre":
            return [(self.memory(rank, op.buffer_type, op.buffer_offset, op.size), False, False),
                    (self.chunk(rank, op.dst_chunk), True, False)]
        packet = name == "gstorepkt"
        return [(self.chunk(rank, op.src_chunk, packet), False, packet),
                (self.memory(rank, op.buffer_type, op.buffer_offset, op.size, packet), True, packet)]

    # ---- sync
    def infer_sync(self, ops, rank):
        record, packets_written = buffer_access.BuffersAccess(), buffer_access.BuffersAccess()
        result = []
        for op in ops:
            if op.name.value in ("nop", "barrier"):
                record.clear_data_access()
                packets_written.clear_data_access()
                result.append(op)
                continue
            if op.name.value == "pipeline":
                op.operations = self.infer_sync(op.operations, rank)
            added = False
            pending, written = [], []
            for memory, write, packet in self.accesses(op, rank):
                access = DataAccess(op.id, memory[1], memory[2] - 1, memory[0],
                                    DataAccessType.write if write else DataAccessType.read)
                if packet and not self.has("packet reduce"):
                    continue
                if self.conflicts(record, access) or (packet == UNAWAITED and self.conflicts(packets_written, access)):
                    added = True
                    record.clear_data_access()
                    packets_written.clear_data_access()
                    if not self.has("own accesses"):
                        pending = []
                if packet and write:
                    written.append(access)
                if not packet:
                    pending.append(access)
                    if not self.has("own accesses"):
                        record.compute_data_access(access)
            if self.has("own accesses"):
                for access in pending:
                    record.compute_data_access(access)
            for access in written:
                packets_written.compute_data_access(access)
            if added:
                result.append(operations.SyncOperation())
            result.append(op)
        return result

    @staticmethod
    def conflicts(record, access):
        return any(access.check_conflict(earlier) for earlier in record.intervals[access.buffer_type])

    # ---- fusion
    def fuse_block(self, ops, device, block):
        if not self.has("one thread"):
            return self.fuse(ops, device.id)

        def remote_memory(op):
            chunk, packet = op.dst_buff[0], op.name.value in ("ppkt", "rppkt")
            remotes = {i: buffer for i, buffer in device.remote_buffers.values()}
            buffer = remotes[block._remote_buffers[op.channel_type].remote_buffer_ids[chunk.buffer_id]]
            return self.memory(buffer.remote_rank, buffer.type, chunk.index, chunk.size, packet)

        thread_order.number(ops)
        self.apart = set()
        while True:
            result = self.fuse(copy.deepcopy(ops), device.id)
            lost = thread_order.lost(ops, result, remote_memory)
            if lost <= self.apart:
                return result
            self.apart |= lost
            self.kept_apart = True

    def fuse(self, ops, rank):
        result = []
        for op in ops:
            if op.name.value == "pipeline" and not result:
                op.operations = self.fuse(op.operations, rank)
            merged = self.merge(result[-1], op, rank) if result else None
            if merged is None:
                if op.name.value == "pipeline" and result:
                    op.operations = self.fuse(op.operations, rank)
                result.append(op)
                continue
            if merged is op and op.name.value == "pipeline" and self.has("loop ends"):
                op.operations = self.fuse(op.operations, rank)
            result[-1] = merged
        return result

    def merge(self, left, right, rank):
        reduces = isinstance(left, operations.ReduceOperation)
        if self.has("accumulates") and reduces and isinstance(right, operations.ReduceOperation):
            into = self.chunk(rank, left.local_dst_buff[0])
            others = left.local_src_buff[1:] + right.local_src_buff[1:]
            if into != self.chunk(rank, left.local_src_buff[0]):
                return None
            if any(self.meet(into, self.chunk(rank, c, left.packet)) for c in others):
                return None
        if self.has("one source buffer") and isinstance(left, operations.PutOperation) and isinstance(right, operations.PutOperation):
            if left.channel_type == ChannelType.memory and left.src_buff[0].type != right.src_buff[0].type:
                return None
        if self.has("switch in place") and isinstance(left, operations.GroupLoadReduce) and isinstance(right, operations.GroupStore):
            if self.chunk(rank, left.dst_chunk) != self.memory(rank, right.buffer_type, right.buffer_offset, right.size):
                return None
        if self.has("one thread") and right.origin in self.apart:
            # As of two that do not fuse, the left one need not sync after what the right one syncs before.
            if operations.check_data_sync_op(left) and right.data_sync & SyncType.before == SyncType.before:
                left.data_sync ^= SyncType.after & left.data_sync
            return None
        result = left + right
        if self.has("one thread") and result is not None:
            thread_order.note_fused(left, right, result)
        return result

    @staticmethod
    def loop_ends(loop):
        result = SyncType.none
        for op, side in ((loop.operations[0], SyncType.before), (loop.operations[-1], SyncType.after)):
            if op.name.value in ("nop", "barrier"):
                result |= side
            elif operations.check_data_sync_op(op):
                result |= op.data_sync & side
        return result

    # ---- replication
    LISTS = ("src_buff", "dst_buff", "local_src_buff", "local_dst_buff", "local_pkt_dst_buff", "remote_src_buff",
             "remote_dst_buff", "src_index", "dst_index")

    def own_chunks(self, ops):
        """Gives each operation its own chunk objects, because several may share one."""
        for op in ops:
            self.own_chunks(getattr(op, "operations", []))
            for name in self.LISTS:
                if hasattr(op, name):
                    setattr(op, name, [copy.copy(c) for c in getattr(op, name)])
            for name in ("src_chunk", "dst_chunk"):
                if hasattr(op, name):
                    setattr(op, name, copy.copy(getattr(op, name)))

    def shift(self, ops, instance, count):
        for op in ops:
            self.shift(getattr(op, "operations", []), instance, count)
            for name in self.LISTS[:-2]:
                for chunk in getattr(op, name, []):
                    chunk.index = chunk.index * count + instance * chunk.size
            for name in ("src_chunk", "dst_chunk"):
                if chunk := getattr(op, name, None):
                    chunk.index = chunk.index * count + instance * op.size
            for name in ("src_index", "dst_index"):
                if hasattr(op, name):
                    setattr(op, name, [i * count + instance * op.size for i in getattr(op, name)])
            if hasattr(op, "buffer_offset"):
                op.buffer_offset = op.buffer_offset * count + instance * op.size

    def check_shared(self):
        """Raises Refused if an instance writes a chunk that another one touches."""
        users = {}
        count = self.program.instances

        def touch(rank, kind, index, size, write, packet):
            kind, index = self.place(rank, kind, index)
            for instance in range(count):
                first = index * count + instance * size
                for chunk in range(first, first + size):
                    users.setdefault((rank, kind, packet, chunk), set()).add((instance, write))

        def visit(op, device, block):
            name = op.name.value
            if name == "pipeline":
                for inner in op.operations:
                    visit(inner, device, block)
                return
            remotes = {i: buffer for i, buffer in device.remote_buffers.values()}

            def local(chunks, write, packet):
                for c in chunks:
                    touch(device.id, c.type, c.index, c.size, write, packet)

            def remote(chunks, write, packet):
                for c in chunks:
                    buffer = remotes[block._remote_buffers[op.channel_type].remote_buffer_ids[c.buffer_id]]
                    touch(buffer.remote_rank, buffer.type, c.index, c.size, write, packet)

            if isinstance(op, operations.ReduceOperation):
                local(op.local_src_buff[:1], False, False)
                local(op.local_src_buff[1:], False, op.packet)
                local(op.local_dst_buff, True, False)
                local(op.local_pkt_dst_buff, True, True)
                remote(op.remote_src_buff, False, False)
                remote(op.remote_dst_buff, True, op.packet)
            elif name in ("copy", "cpkt", "upkt"):
                local(op.src_buff, False, name == "upkt")
                local(op.dst_buff, True, name == "cpkt")
            elif name == "get":
                remote(op.src_buff, False, False)
                local(op.dst_buff, True, False)
            elif name in ("put", "pws", "pwsf", "ppkt", "rppkt"):
                local(op.src_buff, False, name == "rppkt")
                remote(op.dst_buff, True, name in ("ppkt", "rppkt"))
            elif name in ("glre", "gstore", "gstorepkt", "glres"):
                channel = device._nvls_channels[block._channels[ChannelType.switch].channel_ids[op.channel_ids[0]]]
                packet = name == "gstorepkt"
                reads = op.src_index if name == "glres" else [op.buffer_offset] if name == "glre" else []
                writes = op.dst_index if name == "glres" else [op.buffer_offset] if name != "glre" else []
                for rank in channel.rank_groups[0].ranks:
                    for indexes, write in ((reads, False), (writes, True)):
                        for index in indexes:
                            touch(rank, op.buffer_type, index, op.size, write, packet)
                own = op.dst_chunk if name == "glre" else op.src_chunk if name != "glres" else None
                if own:
                    touch(device.id, own.buffer, own.index, own.size, name == "glre", packet)

        for device in self.program.gpus:
            for block in device.threadblocks:
                for op in block.ops:
                    visit(op, device, block)
        for use in users.values():
            if any(write for _, write in use) and len({instance for instance, _ in use}) > 1:
                raise Refused()

    # ---- the plan
    @contextlib.contextmanager
    def patched(self):
        loop, fused, block = operations.PipelineOperation, operations.GroupLoadReduceStore, threadblock.ThreadBlock
        saved = loop.get_data_sync, fused.to_dict, block.shift_buffers
        program = self.program

        def shift_buffers(self_, instance, count, function):
            self.own_chunks(self_.ops)
            if str(program.replication_policy) == "interleaved":
                self.shift(self_.ops, instance, count)

        def to_dict(self_):
            result = saved[1](self_)
            for chunk, index in zip(result["dst_buff"], self_.dst_index):
                chunk["index"] = index
            return result

        if self.has("loop ends"):
            loop.get_data_sync = self.loop_ends
        if self.has("switch in place"):
            fused.to_dict = to_dict
        if self.has("one shift"):
            block.shift_buffers = shift_buffers
        try:
            yield
        finally:
            loop.get_data_sync, fused.to_dict, block.shift_buffers = saved

    def plan(self):
        """Returns the plan. Raises Refused if replication would mix up instances."""
        program = self.program
        interleaved = str(program.replication_policy) == "interleaved"
        with self.patched():
            for device in program.gpus:
                for block in device.threadblocks:
                    self.own_chunks(block.ops)
                    if program.instr_fusion:
                        block.ops = self.fuse_block(block.ops, device, block)
                    block.ops = operations.add_data_sync(block.ops)
                    if program.auto_sync:
                        block.ops = self.infer_sync(block.ops, device.id)
            if program.instances > 1 and interleaved and self.has("one shift"):
                self.check_shared()
            function = (lambda value, size, i, n: value * n + i * size) if interleaved else (lambda value, *_: value)
            for device in program.gpus:
                device.replicate_instances(program.instances, lambda value, i, n: value * n + i, function)
            program.post_process_operations = lambda: None
            return json.loads(program.to_json())

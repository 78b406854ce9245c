"""Random programs, each as C++ of the dialect and as Python of the MSCCL++ DSL, call for call.

usage: random_program.py FOLDER COUNT    writes the C++ of the first COUNT to FOLDER/SEED.cpp
"""
import pathlib
import random
import sys
from typing import NamedTuple

COLLECTIVES = ["AllGather", "AllReduce", "ReduceScatter", "AllToAll", "SendRecv"]
BUFFERS = ["input", "output", "scratch"]
# What the DSL calls by another name.
PYTHON_CALLS = {
    "copyPackets": "copy_packets", "unpackPackets": "unpack_packets", "putPackets": "put_packets",
    "readPutPackets": "read_put_packets", "putWithSignal": "put_with_signal",
    "putWithSignalAndFlush": "put_with_signal_and_flush", "broadcastPackets": "broadcast_packets",
}


class Both(NamedTuple):
    """One thing in both languages."""
    cpp: str
    py: str


def same(text):
    return Both(str(text), str(text))


class Piece(NamedTuple):
    """A chunk: the buffer, where it is (type, rank), its first chunk there and its size."""
    text: Both
    place: tuple
    size: int


class Buffer(NamedTuple):
    text: Both
    place: tuple
    size: int


class Program:
    """The random program of a seed: `cpp` and `py` are its sources."""

    def __init__(self, seed):
        self.seed = seed
        self.r = random.Random(seed)
        self.calls = []
        self.indent = "  "
        self.choose_shape()
        self.declare()
        wanted = self.r.randint(2, 30)
        while len(self.calls) < wanted:
            if self.chance(0.12):
                self.loop()
            else:
                self.some_calls(self.any_rank())
        self.r = random.Random(f"one thread {seed}")  # what stands before stays what it was without these
        for _ in range(self.pick([0, 1, 2, 3])):
            self.one_thread(self.any_rank())
        self.cpp, self.py = self.sources()

    # ---- choices
    def chance(self, p):
        return self.r.random() < p

    def pick(self, items):
        return self.r.choice(items)

    def any_rank(self):
        return self.r.randrange(self.ranks)

    def choose_shape(self):
        r = self.r
        self.ranks = self.pick([1, 2, 2, 2, 3, 3, 4, 5, 8, 16])
        self.kind = self.pick(COLLECTIVES + ["TestCollective"] * 5)
        self.inplace = self.chance(0.5) and self.kind != "TestCollective"
        self.factor = r.randint(1, 5)
        self.test_sizes = r.randint(0, 8), r.randint(1, 16)
        self.instances = self.pick([1] * 5 + [2, 2, 3, 4, 8])
        self.none_policy = self.chance(0.15)
        self.packets = self.chance(0.5)
        self.blocks = self.pick([1, 1, 2, 3, 5])
        self.stride = self.pick([1, 1, 1, 3])  # block ids with gaps
        # The size of all chunks, or 0 for any; replication wants one size.
        self.grain = self.pick([1, 1, 2, 3]) if self.instances > 1 and self.chance(0.85) else self.pick([0, 0, 1, 2])
        options = {
            "instances": (self.instances, 1),
            "protocol": ("LL" if self.packets and self.chance(0.8) or self.chance(0.1) else "Simple", "Simple"),
            "fuse": (not self.chance(0.1), True),
            "autoSync": (not self.chance(0.1), True),
            "replication": ("None" if self.none_policy else "Interleaved", "Interleaved"),
            "reuseResources": (self.chance(0.2), False),
            "threadsPerBlock": (self.pick([1024, 512, 256, 96]), 1024),
            "doubleScratch": (self.chance(0.2), False),
            "bufferAlignment": (self.pick([16, 16, 32, 128]), 16),
            "minMessageSize": (self.pick([0, 0, 1024, 1 << 20]), 0),
            "maxMessageSize": (self.pick([2**64 - 1, 2**64 - 1, 1 << 20, 1 << 30, 5 << 30]), 2**64 - 1),
        }
        # What is the default may be left away.
        self.options = {name: value for name, (value, default) in options.items() if value != default or self.chance(0.5)}
        # Half of the programs keep clear of most of what the DSL gets wrong, so that its own plan is the one to equal.
        self.careful = self.chance(0.5)
        self.name = self.pick(["random", "p%d" % self.seed, "a name", "tab\\tquote\\\"back\\\\slash", "gr\u00f6\u00dfe"])

    def declare(self):
        r, n, f = self.r, self.ranks, self.factor
        sizes = {"AllGather": (f, n * f), "ReduceScatter": (n * f, f), "SendRecv": (f, f)}.get(self.kind, (n * f, n * f))
        if self.kind == "TestCollective":
            sizes = self.test_sizes
        self.buffers = {}
        for q in range(n):
            self.buffers[q] = [Buffer(Both(f"in[{q}]", f"inp[{q}]"), ("input", q), sizes[0]),
                               Buffer(same(f"out[{q}]"), ("output", q), sizes[1])]
        self.scratch = []  # (rank, size) in order of construction
        self.scratch_size = dict.fromkeys(range(n), 0)
        for _ in range(r.randint(0, 2) + self.packets):
            for q in r.sample(range(n), n if self.packets else r.randint(1, n)):
                size = r.randint(1, 6) if not self.grain else self.grain * r.randint(1, 4)
                self.buffers[q].append(Buffer(same(f"s[{len(self.scratch)}]"), ("scratch", q), size))
                self.scratch.append((q, size))
                self.scratch_size[q] += size
        self.channels = {"m": [], "p": []}  # (destination, source)
        pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
        for _ in range(2):
            for kind in r.sample(["m", "p"], 2):
                for pair in r.sample(pairs, len(pairs)):
                    if self.chance(0.8 if kind == "m" else 0.4):
                        self.channels[kind].append(pair)
        self.semaphores = [(q, r.randint(0, 2)) for q in range(n) for _ in range(r.randint(0, 3))]
        self.switches = []
        for _ in range(r.randint(0, 2) if n > 1 else 0):
            self.switches.append((r.sample(range(n), r.randint(1, n)), self.pick(BUFFERS)))
        self.groups = []
        for _ in range(r.randint(0, 2)):
            self.groups.append([self.stride * b for b in r.sample(range(self.blocks + 1), r.randint(1, self.blocks + 1))])

    # ---- parts of calls
    def piece_at(self, buffer, first, size):
        last = first + size
        cpp = f"{buffer.text.cpp}.slice({first}, {last})"
        if size == 1 and self.chance(0.7):
            cpp = f"{buffer.text.cpp}[{first}]"
        elif last == buffer.size and self.chance(0.5):
            cpp = f"{buffer.text.cpp}.slice({first})"
        return Piece(Both(cpp, f"{buffer.text.py}[{first}:{last}]"), buffer.place, size)

    def piece(self, rank, size=None, only=None):
        """Returns a chunk of `rank`, of `size` and in a buffer of the type `only` if these are given; None if there is
        none."""
        buffers = [b for b in self.buffers[rank] if (only is None or b.place[0] == only) and b.size >= (size or self.grain or 1)]
        if not buffers:
            return None
        buffer = self.pick(buffers)
        if size is None:
            size = self.grain or self.r.randint(1, min(self.pick([1, 2, 3, 3, 20]), buffer.size))
        step = self.grain or 1
        return self.piece_at(buffer, self.r.randrange(0, buffer.size - size + 1) // step * step, size)

    def on(self, one=False):
        if self.groups and not one and self.chance(0.2):
            g = self.r.randrange(len(self.groups))
            if self.chance(0.5):
                text = ", ".join(map(str, self.groups[g]))
                return Both(f"ThreadBlockGroup({{{text}}})", f"tb_group=ThreadBlockGroup([{text}])")
            return Both(f"g[{g}]", f"tb_group=g[{g}]")
        block = self.stride * self.r.randrange(self.blocks)
        return Both(f"tb({block})", f"tb={block}")

    def channel(self, rank, kind="m"):
        """A channel of `rank` and the other end, or None."""
        mine = [i for i, (_, src) in enumerate(self.channels[kind]) if src == rank]
        if not mine:
            return None
        i = self.pick(mine)
        return same(f"{kind}[{i}]"), self.channels[kind][i][0]

    def sync(self):
        """A value of Sync, or None for the default."""
        return self.pick([None, "None", "Before", "After", "Both"])

    def call(self, target, name, arguments):
        python = PYTHON_CALLS.get(name, name)
        cpp = f"{target.cpp}.{name}"
        if target.cpp.startswith("Rank(") and name != "barrier" and self.chance(0.3):
            cpp = name  # a function says the same
        self.calls.append(Both(f"{self.indent}{cpp}({', '.join(a.cpp for a in arguments if a.cpp)});",
                               f"{self.indent}{target.py}.{python}({', '.join(a.py for a in arguments if a.py)})"))

    def rank_object(self, rank):
        return same(f"Rank({rank})")

    # ---- calls
    def loop(self):
        unit, chunks = 1 << self.r.randint(4, 20), self.r.randint(1, 3)
        opening, closing = self.pick([(f"{{ PipelineLoop loop({unit}, {chunks});", "}"), (f"pipeline({unit}, {chunks}, [&] {{", "});")])
        self.calls.append(Both("  " + opening, f"  with LoopIterationContext({unit}, {chunks}):"))
        before = len(self.calls)
        self.indent = "    "
        for _ in range(self.r.randint(1, 4)):
            self.some_calls(self.any_rank())
        self.indent = "  "
        if len(self.calls) == before:
            self.calls.pop()
        else:
            self.calls.append(Both("  " + closing, ""))

    def some_calls(self, rank):
        kinds = [self.signals] * 5 + [self.copies] * 3 + [self.puts] * 3 + [self.gets] + [self.reduces] * 3
        kinds += [self.read_reduces] * 2 + [self.barrier] * 3 + [self.semaphore] * 3 + [self.port_puts] * 2 + [self.switch] * 2
        if self.packets:
            kinds += [self.packet_moves] * 4 + [self.packet_reduce] * 4
        self.pick(kinds)(rank)

    def times(self):
        return self.pick([1, 1, 2, 3, 5])

    def signals(self, rank):
        name = self.pick(["signal", "wait"])
        port, relaxed, on = self.chance(0.25), self.chance(0.4), self.on(one=True)
        if port and self.chance(0.3):
            name = "flush"
        for _ in range(self.times()):
            found = self.channel(rank, "p" if port else "m")
            if not found:
                return
            sync = self.sync()
            cpp, py = [], []
            if sync:
                cpp.append(f".sync = Sync::{sync}")
                py.append(f"data_sync=SyncType.{sync.lower()}")
            if relaxed and not port:
                cpp.append(".relaxed = true")
                py.append("relaxed=True")
            options = Both("{" + ", ".join(cpp) + "}" if cpp else "", ", ".join(py))
            self.call(found[0], name, [on, options])
            if self.chance(0.1):
                relaxed = not relaxed

    def one_thread(self, rank):
        """Adds a run of single-thread operations to a block, on few channels and mostly without sync. Only the order of
        one thread orders them."""
        on = self.on(one=True)
        ports, memories = ([i for i, (_, src) in enumerate(self.channels[kind]) if src == rank] for kind in "pm")
        ports, memories = (self.r.sample(found, min(2, len(found))) for found in (ports, memories))
        semaphores = [i for i, (q, _) in enumerate(self.semaphores) if q == rank][:2]
        puts = ["put", "putWithSignal", "putWithSignalAndFlush"] + ["putPackets", "readPutPackets"] * self.packets
        looped = self.chance(0.25)
        if looped:
            self.calls.append(Both("  pipeline(64, 2, [&] {", "  with LoopIterationContext(64, 2):"))
            self.indent = "    "
        before = len(self.calls)
        for _ in range(self.r.randint(2, 8)):
            kind, name = self.pick([("p", self.pick(puts)), ("p", "signal"), ("p", self.pick(["wait", "flush"])),
                                    ("m", "signal"), ("m", "signal"), ("m", "wait"), ("sem", self.pick(["acquire", "release"]))])
            targets = {"p": ports, "m": memories, "sem": semaphores}[kind]
            for _ in range(self.pick([1, 2, 2, 3]) if targets else 0):
                i = self.pick(targets)
                if name in puts:
                    only = "scratch" if "Packets" in name else None
                    src = self.piece(rank, self.grain or 1, only)
                    dst = src and self.piece(self.channels["p"][i][0], src.size, only)
                    if dst:
                        self.call(same(f"p[{i}]"), name, [dst.text, src.text, on])
                    continue
                sync = self.pick(["None"] * 6 + ["Before", "After", "Both"])
                if kind == "sem":
                    options = Both(f"Sync::{sync}", f"data_sync=SyncType.{sync.lower()}")
                else:
                    relaxed = kind == "m" and self.chance(0.3)
                    options = Both(f"{{.sync = Sync::{sync}{', .relaxed = true' if relaxed else ''}}}",
                                   f"data_sync=SyncType.{sync.lower()}{', relaxed=True' if relaxed else ''}")
                self.call(same(f"{kind}[{i}]"), name, [on, options])
        self.indent = "  "
        if looped and len(self.calls) == before:
            self.calls.pop()
        elif looped:
            self.calls.append(Both("  });", ""))

    def semaphore(self, rank):
        mine = [i for i, (q, _) in enumerate(self.semaphores) if q == rank]
        name, on = self.pick(["acquire", "release"]), self.on(one=True)
        for _ in range(self.times() if mine else 0):
            i, sync = self.pick(mine), self.sync()
            options = Both(f"Sync::{sync}", f"data_sync=SyncType.{sync.lower()}") if sync else Both("", "")
            self.call(same(f"sem[{i}]"), name, [on, options])

    def barrier(self, rank):
        blocks = self.r.sample(range(self.blocks), self.pick([1, self.blocks]))
        if self.careful:
            blocks.sort()
        text = ", ".join(str(self.stride * b) for b in blocks)
        self.call(self.rank_object(rank), "barrier", [Both(f"{{{text}}}", f"[{text}]")])

    def copies(self, rank):
        on = self.on()
        for _ in range(self.pick([1, 1, 2])):
            dst = self.piece(rank)
            src = dst and self.piece(rank, dst.size)
            if src:
                self.call(self.rank_object(rank), "copy", [dst.text, src.text, on])

    def puts(self, rank):
        on, src = self.on(), self.piece(rank)
        only = self.pick([None, None, "input", "scratch"])
        for _ in range(self.times() if src else 0):
            found = self.channel(rank)
            dst = found and self.piece(found[1], src.size)
            if not dst:
                return
            self.call(found[0], "put", [dst.text, src.text, on])
            if self.chance(0.5):
                src = self.piece(rank, src.size, src.place[0] if self.careful else only) or src

    def gets(self, rank):
        on, dst = self.on(), self.piece(rank)
        for _ in range(self.times() if dst else 0):
            found = self.channel(rank)
            src = found and self.piece(found[1], dst.size)
            if not src:
                return
            self.call(found[0], "get", [dst.text, src.text, on])
            dst = self.piece(rank, dst.size) or dst

    def port_puts(self, rank):
        name = self.pick(["put", "putWithSignal", "putWithSignalAndFlush"] + ["putPackets", "readPutPackets"] * self.packets)
        only = "scratch" if "Packets" in name else None
        on = self.on(one=name != "readPutPackets")
        src = self.piece(rank, only=only)
        for _ in range(self.times() if src else 0):
            found = self.channel(rank, "p")
            dst = found and self.piece(found[1], src.size, only)
            if not dst:
                return
            self.call(found[0], name, [dst.text, src.text, on])
            if self.chance(0.5) and name != "readPutPackets":
                src = self.piece(rank, src.size, only)

    def reduce_options(self, dst, src, packet=False, python_dst="dst_chunk"):
        op = self.pick(["Sum"] * 6 + ["Min", "Max"])
        cpp, py = [], []
        if dst is not src or self.chance(0.3):
            cpp.append(f".dst = {dst.text.cpp}")
            py.append(f"{python_dst}={dst.text.py}")
        if op != "Sum":
            cpp.append(f".op = ReduceOp::{op}")
            py.append(f"reduce_op=ReduceOperationType.{op.lower()}")
        if packet:
            cpp.append(".packet = true")
            py.append("packet=True")
        return Both("{" + ", ".join(cpp) + "}" if cpp else "", ", ".join(py))

    def reduce_pieces(self, rank, size, only=None, apart=None):
        """Returns a list of chunks to reduce. In a careful program they are in other buffers than `apart`."""
        pieces = [self.piece(rank, size, only) for _ in range(self.pick([1, 1, 2, 3, 9]))]
        if apart and self.careful:
            pieces = [p for p in pieces if p and p.place != apart.place] or pieces[:1]
        if None in pieces:
            return None
        return Both("{" + ", ".join(p.text.cpp for p in pieces) + "}", "[" + ", ".join(p.text.py for p in pieces) + "]")

    def result_of(self, rank, src):
        return src if self.careful or self.chance(0.7) else self.piece(rank, src.size) or src

    def send_on(self, rank, dst, on, name="put", only=None):
        """Adds puts, mostly of a result, which fuse with the operation that made it."""
        for _ in range(self.pick([0, 0, 1, 2, 3])):
            found = self.channel(rank)
            to = found and self.piece(found[1], dst.size, only)
            if to:
                other = self.piece(rank, dst.size, "scratch" if name == "readPutPackets" else None)
                self.call(found[0], name, [to.text, (dst if self.chance(0.9) else other).text, on])

    def reduces(self, rank):
        src, on = self.piece(rank), self.on()
        if not src:
            return
        dst = self.result_of(rank, src)
        options = self.reduce_options(dst, src)
        for _ in range(self.pick([1, 1, 2, 3])):
            self.call(self.rank_object(rank), "reduce", [src.text, self.reduce_pieces(rank, src.size, apart=src), on, options])
            if self.chance(0.1):
                options = self.reduce_options(dst, src)
        self.send_on(rank, dst, on)

    def read_reduces(self, rank):
        src, on = self.piece(rank), self.on()
        if not src:
            return
        dst = self.result_of(rank, src)
        options = self.reduce_options(dst, src, python_dst="local_dst_chunk")
        for _ in range(self.pick([1, 1, 2, 3])):
            found = self.channel(rank)
            remotes = found and self.reduce_pieces(found[1], src.size)
            if not remotes:
                return
            self.call(found[0], "reduce", [src.text, remotes, on, options])
        self.send_on(rank, dst, on)

    def packet_moves(self, rank):
        on, plain = self.on(), self.piece(rank)
        packet = plain and self.piece(rank, plain.size, "scratch")
        if not packet:
            return
        name = self.pick(["copyPackets", "unpackPackets", "putPackets", "readPutPackets"])
        if name == "copyPackets":
            self.call(self.rank_object(rank), name, [packet.text, plain.text, on])
        elif name == "unpackPackets":
            self.call(self.rank_object(rank), name, [plain.text, packet.text, on])
        else:
            for _ in range(self.times()):
                found = self.channel(rank)
                dst = found and self.piece(found[1], plain.size, "scratch")
                if dst:
                    self.call(found[0], name, [dst.text, (packet if name == "readPutPackets" else plain).text, on])

    def packet_reduce(self, rank):
        src, on = self.piece(rank), self.on()
        if not src or not self.piece(rank, src.size, "scratch"):
            return
        dst = self.result_of(rank, src)
        options = self.reduce_options(dst, src, packet=True)
        for _ in range(self.pick([1, 1, 2])):
            self.call(self.rank_object(rank), "reduce", [src.text, self.reduce_pieces(rank, src.size, "scratch", src), on, options])
        copy = None
        if self.chance(0.4):
            copy = self.piece(rank, src.size, "scratch")
            self.call(self.rank_object(rank), "copyPackets", [copy.text, dst.text, on])
        if copy and self.chance(0.5):
            self.send_on(rank, copy, on, "readPutPackets", "scratch")
        else:
            self.send_on(rank, dst, on, "putPackets", "scratch")

    def switch(self, rank):
        mine = [i for i, (ranks, _) in enumerate(self.switches) if rank in ranks]
        chunk = self.piece(rank)
        if not mine or not chunk:
            return
        i = self.pick(mine)
        ranks, kind = self.switches[i]
        if kind == "scratch":
            size = min(self.scratch_size[q] for q in ranks)
        else:
            size = self.buffers[rank][BUFFERS.index(kind)].size
        if size < chunk.size:
            return
        step = self.grain or 1
        first = self.r.randrange(0, size - chunk.size + 1) // step * step
        second = first if self.chance(0.7) else self.r.randrange(0, size - chunk.size + 1) // step * step
        if kind != "scratch" and self.chance(0.5):  # the broadcast's own place: reduce and broadcast fuse
            chunk = self.piece_at(self.buffers[rank][BUFFERS.index(kind)], second, chunk.size)
        target, on = Both(f"sw[{i}].atRank({rank})", f"sw[{i}].at_rank({rank})"), self.on(one=True)
        what = self.pick(["reduce", "broadcast", "both", "both", "packets"])
        op = self.pick(["Sum", "Sum", "Max"])
        if what in ("reduce", "both"):
            operation = Both("" if op == "Sum" else f"ReduceOp::{op}", "" if op == "Sum" else f"reduce_op=ReduceOperationType.{op.lower()}")
            self.call(target, "reduce", [same(first), same(chunk.size), chunk.text, on, operation])
        if what in ("broadcast", "both"):
            self.call(target, "broadcast", [chunk.text, same(second), same(chunk.size), on])
        if what == "packets" and kind == "scratch" and self.packets:
            src = self.piece(rank, chunk.size, "scratch")
            if src:
                self.call(target, "broadcastPackets", [src.text, same(first), same(src.size), on])

    # ---- sources
    def sources(self):
        n = self.ranks
        if self.kind == "TestCollective":
            arguments = same(f"{n}, {self.test_sizes[0]}, {self.test_sizes[1]}")
        else:
            arguments = Both(f"{n}, {self.factor}, {str(self.inplace).lower()}", f"{n}, {self.factor}, {self.inplace}")
        cpp = ["#include <mscclc/dsl.hpp>", "using namespace mscclc;", "", "MSCCLC_ALGORITHM void program() {",
               f'  CollectiveProgram program("{self.name}", {self.kind}({arguments.cpp}), {{{self.cpp_options()}}});']
        py = [f'with CollectiveProgram("{self.name}", {self.kind}({arguments.py}), {n}{self.python_options()}) as program:']

        def array(kind, name, cpp_items, py_items=None):
            if cpp_items:
                cpp.append(f"  {kind} {name}[] = {{{', '.join(f'{kind}({i})' for i in cpp_items)}}};")
                py.append(f"  {name} = [{', '.join(f'{kind}({i})' for i in py_items or cpp_items)}]")

        for name, python_name, buffer in (("in", "inp", "input"), ("out", "out", "output")):
            cpp.append(f"  Buffer {name}[] = {{{', '.join(f'Rank({q}).{buffer}()' for q in range(n))}}};")
            py.append(f"  {python_name} = [Rank(q).get_{buffer}_buffer() for q in range({n})]")
        array("Buffer", "s", [f"{q}, {size}" for q, size in self.scratch])
        array("MemoryChannel", "m", [f"{dst}, {src}" for dst, src in self.channels["m"]])
        array("PortChannel", "p", [f"{dst}, {src}" for dst, src in self.channels["p"]])
        array("Semaphore", "sem", [f"{q}, {value}" for q, value in self.semaphores])
        listed = [", ".join(map(str, ranks)) for ranks, _ in self.switches]
        array("SwitchChannel", "sw", [f"{{{text}}}, BufferType::{kind.capitalize()}" for text, (_, kind) in zip(listed, self.switches)],
              [f"[{text}], BufferType.{kind}" for text, (_, kind) in zip(listed, self.switches)])
        listed = [", ".join(map(str, group)) for group in self.groups]
        array("ThreadBlockGroup", "g", [f"{{{text}}}" for text in listed], [f"[{text}]" for text in listed])
        cpp += [call.cpp for call in self.calls] + ["}", ""]
        py += [call.py for call in self.calls if call.py] + [""]
        return "\n".join(cpp), "\n".join(py)

    def cpp_options(self):
        def value(name, given):
            if name == "protocol":
                return f"Protocol::{given}"
            if name == "replication":
                return f"Replication::{given}"
            return str(given).lower() if isinstance(given, bool) else f"{given}u" if given > 2**63 else str(given)
        return ", ".join(f".{name} = {value(name, given)}" for name, given in self.options.items())

    def python_options(self):
        names = {"fuse": "instr_fusion", "autoSync": "auto_sync", "replication": "replication_policy",
                 "reuseResources": "reuse_resources", "threadsPerBlock": "num_threads_per_block",
                 "doubleScratch": "use_double_scratch_buffer", "bufferAlignment": "buffer_alignment",
                 "minMessageSize": "min_message_size", "maxMessageSize": "max_message_size"}

        def value(name, given):
            if name == "protocol":
                return f'"{given}"'
            return f"ReplicationPolicy.{given.lower()}" if name == "replication" else str(given)
        return "".join(f", {names.get(name, name)}={value(name, given)}" for name, given in self.options.items())


if __name__ == "__main__":
    for seed in range(1, int(sys.argv[2]) + 1):
        (pathlib.Path(sys.argv[1]) / f"{seed}.cpp").write_text(Program(seed).cpp, "utf-8")

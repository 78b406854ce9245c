#!/usr/bin/env python3
"""Weakens kernels, a piece of synchronisation at a time, and runs them on the PTX machine: mutants.py [--quick]
[--build DIR]. A piece is one of the device headers (MUTANTS), or a statement of an emitted kernel (EMITTED). Each mutant
has to be found (killed), or it is said why it need not be. So have programs that the proof refuses. Exits with 1 where one that has to be found survives, or one
that need not be is found. With --quick, a few of each kind."""
import argparse
import dataclasses
import pathlib
import re
import shutil
import sys

import kernels_on_cpu


@dataclasses.dataclass
class Mutant:
    name: str
    file: str      # in device/
    old: str       # text that stands there once
    new: str
    program: str   # a sample, or a plan, whose kernel shows it
    survives: str = ""  # why it need not be found
    quick: bool = False
    staging: bool = False
    bits: str = ""      # the order of sums whose bits the results must have
    instances: str = ""  # of launches, by size


PLATFORM = "cuda_platform.cuh"
RING, PACKETS = "samples/allreduce_ring.cpp", "samples/allreduce_packets.cpp"
SWITCH, COPIED_SWITCH = "samples/auto/allreduce_nvls.cpp", "tests/ptx/copied_nvls.cpp"
PORTS = "samples/allgather_hierarchical.cpp"
HOOKS = "tests/cuda/hooks.cpp"
WIRE, WIRE_PACKETS = "samples/auto/allreduce_quantized.cpp", "tests/ptx/wire_packets.cpp"
LAMPORT, LAMPORT_BITS = "tests/ptx/lamport.cpp", "((0+1)+2)+3 with -0.0 as +0.0"
PADDED, PACKED = "samples/auto/alltoallv_padded.cpp", "samples/auto/alltoallv_packed.cpp"
DISPATCH, COMBINE = "samples/auto/moe_dispatch.cpp", "samples/auto/moe_combine.cpp"
SPLIT = "tests/ptx/split_dispatch.cpp"
HANDED_OVER, TAKEN = "tests/ptx/ready_dispatch.cpp", "tests/ptx/ready_combine.cpp"
ONCE = "tests/ptx/once_dispatch.cpp"
MANY_CHANNELS = "tests/ptx/many_channels.cpp"
BARRIERS = "tests/conformance/plans/single_node/allgather_tbg.json"
INSTANCES = kernels_on_cpu.INSTANCES
# Words that a kernel shares with the host have no mutants but two, of the request in port.cuh. The machine has no reads
# of the host: of what a kernel writes for it, it checks that the word that announces a record releases it (memory.h).
# - fifo.tail, read by acquire: orders the proxy's read of a slot before the slot is filled again. On the machine the host
#   orders its own accesses, and the queue of 512 requests does not wrap around in a test.
# - fifo.head[1], the tail that was seen last: releases and acquires what the acquire of fifo.tail has ordered, so it can
#   be seen to be weak only where that can.
# - signals of a proxy, flushes_done: read by the acquire of "wait that does not acquire".
# - status.abort: one word that announces nothing; whoever reads it late only waits longer. The read is relaxed; on the
#   machine no wait of a test takes so long that it looks.
# - status.stalls: written where a wait takes too long or launches overlap, which no test of the machine does. storeHost
#   releases; a stall without that would be a finding.
MUTANTS = [
    Mutant("signal without its fence", PLATFORM,
           'if constexpr (Release)\n    asm volatile("fence.acq_rel.sys;" ::: "memory");', "", RING, quick=True),
    Mutant("signal with a fence of the device", PLATFORM,
           'if constexpr (Release)\n    asm volatile("fence.acq_rel.sys;"',
           'if constexpr (Release)\n    asm volatile("fence.acq_rel.gpu;"', RING),
    Mutant("signal of the device's scope", PLATFORM, "red.relaxed.sys.global.add.u64", "red.relaxed.gpu.global.add.u64",
           RING),
    Mutant("wait that does not acquire", PLATFORM, "ld.acquire.sys.global.u64", "ld.relaxed.sys.global.u64",
           RING, quick=True),
    Mutant("wait of the device's scope", PLATFORM, "ld.acquire.sys.global.u64", "ld.acquire.gpu.global.u64",
           RING),
    Mutant("block-wide sync that syncs nothing", PLATFORM, "__syncthreads();", "", RING, quick=True),
    Mutant("barrier arrival that does not release", PLATFORM, "atom.acq_rel.gpu.global.add.u64",
           "atom.acquire.gpu.global.add.u64", BARRIERS),
    Mutant("barrier wait that does not acquire", PLATFORM, "ld.acquire.gpu.global.u64", "ld.relaxed.gpu.global.u64",
           BARRIERS),
    Mutant("kernel that does not wait for the earlier one", PLATFORM, 'asm volatile("griddepcontrol.wait;" ::: "memory");',
           "", RING, quick=True),
    Mutant("counts of launches read before the earlier kernel has ended", "begin.cuh",
           "  awaitEarlierKernel();\n  uint64_t *const count = &args.launches[blockId()];",
           "  uint64_t *const count = &args.launches[blockId()];\n  loadRelaxed(count);\n  awaitEarlierKernel();", RING),
    Mutant("semaphore release that does not release", PLATFORM, "red.release.gpu.global.add.u32",
           "red.relaxed.gpu.global.add.u32", RING, quick=True),
    Mutant("semaphore acquire that does not acquire", PLATFORM, "atom.acquire.gpu.global.cas.b32",
           "atom.relaxed.gpu.global.cas.b32", RING,
           survives="the load that saw the value before has acquired already"),
    Mutant("semaphore look that does not acquire", PLATFORM, "ld.acquire.gpu.global.u32", "ld.relaxed.gpu.global.u32",
           RING, survives="the compare-and-swap behind it acquires"),
    Mutant("packets as plain stores", PLATFORM, "st.relaxed.sys.global.b64", "st.global.b64", PACKETS),
    Mutant("packets of the device's scope", PLATFORM, "st.relaxed.sys.global.b64", "st.relaxed.gpu.global.b64",
           PACKETS),
    Mutant("packets as plain loads", PLATFORM, "ld.relaxed.sys.global.b64", "ld.global.b64", PACKETS),
    Mutant("long packets as plain stores", PLATFORM, "st.relaxed.sys.global.v2.b64", "st.global.v2.b64",
           PACKETS),
    Mutant("Lamport packets that are not cleared", "packets.cuh", "storeWords16(part + slot * stride + at, {});",
           "static_cast<void>(part);", LAMPORT, quick=True),
    Mutant("Lamport packets cleared for the next launch", "packets.cuh", "(k.launch + 2) % scratchParts<Plan>",
           "(k.launch + 1) % scratchParts<Plan>", LAMPORT),
    Mutant("Lamport packets cleared in the part in use", "packets.cuh", "(k.launch + 2) % scratchParts<Plan>",
           "k.launch % scratchParts<Plan>", LAMPORT),
    Mutant("Lamport packets in two parts", "layout.cuh", "HasLamportPackets<Plan>::value ? 3", "HasLamportPackets<Plan>::value ? 2",
           LAMPORT),
    Mutant("Lamport packets cleared as far as this launch's", "packets.cuh", "&lengths[(k.launch + 1) % 2]",
           "&lengths[k.launch % 2]", LAMPORT),
    Mutant("Lamport packets of which the first word is looked at", "packets.cuh", "return first != 0 && second != 0;",
           "return first != 0;", LAMPORT),
    Mutant("Lamport packets with -0.0 as it is", "packets.cuh", " | (~((words.w[i] & ~signs) + ~signs) & signs)", "", LAMPORT,
           bits=LAMPORT_BITS),
    Mutant("staging without its fence", "staging.cuh", "  syncBlock();\n  fenceSystem();", "  syncBlock();",
           "samples/reducescatter_allpairs.cpp", quick=True, staging=True),
    Mutant("staging with a fence of the device", PLATFORM,
           'void fenceSystem() {\n  asm volatile("fence.acq_rel.sys;"', 'void fenceSystem() {\n  asm volatile("fence.acq_rel.gpu;"',
           "samples/reducescatter_allpairs.cpp", staging=True),
    Mutant("staging without the sync before its fence", "staging.cuh", "  syncBlock();\n  fenceSystem();",
           "  fenceSystem();", "samples/allreduce_nvls.cpp", staging=True),
    Mutant("staging whose blocks do not meet before", "staging.cuh", "meetForStaging(args, 0, weight);", "", RING, staging=True),
    Mutant("staging whose blocks do not meet behind", "staging.cuh", "meetForStaging(args, 1, weight);", "", RING, staging=True),
    Mutant("staging whose threads do not meet first", "staging.cuh",
           "unsigned weight) {\n  syncBlock();", "unsigned weight) {", RING, staging=True),
    Mutant("waits of a multicast kernel that fence no aliases", "sync.cuh",
           "if constexpr ((K::Plan::flags & MSCCLC_USES_MULTICAST) != 0)\n    fenceAliases();", "", COPIED_SWITCH, quick=True),
    Mutant("no fence of aliases at all", PLATFORM, 'asm volatile("fence.proxy.alias;" ::: "memory");', "", SWITCH),
    Mutant("request that is not released to the proxy", "port.cuh", "storeRelease(&slot->sequence, number + 1);",
           "storeRelaxed(&slot->sequence, number + 1);", PORTS, quick=True),
    Mutant("request that is released to the device only", PLATFORM, "st.release.sys.global.u64",
           "st.release.gpu.global.u64", PORTS),
    Mutant("multicast reductions that are weak", "switch.cuh", "multimem.ld_reduce.relaxed.sys.global.add.v4.f32",
           "multimem.ld_reduce.weak.global.add.v4.f32", SWITCH,
           survives="signals order the data: only packets and counters have to be strong"),
    Mutant("multicast stores that are weak", "switch.cuh", "multimem.st.relaxed.sys.global.v4.f32",
           "multimem.st.weak.global.v4.f32", SWITCH,
           survives="signals order the data: only packets and counters have to be strong"),
    Mutant("partial results that are joined before all are there", "../hooks.cuh",
           "detail::syncBlock();\n    const bool twice", "const bool twice", HOOKS, quick=True),
    Mutant("joined results that are read before all are there", "../hooks.cuh",
           "join<How>(i, 1);\n      detail::syncBlock();", "join<How>(i, 1);", HOOKS),
    Mutant("partial results that replace some that are read", "../hooks.cuh",
           "detail::syncBlock(); // before `results` is written again", "", HOOKS),
    Mutant("scales that are read before they are there", "../wire.cuh", "if (inScratch)\n    syncBlock();", "", WIRE,
           quick=True),
    Mutant("scales that replace some that are read", "../wire.cuh",
           "if (inScratch && isMoved) // an operation that encodes synchronises in combine(), before it writes\n"
           "    syncBlock();", "", WIRE,
           survives="the sample moves scales to other ranks alone, whose reads are ordered by signals"),
    Mutant("packets of values without that of their scale", "../wire.cuh", "return p < words ? p : toScale;", "return 0;",
           WIRE_PACKETS, quick=True),
    Mutant("own contributions that are not quantised", "../wire.cuh",
           "startSum(acc, place, Octet::of(own, ownScale).values())", "startSum(acc, place, own)", WIRE_PACKETS),
    Mutant("sums that their rank does not keep as it sends them", "../wire.cuh", "if (hasPackets && encodes)",
           "if (false)", WIRE_PACKETS),
    Mutant("counts in one table for all launches", "counts.cuh", "static_cast<uint32_t>(k.launch % 2)", "uint32_t{0}", PACKED,
           quick=True),
    Mutant("rows of counts that are read before they have come", "counts.cuh", "return first == flag; }", "return true; }",
           PACKED, quick=True),
    Mutant("counts that are read before they have come", "counts.cuh", "return first == flag && second == flag;",
           "return true;", PADDED),
    Mutant("launches that end before all counts have come", "counts.cuh",
           "const Received received = awaitReceived(k, other, self);",
           "const Sent sent = sentTo(k, other);\n    const Received received{sent.begin, sent.rows, sent.isCut};", PACKED, quick=True),
    Mutant("slots of scratch by the instances of a launch", "kernel.cuh", "scratchAt + number(k)",
           "scratchAt + (k * layout.instances + layout.instance)", PACKETS, quick=True, instances=INSTANCES),
    Mutant("channels by the instances of a launch", "kernel.cuh", "parameters.channels[index]",
           "parameters.channels[(index - layout.instance) / mostInstances<Plan> * layout.instances + layout.instance]", RING,
           instances=INSTANCES),
    Mutant("channels of the table as far as those among parameters", "kernel.cuh", "return args.memory_channels[index];",
           "return args.memory_channels[index % MSCCLC_PARAMETER_CHANNELS];", MANY_CHANNELS, quick=True),
    Mutant("staging whose blocks count as one", "staging.cuh", "blockCount() * weight, weight);",
           "blockCount(), 1);", RING, quick=True, staging=True, instances=INSTANCES),
    Mutant("counts as plain stores", PLATFORM, "st.relaxed.sys.global.v2.b64", "st.global.v2.b64", PACKED),
    Mutant("entries that are used before all are counted", "experts.cuh", "[](uint32_t) { return true; });\n  meetAll(w.args, 0);",
           "[](uint32_t) { return true; });", DISPATCH, quick=True),
    Mutant("rows that are sent before all are packed", "experts.cuh",
           "  meetForStaging(w.args, 0, 1);\n  if (w.thread == 0)\n    launchBegins",
           "  if (w.thread == 0)\n    launchBegins",
           DISPATCH),
    Mutant("rows that are unpacked before all have come", "experts.cuh", "  meetAll(w.args, 1);\n  if", "  if", COMBINE),
    Mutant("payloads that all begin a row", "experts.cuh", "    begin += payload.bytes;\n", "", DISPATCH, quick=True),
    Mutant("groups that are not aligned", "experts.cuh", "(rows + align - 1) / align * align", "rows", DISPATCH, quick=True),
    Mutant("groups without rows that take none", "experts.cuh", "rows == 0 && align != 1 ? align :", "", DISPATCH),
    Mutant("blocks of rows that are announced without release", PLATFORM, "st.release.gpu.global.u32",
           "st.relaxed.gpu.global.u32", HANDED_OVER, quick=True),
    Mutant("rows that are counted without release and acquire", PLATFORM, "atom.acq_rel.gpu.global.add.u32",
           "atom.relaxed.gpu.global.add.u32", HANDED_OVER),
    Mutant("rows that are counted before all threads have stored them", "experts.cuh",
           "      syncBlock();\n      const uint32_t behind", "      const uint32_t behind", HANDED_OVER),
    Mutant("blocks that are announced by whoever comes first", "experts.cuh", "behind < rows ? behind : rows", "copied",
           HANDED_OVER, quick=True),
    Mutant("numbers of rows that are written while blocks are announced", "experts.cuh",
           "    if constexpr (ReadyRows<Plan>::value != 0)\n      meetAll(w.args, 1);", "    if constexpr (false)\n      meetAll(w.args, 1);",
           HANDED_OVER),
    Mutant("blocks without rows that are not announced", "experts.cuh", "        ready::announce(w.args.index.ready, first + i, 0, 0);",
           "        static_cast<void>(i);", HANDED_OVER),
    Mutant("words that the user's kernel reads without acquire", PLATFORM, "ld.acquire.gpu.global.u32",
           "ld.relaxed.gpu.global.u32", HANDED_OVER),
    Mutant("words of the user that a combine reads without acquire", PLATFORM, "ld.acquire.gpu.global.u32",
           "ld.relaxed.gpu.global.u32", TAKEN, quick=True),
    Mutant("rows that a combine reads without a wait", "experts.cuh", "          if (w.thread == 0)\n            awaitBlock(w, first + at);",
           "", TAKEN),
    Mutant("words that a combine does not set back", "experts.cuh", "*ready::wordOf(w.args.index.ready, block) = 0;",
           "static_cast<void>(block);", TAKEN),
    Mutant("cells in one table for all launches", "experts.cuh", "static_cast<uint32_t>(launch % 2)",
           "uint32_t{0}", DISPATCH, quick=True),
    Mutant("first entries that are used before all are counted", "experts.cuh",
           "return w.isFirst(entry); });\n    meetAll(w.args, 0);", "return w.isFirst(entry); });", ONCE, quick=True),
    Mutant("lists that name experts of other ranks", "experts.cuh", "w.isLive(first + i) && expert / W::experts == to",
           "w.isLive(first + i)", ONCE, quick=True),
    Mutant("lists that are followed before cells have places", "experts.cuh", "placeCells(w);\n    meetAll(w.args, 1);",
           "placeCells(w);", ONCE, quick=True),
]



# What becomes of a statement of an emitted kernel: what it is, its pattern, and what stands in its place.
WEAKER = [
    ("block-wide sync dropped", r"\n *k\.sync\(\);", ""),
    ("signal relaxed", r"\bsignal\(k,", "relaxedSignal(k,"),
    ("wait dropped", r"\n *(?:w|relaxedW)ait\(k,[^;]*;(?:[^;\n]*;)*", ""),
    ("acquire dropped", r"\n *acquire\(k,[^;]*;(?:[^;\n]*;)*", ""),
    ("barrier of blocks made one of threads", r"\bbarrier\(k,[^;]*;", "k.sync();"),
    ("fence of aliases dropped", r"\n *fenceAliases(?:AtEnd)?\(k\);", ""),
    ("scratch single", r"doubleScratch = true", "doubleScratch = false"),
]
ONE_STRIDE = "it orders launches of different sizes, whose scratch has one stride here and not in MSCCL++"
# Programs whose kernels are weakened, and the mutants of each that need not be found, by what they are and their number.
EMITTED = {
    "samples/reducescatter_allpairs.cpp": {},
    "samples/allreduce_ring.cpp": {},
    "samples/allreduce_pipeline.cpp": {"block-wide sync dropped, number 1": ONE_STRIDE, "wait dropped, number 1": ONE_STRIDE},
    "samples/auto/allreduce_nvls.cpp": {},
    "samples/allreduce_packets.cpp": {},
    "tests/ptx/copied_nvls.cpp": {},
    "tests/ptx/broadcast_nvls.cpp": {},
    BARRIERS: {},
    SPLIT: {},
}
QUICK_EMITTED = ["samples/reducescatter_allpairs.cpp", SPLIT]
# Programs that the proof refuses, as what they lack is not needed on every machine: the PTX machine has to agree.
UNPROVEN = ["tests/lit/findings/packet_order.cpp", "tests/lit/findings/packet_next_launch.cpp"]


def weakened(text):
    """Names and texts of the mutants of a kernel."""
    for what, pattern, instead in WEAKER:
        for number, match in enumerate(re.finditer(pattern, text), 1):
            line = text.count("\n", 0, match.start() + 1) + 1
            yield f"{what}, number {number}", line, text[:match.start()] + instead + text[match.end():]


def weakened_header(mutant):
    """Returns the text of the mutant's header without the piece."""
    text = (kernels_on_cpu.HEADERS / "mscclc" / "device" / mutant.file).read_text()
    if text.count(mutant.old) != 1:
        raise SystemExit(f"{mutant.name}: its text stands {text.count(mutant.old)} times in {mutant.file}, not once")
    return text.replace(mutant.old, mutant.new)


def headers_of(mutant, folder):
    if folder.exists():
        shutil.rmtree(folder)
    shutil.copytree(kernels_on_cpu.HEADERS, folder)
    (folder / "mscclc" / "device" / mutant.file).write_text(weakened_header(mutant))
    return folder


class Score:
    def __init__(self, machine, schedules):
        self.machine, self.schedules = machine, schedules
        self.wrong = self.killed = self.survived = 0

    def run(self, name, library, survives, staging=False, own_client=None, bits=""):
        """Schedules until something is found. `survives`: why it need not be."""
        found = []
        for seed in range(1, self.schedules + 1):
            found = found or self.machine.run(library, seed, staging=staging, own_client=own_client, bits=bits,
                                              first=True).findings
        isWrong = bool(found) == bool(survives)
        self.killed += bool(found)
        self.survived += not found
        self.wrong += isWrong
        print(f"{'killed' if found else 'survived'}{', which is wrong' if isWrong else ''}: {name}"
              f"{' (' + survives + ')' if survives else ''}", flush=True)
        if found:
            print(f"  {found[0][:200]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="mutants with this in their names")
    parser.add_argument("--schedules", type=int, default=3, help="of each mutant, at most [3]")
    kernels_on_cpu.add_options(parser)
    parser.set_defaults(sizes="1024,260,2048,272,640")
    options = parser.parse_args()
    machine = kernels_on_cpu.Machine(options)
    folder = pathlib.Path(machine.folder.name)
    score = Score(machine, options.schedules)

    def emit(name, isProven=True, instances=""):
        program = kernels_on_cpu.ROOT / name
        kernel = folder / f"{program.stem}.cu"
        kernels_on_cpu.emit(options, program, kernel, isProven=isProven)
        if instances:
            kernels_on_cpu.give_instances(kernel, instances, options.sizes)
        return kernel

    for mutant in MUTANTS:  # also those that --quick leaves out: a header that was reworded is found at once
        weakened_header(mutant)
    for mutant in MUTANTS:
        if (options.quick and not mutant.quick) or options.only not in mutant.name:
            continue
        library = machine.compile(emit(mutant.program, instances=mutant.instances), headers_of(mutant, folder / "include"))
        own_client = kernels_on_cpu.own_client_of(kernels_on_cpu.ROOT / mutant.program)
        score.run(mutant.name, library, mutant.survives, mutant.staging, own_client, mutant.bits)
    for name, survivors in EMITTED.items():
        if options.quick and name not in QUICK_EMITTED:
            continue
        kernel = emit(name)
        for what, line, text in weakened(kernel.read_text()):
            title = f"{kernel.name}: {what} (line {line})"
            if options.only not in title:
                continue
            kernel.write_text(text)
            score.run(title, machine.compile(kernel), survivors.get(what, ""),
                      own_client=kernels_on_cpu.own_client_of(kernels_on_cpu.ROOT / name))
    for name in UNPROVEN:
        if options.only in name:
            score.run(f"{name}, not proven", machine.compile(emit(name, isProven=False)), "")
    print(f"{score.killed} killed, {score.survived} survived, {score.wrong} wrong")
    return 1 if score.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

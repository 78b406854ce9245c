"""Makes of our own trace one as MSCCL++'s npkit_trace_generator writes it.

usage: npkit.py OURS.json NPKIT.json [NAME=FACTOR …]

Events B and E by NPKit's names, at most 31 operations of a block, two launches, clocks that begin elsewhere; operations of
NAME take FACTOR times as long. Proxies become events of connections.
"""
import json
import sys

NAMES = {
    "sync": "NOP",
    "nop": "NOP",
    "rlxsignal": "RELAXED_SIGNAL",
    "rlxwait": "RELAXED_WAIT",
    "relaxed signal": "RELAXED_SIGNAL",
    "relaxed wait": "RELAXED_WAIT",
    "signal": "SIGNAL",
    "wait": "WAIT",
    "put": "PUT",
    "putWithSignalAndFlush": "PUT_WITH_SIGNAL_AND_FLUSH",
    "putPackets": "PUT_PACKETS",
    "unpackPackets": "UNPACK_PACKETS",
    "reduce and putPackets": "REDUCE_SEND_PACKETS",
}

ours, npkit, *slow = sys.argv[1:]
factors = dict(word.split("=") for word in slow)
with open(ours, encoding="utf-8") as file:
    slices = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
events = []
for launch in (0, 1):
    room = {}
    for event in slices:
        base = 5e9 + 1e4 * launch + event["pid"]
        name = event["name"].replace(" (critical)", "")
        thread = (event["pid"], event["tid"] % 1_000_000)
        room[thread] = room.get(thread, 31) - 1
        if room[thread] < 0 and name != "proxy":
            continue
        common = {"pid": thread[0], "tid": thread[1]}
        entry = "NPKIT_EVENT_CONN_IB_WRITE_ENTRY" if name == "proxy" else f"NPKIT_EVENT_EXECUTOR_{NAMES[name]}_ENTRY"
        duration = event["dur"] * float(factors.get(name, 1))
        events.append({"ph": "B", "ts": base + event["ts"], "name": entry, "cat": "CPU" if name == "proxy" else "GPU", "args": {"seq": 0}} | common)
        events.append({"ph": "E", "ts": base + event["ts"] + duration, "args": {"size": 0, "bw (GB/s)": 0.0}} | common)
with open(npkit, "w", encoding="utf-8") as file:
    json.dump({"traceEvents": events, "displayTimeUnit": "ns"}, file)

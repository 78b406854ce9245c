#!/usr/bin/env python3
"""check_trace.py finds in a trace what was broken in it, and nothing in one that is sound.

usage: check_trace_test.py
"""
import copy
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import check_trace

SOUND = {
    "otherData": {"capacities, GB/s": {"link out, GB/s": 450.0}},
    "traceEvents": [
        {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "rank 0"}},
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 1, "args": {"name": "block 0"}},
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 2, "args": {"name": "block 1"}},
        {"ph": "X", "name": "put", "pid": 0, "tid": 1, "ts": 1.25, "dur": 10},
        {"ph": "X", "name": "signal", "pid": 0, "tid": 1, "ts": 2.0, "dur": 0.001},
        {"ph": "X", "name": "wait", "pid": 0, "tid": 2, "ts": 0, "dur": 20.5},
        {"ph": "s", "name": "signal", "cat": "signal", "id": 1, "pid": 0, "tid": 1, "ts": 2.0},
        {"ph": "f", "name": "signal", "cat": "signal", "id": 1, "pid": 0, "tid": 2, "ts": 20.499, "bp": "e"},
        {"ph": "C", "name": "link out, GB/s", "pid": 0, "ts": 1.25, "args": {"GB/s": 450.0}},
        {"ph": "C", "name": "link out, GB/s", "pid": 0, "ts": 11.25, "args": {"GB/s": 0}},
    ],
}
PUT, SIGNAL, WAIT, BEGINS, ENDS, RATE, REST = 3, 4, 5, 6, 7, 8, 9

# How to break it -> what is said.
BROKEN = [
    ((SIGNAL, "dur", 10), "overlap: one from 2000 ns to 12000 ns begins in one that ends at 11250 ns"),
    ((PUT, "ts", 1.0005), "slice 'put' of (0, 1): its time is no whole number of nanoseconds"),
    ((PUT, "dur", -1), "slice 'put' of (0, 1): its time is no whole number"),
    ((PUT, "ts", "1"), "slice 'put' of (0, 1): its time is no whole number"),
    ((PUT, "ts", 1e300), "slice 'put' of (0, 1): its time is no whole number"),
    ((BEGINS, "ts", 30), "flow 1: 's' at 30000 ns lies in no slice of (0, 1)"),
    ((BEGINS, "tid", 7), "flow 1: 's' at 2000 ns lies in no slice of (0, 7)"),
    ((ENDS, "ts", 0.5), "flow 1 ends at 500 ns, before it begins at 2000 ns"),
    ((ENDS, "bp", "s"), "flow 1: its end is not bound"),
    ((ENDS, "id", 2), "flow 2 has 1 'f'; one 's' and one 'f' belong together"),
    ((ENDS, "ph", "s"), "flow 1 has 2 's'"),
    ((ENDS, "ts", 0.0001), "flow 1: its time is no whole number of nanoseconds"),
    ((RATE, "args", {"GB/s": 451}), "counter 'link out, GB/s' of process 0 is 451 at 1250 ns; its capacity is 450.0"),
    ((RATE, "args", {"GB/s": -1}), "is -1 at 1250 ns"),
    ((RATE, "args", {}), "has no value at 1250 ns"),
    ((RATE, "name", "link"), "counter 'link' has no capacity"),
    ((RATE, "ts", 1.00001), "counter 'link out, GB/s': its time is no whole number"),
    ((REST, "ts", 1), "goes back in time at 1000 ns"),
    ((2, "tid", 1), "thread_name of process 0, thread 1 is given twice"),
    ((2, "tid", 3), "there is no thread_name of process 0, thread 2"),
    ((0, "pid", 1), "there is no process_name of process 0"),
    ((1, "args", {"name": ""}), "thread_name of process 0 is empty"),
    ((PUT, "ph", "B"), "it has events of other phases than"),
]


def broken(change):
    index, key, value = change
    trace = copy.deepcopy(SOUND)
    trace["traceEvents"][index][key] = value
    return json.dumps(trace)


def main():
    bad = 0
    sound = list(check_trace.faults(json.dumps(SOUND)))
    if sound:
        print("\n".join(["a sound trace is refused:"] + sound))
        bad += 1
    texts = [(broken(change), said) for change, said in BROKEN]
    texts += [("{", "it is no JSON"), ("[]", "it has no list 'traceEvents'"), ('{"traceEvents": [1]}', "it has no list")]
    texts += [('{"traceEvents": []}', "it has no slice")]
    for text, said in texts:
        found = list(check_trace.faults(text))
        if not any(said in fault for fault in found):
            print(f"'{said}' is not said of {text}\n  but: {found}")
            bad += 1
    print(f"{len(texts)} broken traces, {bad} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

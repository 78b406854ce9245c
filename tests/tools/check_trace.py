#!/usr/bin/env python3
"""Checks that a trace holds to what viewers of Chrome trace events ask for, and to what mscclc promises.

usage: check_trace.py TRACE.json …

- Slices of a thread are apart or one holds the other.
- A flow has one beginning (s) and one end (f, bp "e") of one id; each lies inside a slice of its thread, so that viewers
  bind it, and the end is not before the beginning.
- Times are whole nanoseconds: microseconds with no more than three decimals, as they stand in the file.
- A counter is never below 0, nor above its capacity where "otherData" has "capacities, GB/s"; its times do not go back.
- Every process and thread that has an event has a name, once.

Prints what does not hold, at most ten lines a trace; exit 1 if there is something.
"""
import bisect
import decimal
import json
import sys

SHOWN = 10
US = decimal.Decimal("0.001")


def nanoseconds(event, key):
    """Returns the time in whole nanoseconds; nothing if it is not one."""
    value = event.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, decimal.Decimal)):
        return None
    value = decimal.Decimal(value)
    if not value.is_finite() or value < 0 or abs(value) > 10**15 or value != value.quantize(US):
        return None
    return int(value * 1000)


def thread_of(event):
    return event.get("pid"), event.get("tid")


def check_slices(events, slices):
    """Fills `slices`: thread -> [(start, end)], sorted."""
    for event in events:
        start, duration = nanoseconds(event, "ts"), nanoseconds(event, "dur")
        if start is None or duration is None:
            yield f"slice {event.get('name')!r} of {thread_of(event)}: its time is no whole number of nanoseconds"
        else:
            slices.setdefault(thread_of(event), []).append((start, start + duration))
    for thread, spans in slices.items():
        spans.sort(key=lambda span: (span[0], -span[1]))
        open_ends = []
        for start, end in spans:
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and end > open_ends[-1]:
                yield f"slices of {thread} overlap: one from {start} ns to {end} ns begins in one that ends at {open_ends[-1]} ns"
            open_ends.append(end)


class Cover:
    """The positions of the slices of threads, flattened, so that a binary search tells whether a moment is in one."""

    def __init__(self, slices):
        self.merged = {}
        for thread, spans in slices.items():
            merged = self.merged[thread] = []
            for start, end in spans:
                if merged and start <= merged[-1][1]:
                    merged[-1][1] = max(merged[-1][1], end)
                else:
                    merged.append([start, end])

    def has(self, thread, at):
        spans = self.merged.get(thread, [])
        index = bisect.bisect_right(spans, at, key=lambda span: span[0]) - 1
        return index >= 0 and at <= spans[index][1]


def check_flows(events, slices):
    cover = Cover(slices)
    ends = {}
    for event in events:
        phase, at = event["ph"], nanoseconds(event, "ts")
        if at is None:
            yield f"flow {event.get('id')}: its time is no whole number of nanoseconds"
            continue
        if not cover.has(thread_of(event), at):
            yield f"flow {event.get('id')}: '{phase}' at {at} ns lies in no slice of {thread_of(event)}"
        if phase == "f" and event.get("bp") != "e":
            yield f"flow {event.get('id')}: its end is not bound to the slice around it (bp \"e\")"
        ends.setdefault((event.get("cat"), event.get("name"), event.get("id")), {}).setdefault(phase, []).append(at)
    for (_, _, number), phases in ends.items():
        if sorted(phases) != ["f", "s"] or any(len(times) != 1 for times in phases.values()):
            counts = ", ".join(f"{len(times)} '{phase}'" for phase, times in sorted(phases.items()))
            yield f"flow {number} has {counts}; one 's' and one 'f' belong together"
        elif phases["f"][0] < phases["s"][0]:
            yield f"flow {number} ends at {phases['f'][0]} ns, before it begins at {phases['s'][0]} ns"


def check_counters(events, capacities):
    last = {}
    for event in events:
        name, at = event.get("name"), nanoseconds(event, "ts")
        if at is None:
            yield f"counter {name!r}: its time is no whole number of nanoseconds"
            continue
        series = (event.get("pid"), name)
        if at < last.get(series, at):
            yield f"counter {name!r} of process {event.get('pid')} goes back in time at {at} ns"
        last[series] = at
        values = event.get("args", {})
        if not values or not all(isinstance(value, (int, decimal.Decimal)) for value in values.values()):
            yield f"counter {name!r} of process {event.get('pid')} has no value at {at} ns"
            continue
        capacity = capacities.get(name)
        for value in values.values():
            if value < 0 or (capacity is not None and value > capacity * decimal.Decimal("1.000001")):
                yield f"counter {name!r} of process {event.get('pid')} is {value} at {at} ns; its capacity is {capacity}"
        if capacities and capacity is None:
            yield f"counter {name!r} has no capacity"


def check_names(events, metadata):
    names = {}
    for event in metadata:
        what = (event.get("name"), event.get("pid"), event.get("tid") if event.get("name") == "thread_name" else None)
        if what in names:
            yield f"{what[0]} of process {what[1]}, thread {what[2]} is given twice"
        names[what] = event.get("args", {}).get("name")
        if not names[what]:
            yield f"{what[0]} of process {what[1]} is empty"
    needed = {("process_name", event.get("pid"), None) for event in events}
    needed |= {("thread_name", *thread_of(event)) for event in events if event["ph"] != "C"}
    for what in sorted(needed - set(names), key=str):
        yield f"there is no {what[0]} of process {what[1]}, thread {what[2]}"


def faults(text):
    try:
        document = json.loads(text, parse_float=decimal.Decimal)
    except ValueError as error:
        yield f"it is no JSON: {error}"
        return
    events = document.get("traceEvents") if isinstance(document, dict) else None
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        yield "it has no list 'traceEvents' of objects"
        return
    by_phase = {phase: [event for event in events if event.get("ph") == phase] for phase in "MXsfC"}
    if sum(map(len, by_phase.values())) != len(events):
        yield f"it has events of other phases than {', '.join(by_phase)}"
        return
    if not by_phase["X"]:
        yield "it has no slice"
    slices = {}
    yield from check_slices(by_phase["X"], slices)
    yield from check_flows(by_phase["s"] + by_phase["f"], slices)
    capacities = document.get("otherData", {}).get("capacities, GB/s", {})
    yield from check_counters(by_phase["C"], capacities)
    yield from check_names([event for phase in "XsfC" for event in by_phase[phase]], by_phase["M"])


def main():
    bad = 0
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            found = list(faults(file.read()))
        for fault in found[:SHOWN]:
            print(f"{path}: {fault}")
        if len(found) > SHOWN:
            print(f"{path}: and {len(found) - SHOWN} more")
        bad += len(found)
    if not sys.argv[1:]:
        sys.exit(__doc__)
    print(f"{len(sys.argv) - 1} traces, {bad} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

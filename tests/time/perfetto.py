#!/usr/bin/env python3
"""Perfetto's own trace processor reads our traces as they were meant: no error, all slices, flows and counters.

usage: perfetto.py MSCCLC TRACE_PROCESSOR
"""
import json
import pathlib
import subprocess
import sys
import tempfile

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"
QUERY = """select 'slices', count(*) from slice;
select 'flows', count(*) from flow;
select 'counters', count(*) from counter;
select 'errors', ifnull(sum(value), 0) from stats where severity in ('error', 'data_loss');
"""


def main():
    mscclc, processor = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        trace, query = pathlib.Path(folder, "trace.json"), pathlib.Path(folder, "query.sql")
        query.write_text(QUERY, encoding="utf-8")
        subprocess.run([mscclc, SAMPLES / "allreduce_packets.cpp", "--emit-trace", "--size", "64K", "-o", trace], check=True)
        events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
        count = {phase: sum(event["ph"] == phase for event in events) for phase in "XsC"}
        said = subprocess.run([processor, "-q", query, trace], check=True, capture_output=True, text=True).stdout
        for what, number in (("slices", count["X"]), ("flows", count["s"]), ("counters", count["C"]), ("errors", 0)):
            if f'"{what}",{number}\n' not in said:
                sys.exit(f"{number} {what} are not what Perfetto has:\n{said}")
    print("read as it was written")


if __name__ == "__main__":
    main()

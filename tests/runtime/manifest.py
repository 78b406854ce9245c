#!/usr/bin/env python3
"""Whether `mscclc-perf --manifest` measures what a list names, and writes the times where they belong.

usage: manifest.py MSCCLC_PERF LIBRARY

LIBRARY has the kernels gather4, and wrong4, whose results are wrong."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile


def measured(perf, folder, *words):
    """Runs the tool in the folder. Returns its exit code, what it complains of, and the list."""
    path = folder / "manifest.json"
    done = subprocess.run([perf, "--host", "-n", "1", "-w", "0", "--manifest", path, *words], capture_output=True, text=True)
    assert not (folder / "manifest.json.new").exists()
    return done.returncode, done.stderr, json.loads(path.read_text()) if path.exists() else None


def main():
    perf, library = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        shutil.copy(library, folder / "k.so")
        gather = {"kernel": "k.so", "name": "gather4"}
        sizes = {"predicted_us": {"1024": 3.5, "4096": 4}}
        one = {"collective": "allgather", "ranks": 4, "entries": [
            {"min": 0, "max": 4096, **gather, **sizes, "candidates": [{**gather, "predicted_us": {"2048": 1}}]},
            {"min": 4097, "max": 9999, "nccl": True, "candidates": [{"kernel": "k.so", "name": "wrong4", **sizes}]},
        ]}

        def write(*entries):
            made = {"version": 1, "collectives": [{**one, "entries": entries or one["entries"]}]}
            (folder / "manifest.json").write_text(json.dumps(made))

        write()
        code, said, made = measured(perf, folder)
        first, second = made["collectives"][0]["entries"]
        assert (code, said) == (1, ""), said  # wrong4 is wrong
        assert list(first["measured_us"]) == ["1024", "2048", "4096"] and min(first["measured_us"].values()) > 0
        assert list(first["candidates"][0]["measured_us"]) == ["2048"]
        assert second["candidates"][0]["measured_us"] == {} and "measured_us" not in second
        assert first["predicted_us"] == sizes["predicted_us"] and list(first)[:2] == ["min", "max"]

        write(one["entries"][0])
        code, said, made = measured(perf, folder, "-P", "2")
        first = made["collectives"][0]["entries"][0]
        assert (code, said) == (0, "") and len(first["measured_us"]) == 3 and first["candidates"][0]["measured_us"], said

        write(one["entries"][0])
        code, said, made = measured(perf, folder, "-b", "4K")
        assert (code, said) == (0, "") and list(made["collectives"][0]["entries"][0]["measured_us"]) == ["4096"]

        # What cannot run loses its old times, and does not keep the others from running.
        write({"kernel": "missing.so", "measured_us": {"1024": 1}}, {**gather, **sizes})
        code, said, made = measured(perf, folder)
        missing, present = made["collectives"][0]["entries"]
        assert code == 1 and "missing.so" in said and "measured_us" not in missing and present["measured_us"]

        for text, why in (("[]", "it is no list of kernels"), ("{}", "entries"), ('{"entries": []}', "it lists no kernel"),
                          ('{"entries": [{"kernel": 7}]}', "must be string")):
            (folder / "manifest.json").write_text(text)
            code, said, _ = measured(perf, folder)
            assert code == 1 and said.startswith("mscclc-perf: ") and why in said, (text, said)
        (folder / "manifest.json").unlink()
        code, said, _ = measured(perf, folder)
        assert code == 1 and "manifest.json: it cannot be read" in said, said
        done = subprocess.run([perf, "--manifest", "m.json", "k.so"], capture_output=True, text=True)
        assert done.returncode == 2 and "leave out a library" in done.stderr, done.stderr


main()

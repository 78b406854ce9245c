#!/usr/bin/env python3
"""Checks who includes whom: arrows between the rooms go downwards only.

usage: check_layering.py [ROOT]

Looks at includes in quotes and in angles, from the repository's root, from a room's include folder, or from the
including file's own folder. Prints each include that a room may not have, as FILE:LINE; exit 1 if there is one.
"""
import pathlib
import re
import sys

# What the compiler and the kernels that it writes agree on: types of elements and how narrow ones round, operations of
# reductions, what a kernel is handed; and with all programs that run kernels, the collectives. Kernels are built where there is no compiler, so these files lie with the runtime.
# They include nothing but each other, and no room of the compiler sees more of the runtime.
ELEMENTS = ["runtime-min/include/mscclc/dtypes.def", "runtime-min/include/mscclc/narrow_floats.h"]
COLLECTIVES = "runtime-min/include/mscclc/collectives.def"
KERNEL_INTERFACE = [
    *ELEMENTS, "runtime-min/include/mscclc/reduce_ops.def", "runtime-min/include/mscclc/runtime_abi.h"
]
# Why launches hang: the runtime says it of one process, the compiler of the dumps of several.
HANGS = "runtime-min/include/mscclc/hang.hpp"
RUNTIME_HEADERS = ["runtime-min/include", COLLECTIVES, *KERNEL_INTERFACE, HANGS]

# What each room may include besides itself. The longest path that holds a file is its room: a file that ties rooms
# together is a room of its own, above them.
ROOMS = {
    "ir": [COLLECTIVES],
    # Expressions for tables of numbers; includes nothing of the IR.
    "ir/formula": [],
    # The front end. Each room sees the interface at the top of frontend/.
    "frontend": ["ir"],
    "frontend/dsl/include": [],
    "frontend/trace": ["ir", "frontend", "frontend/dsl/include"],
    "frontend/dsl": ["ir", COLLECTIVES, "frontend", "frontend/dsl/include", "frontend/trace"],
    "frontend/lower": ["ir", "frontend", "frontend/dsl/include", "frontend/trace"],
    "frontend/eval": ["ir", "frontend", "frontend/dsl", "frontend/lower", "frontend/trace"],
    "frontend/clang": ["ir", "frontend", "frontend/dsl", "frontend/eval", "frontend/trace"],
    # What calls record in the memory of the run.
    "frontend/trace/recorder.cpp": ["frontend", "frontend/eval", "frontend/lower", "frontend/trace"],
    # The process that compiles an algorithm and then runs it.
    "frontend/eval/child.cpp": ["ir", "frontend", "frontend/clang", "frontend/eval", "frontend/lower", "frontend/trace"],
    # Schedules in XML: a front end of its own, without Clang.
    "frontend/xml": ["ir"],
    "frontend/frontend.cpp": [
        "ir", "frontend", "frontend/clang", "frontend/dsl", "frontend/eval", "frontend/lower", "frontend/trace"
    ],
    # The passes. The proof and the simulator share nothing with the passes that they check.
    "passes": ["ir"],
    "passes/analysis": ["ir", "passes"],
    "passes/transform": ["ir", "passes", "passes/analysis"],
    # One run of a program, and what it orders: for the proof, and for what asks which sync the proof needs.
    "passes/run": ["ir", "passes"],
    "passes/verify": ["ir", "passes", "passes/run"],
    # Computes as kernels do.
    "passes/simulate": ["ir", "passes", "passes/run", "passes/verify", *ELEMENTS],
    "passes/time": ["ir", "passes", "passes/analysis"],
    # Chooses by the time model; what a program means is said in the values of the proof.
    "passes/schedule": ["ir", "passes", "passes/analysis", "passes/run", "passes/time", "passes/verify"],
    "passes/prune": ["ir", "passes", "passes/run", "passes/verify"],
    # Writes movement programs, and compares them as they would be scheduled.
    "passes/synthesize": ["ir", "passes", "passes/analysis", "passes/schedule", "passes/time"],
    "backend-json": ["ir"],
    "backend-cuda": ["ir", "ir/formula", *KERNEL_INTERFACE],
    COLLECTIVES: [],
    "runtime-min/include/mscclc/dtypes.def": [],
    "runtime-min/include/mscclc/narrow_floats.h": [],
    "runtime-min/include/mscclc/reduce_ops.def": [],
    "runtime-min/include/mscclc/runtime_abi.h": [
        "runtime-min/include/mscclc/dtypes.def", "runtime-min/include/mscclc/reduce_ops.def"
    ],
    HANGS: ["runtime-min/include/mscclc/runtime_abi.h"],
    "runtime-min/include": [COLLECTIVES, *KERNEL_INTERFACE],
    "runtime-min": [*RUNTIME_HEADERS],
    # Stands on the interface of the runtime, as a program does.
    "runtime-min/nccl": [*RUNTIME_HEADERS],
    "runtime-min/mscclc-perf/experiments": ["frontend/dsl/include"],
    # The tool that measures kernels also fits the time model to what it measures.
    "runtime-min/mscclc-perf/calibrate.cpp": ["ir", "passes/time", "runtime-min", *RUNTIME_HEADERS],
    # Writes sources; knows of programs alone.
    "compiler/outputs/dsl": ["ir", "ir/formula", COLLECTIVES],
    "compiler": [
        "ir", "frontend", "frontend/xml", "passes", "passes/analysis", "passes/prune", "passes/schedule",
        "passes/simulate", "passes/synthesize", "passes/time", "passes/verify", "backend-json", "backend-cuda", "compiler/outputs/dsl",
        "runtime-min/include/mscclc/runtime_abi.h", HANGS
    ],
    "compiler/project": ["frontend/dsl/include"],
    "samples": ["frontend/dsl/include"],
    # A program that calls a kernel.
    "samples/tutorial/call_kernel.cpp": [*RUNTIME_HEADERS],
}
# Which rooms may include a header from outside, by how its name begins; those that are not here, any room may.
OUTSIDE = {
    "clang/": ["frontend/clang", "frontend/eval/child.cpp"],
    "llvm/": ["frontend/clang", "frontend/eval", "frontend/eval/child.cpp"],
    "llvm/ADT/": ["frontend/clang", "frontend/eval", "frontend/eval/child.cpp", "frontend/lower"],
    "llvm/Support/ConvertUTF.h": ["frontend/lower"],
    "nlohmann/": ["backend-json", "compiler", "passes/time", "runtime-min", "runtime-min/nccl"],
    "CLI/": ["compiler"],
    "pugixml": ["frontend/xml", "passes/time"],
    "cuda": ["runtime-min", "runtime-min/include", "runtime-min/nccl"],
    "catch2/": [],
}
# Folders from which includes are written besides the root.
INCLUDE_FOLDERS = ["frontend/dsl/include", "runtime-min/include"]
SUFFIXES = (".h", ".hpp", ".cpp", ".cuh", ".cu", ".inc", ".def")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"\n]+)[>"]')


def room_of(path):
    """Returns the room that contains `path` (relative to the root), or None."""
    parts = path.split("/")
    prefixes = ("/".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((p for p in prefixes if p in ROOMS), None)


def resolve(root, source, name):
    """Returns the room of the header `name` that the file `source` includes; None if it is not one of ours."""
    own_include = [f for f in INCLUDE_FOLDERS if source.startswith(f.split("/")[0] + "/")]
    folders = [str(pathlib.PurePosixPath(source).parent), ".", *own_include, *INCLUDE_FOLDERS]
    for folder in folders:
        target = (root / folder / name).resolve()
        if target.is_file() and root in target.parents:
            return room_of(target.relative_to(root).as_posix())
    return room_of(name) if "/" in name else None  # generated, or gone


def allowed_outside(room, name):
    """Returns whether `room` may include the outside header `name`. The longest prefix that fits decides."""
    prefixes = [p for p in OUTSIDE if name.startswith(p)]
    return not prefixes or room in OUTSIDE[max(prefixes, key=len)]


def circle():
    """Returns rooms whose arrows form a cycle, or nothing."""
    done, path = set(), []

    def visit(room):
        if room in path:
            return path[path.index(room):] + [room]
        if room in done:
            return None
        path.append(room)
        found = next(filter(None, map(visit, ROOMS[room])), None)
        path.pop()
        done.add(room)
        return found

    return next(filter(None, map(visit, ROOMS)), None)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    found = circle()
    if found:
        print("the table of rooms goes in a circle: " + " -> ".join(found))
        return 1
    bad = seen = 0
    for top in sorted({room.split("/")[0] for room in ROOMS}):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            seen += 1
            source = path.relative_to(root).as_posix()
            room = room_of(source)
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                name = match.group(2)
                target = resolve(root, source, name)
                if target is None and allowed_outside(room, name) or target in (room, *ROOMS[room]):
                    continue
                closing = ">" if match.group(1) == "<" else '"'
                print(f"{source}:{number}: {room} may not include {match.group(1)}{name}{closing}")
                bad += 1
    print(f"{seen} files, {bad} forbidden includes")
    return 1 if bad or not seen else 0


if __name__ == "__main__":
    sys.exit(main())

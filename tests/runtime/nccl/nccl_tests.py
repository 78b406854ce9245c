#!/usr/bin/env python3
"""Runs the programs of nccl-tests in host memory, with the library in NCCL's place.

usage: nccl_tests.py --sources DIR --build DIR --cxx CXX --cuda INCLUDE --cudart LIBRARY [--quick] [--only PROGRAM]...

--sources holds nccl-tests' sources (https://github.com/NVIDIA/nccl-tests). The
environment has the library, the fake NCCL and the fake CUDA (mscclc_nccl_environment); LIBRARIES names
what is preloaded. Every result must be right, and each program's collective must have been run by a kernel where there
is one: MSCCLC_DEBUG=INFO says so. --quick runs a part of the sizes."""
import argparse
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
# Programs; what of each a kernel runs (a line of MSCCLC_DEBUG), or nothing where the program sends and receives; whether
# it takes an operation.
PROGRAMS = {
    "all_reduce": ("allreduce", True),
    "all_gather": ("allgather", False),
    "reduce_scatter": ("reducescatter", True),
    "broadcast": ("broadcast", False),
    "reduce": ("reduce", True),
    "alltoall": (None, False),
    "sendrecv": (None, False),
    "gather": (None, False),
    "scatter": (None, False),
    "hypercube": (None, False),
}


def compile_programs(options, sources, programs):
    """Builds the shared part of nccl-tests and the programs. Returns their paths."""
    folder = options.build / "nccl-tests"
    folder.mkdir(parents=True, exist_ok=True)
    # Not optimised: common.cu's loop over options relies on what the standard does not say, and clang++ 22 then leaves it
    # after -d and -o.
    flags = ["-std=c++17", "-O0", "-w", "-pthread", "-DNCCL_OS_LINUX", "-I", str(HERE / "include"), "-I",
             str(sources / "src"), "-I", str(sources / "os"), "-isystem", options.cuda, "-include",
             str(HERE / "nccl_tests_prefix.h"), "-I", str(HERE)]

    def compiled(source, out):
        out = folder / out
        if not out.exists() or out.stat().st_mtime < source.stat().st_mtime:
            subprocess.run([options.cxx, *flags, "-x", "c++", "-c", str(source), "-o", str(out)], check=True)
        return out

    shared = [compiled(sources / "src" / name, name + ".o") for name in ("common.cu", "util.cu", "timer.cc")]
    shared += [compiled(sources / "os" / "linux.cc", "linux.o"), compiled(HERE / "verifiable.cpp", "verifiable.o"),
               compiled(HERE / "fake" / "numbers.cpp", "numbers.o")]
    for name in programs:
        own = compiled(sources / "src" / f"{name}.cu", f"{name}.o")
        # Linked with NCCL, they find the library in its place: it is loaded already, by that name.
        subprocess.run([options.cxx, "-pthread", str(own), *map(str, shared), os.environ["MSCCLC_NCCL_LIB_PATH"],
                        options.cudart, "-o", str(folder / f"{name}_perf")], check=True)
    return {name: folder / f"{name}_perf" for name in programs}


def cases(quick, has_operation):
    """Returns the options of the runs of a program: ranks as threads, as GPUs of a thread, and as both; graphs;
    registered memory; the default stream."""
    all_types = ["-d", "all"] + (["-o", "all"] if has_operation else [])
    yield ["-t", "2", "-g", "1", "-b", "8", "-e", "4K", "-f", "8", *all_types]
    yield ["-t", "1", "-g", "4", "-b", "8", "-e", "64K", "-f", "16", "-d", "half"]
    yield ["-t", "2", "-g", "2", "-b", "8", "-e", "64K", "-f", "32", "-d", "int32"]
    yield ["-t", "2", "-g", "1", "-G", "2", "-b", "8", "-e", "64K", "-f", "32"]
    yield ["-t", "2", "-g", "1", "-R", "2", "-b", "8", "-e", "64K", "-f", "32"]
    yield ["-t", "2", "-g", "2", "-y", "1", "-b", "8", "-e", "64K", "-f", "32"]
    if quick:
        return
    yield ["-t", "2", "-g", "1", "-y", "1", "-b", "8", "-e", "4K", "-f", "8", *all_types]
    yield ["-t", "4", "-g", "1", "-b", "8", "-e", "16K", "-f", "64", *all_types]
    yield ["-t", "1", "-g", "4", "-b", "8", "-e", "4K", "-f", "512", *all_types]
    yield ["-t", "1", "-g", "8", "-b", "1K", "-e", "1K", *all_types]
    yield ["-t", "2", "-g", "1", "-G", "2", "-b", "1K", "-e", "1K", *all_types]
    yield ["-t", "8", "-g", "1", "-b", "8", "-e", "64K", "-f", "64"]
    yield ["-t", "1", "-g", "8", "-G", "2", "-b", "1K", "-e", "1K"]
    yield ["-t", "2", "-g", "1", "-b", "1M", "-e", "16M", "-f", "4"]
    yield ["-t", "1", "-g", "4", "-b", "16M", "-e", "16M"]
    yield ["-t", "1", "-g", "4", "-R", "1", "-b", "8", "-e", "4K", "-f", "512", *all_types]


def run(program, arguments):
    """Returns the output of a program and of the library."""
    environment = dict(os.environ, LD_PRELOAD=os.environ["LIBRARIES"], MSCCLC_DEBUG="INFO")
    done = subprocess.run([str(program), *arguments, "-n", "2", "-w", "1"], env=environment, capture_output=True, text=True,
                          timeout=600)
    wrong = re.search(r"# Out of bounds values : (\d+)", done.stdout)
    if done.returncode != 0 or wrong is None or wrong.group(1) != "0" or "cuda fake" in done.stderr:
        sys.exit(f"{program.name} {' '.join(arguments)}: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
    return done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sources", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cuda", required=True, help="CUDA's headers")
    parser.add_argument("--cudart", required=True, help="CUDA's runtime, to link with")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    names = options.only or list(PROGRAMS)
    programs = compile_programs(options, options.sources, names)
    for name in names:
        collective, has_operation = PROGRAMS[name]
        runs = 0
        for arguments in cases(options.quick, has_operation):
            # Its steps are groups, which within the group of a thread with several GPUs are one: wrong with any NCCL.
            if name == "hypercube" and arguments[arguments.index("-g") + 1] != "1":
                continue
            said = run(programs[name], arguments)
            runs += 1
            picked = set(re.findall(rf"^mscclc: {collective} .*: (kernel '\w+')", said, re.M)) if collective else set()
            if collective and not picked:
                sys.exit(f"{name} {' '.join(arguments)}: no kernel ran\n{said[-3000:]}")
            for op in ("avg", "premulsum") if "-o" in arguments else ():
                if not re.search(rf"^mscclc: {collective} .*, {op}, .*: kernel", said, re.M):
                    sys.exit(f"{name} {' '.join(arguments)}: no kernel ran {op}\n{said[-3000:]}")
            if "-R" in arguments and name in ("all_reduce", "all_gather") and "on the program's memory" not in said:
                sys.exit(f"{name} {' '.join(arguments)}: registered memory was copied\n{said[-3000:]}")
            if re.search(r"NCCL runs it, because kernel .*' did not run", said):
                sys.exit(f"{name} {' '.join(arguments)}: a kernel failed\n{said[-3000:]}")
        print(f"{name}: {runs} runs, 0 wrong; {', '.join(sorted(picked)) or 'NCCL'}", flush=True)


main()

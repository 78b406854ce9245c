#!/usr/bin/env python3
"""Packs kernels, unpacks them elsewhere and runs them there, where neither the checkout nor cmake nor mscclc is:
check_pack.py RUN BUILD [NVCC]"""
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import toolkit


def check_targets():
    """Checks the flags for devices: the device's own code if nvcc knows it, otherwise code that newer devices can
    compile; nothing for older ones."""
    expected = {(90, (75, 90)): "-arch=sm_90", (90, ()): "-arch=sm_90", (70, (75, 90)): None,
                (130, (75, 121)): "-gencode=arch=compute_121,code=compute_121",
                (89, (75, 80, 90)): "-gencode=arch=compute_80,code=compute_80"}
    for (capability, known), target in expected.items():
        if toolkit.target_for(capability, known) != target:
            sys.exit(f"sm_{capability} with {known}: {toolkit.target_for(capability, known)}")


def run(*words, code=0, **options):
    print("+", *words, flush=True)
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)
    print(done.stdout, flush=True)
    if done.returncode != code:
        sys.exit(f"exit code {done.returncode}")
    return done.stdout


def main():
    check_targets()
    script, build, nvcc = sys.argv[1], sys.argv[2], sys.argv[3:]
    names = ["sendrecv", "gather_direct"] if nvcc else ["sendrecv", "gather_direct", "hook_scale"]
    with tempfile.TemporaryDirectory(suffix=" spaced") as folder:
        file = pathlib.Path(folder, "pack.tar.gz")
        run(sys.executable, script, "--no-build", "--build", build, "--pack", file,
            *(word for name in names for word in ("--only", name)))
        with tarfile.open(file) as archive:
            archive.extractall(folder)
        packed = pathlib.Path(folder, "mscclc-gpu-checks", "tests", "gpu", "run")
        bare = {"PATH": "/usr/bin:/bin", "HOME": folder, "MSCCLC_CHECK_FLAGS": "-O0",
                "CXXFLAGS": "--flags-of-others"}
        said = run(sys.executable, packed, "--host", "--no-build", code=1, env=bare)
        if "mscclc-perf: run without --no-build" not in said:
            sys.exit("the tool is not missed")
        tool = []
        if nvcc:
            toolkit_folder = pathlib.Path(nvcc[0]).resolve().parents[1]
            cuda = {**bare, "PATH": f"{pathlib.Path(nvcc[0]).parent}:{bare['PATH']}"}
            said = run(sys.executable, packed, "--compile-only", "--arch", "sm_90", env=cuda)
            if "2 kernels, 0 failures" not in said:
                sys.exit("the packed kernels did not compile")
            # What was built for CUDA runs kernels for the host, too.
            tool = ["--no-build"]
            bare["LD_LIBRARY_PATH"] = str(toolkit_folder / "lib64")
        said = run(sys.executable, packed, "--host", "--quick", "--only", "sendrecv", "--only", "hook_scale", *tool, env=bare)
        if f"{len(names) - 1} kernels, 0 failures" not in said:
            sys.exit("the packed kernels did not run")


main()

"""usage: loader.py MSCCLC CHECKOUT CUDA_INCLUDE COMPILER: the loader of MSCCL++'s executor reads plans of mscclc.

Compiles the loader of a checkout of microsoft/mscclpp without the rest of it. Each plan is loaded for each of its ranks.
The test compares what it loaded with the plan: blocks, operations, channels.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = HERE.parents[1] / "samples"
# Algorithm, options, and the bytes of a message.
PLANS = [
    ("tutorial/first_allgather.cpp", ["-P", "ranks=2"], 1 << 20),
    ("tutorial/first_allgather.cpp", ["-P", "ranks=8", "--message-size", "1M"], 1 << 20),
    ("tutorial/small_allreduce.cpp", ["-P", "ranks=4"], 1 << 16),
    ("tutorial/large_allreduce.cpp", ["--message-size", "64M"], 1 << 26),
    ("auto/alltoall.cpp", ["-P", "ranks=4"], 1 << 20),
    ("allreduce_packets.cpp", ["-P", "ranks=8"], 1 << 16),
    ("allgather_hierarchical.cpp", [], 1 << 20),
]


def build(checkout, cuda, compiler, folder):
    (folder / "mscclpp").mkdir()
    template = (checkout / "include/mscclpp/version.hpp.in").read_text(encoding="utf-8")
    for name in ("MSCCLPP_MAJOR", "MSCCLPP_MINOR", "MSCCLPP_PATCH", "GIT_HASH"):
        template = template.replace(f"@{name}@", "0")
    (folder / "mscclpp/version.hpp").write_text(template, encoding="utf-8")
    program = folder / "loader"
    subprocess.run([compiler, "-std=c++17", "-w", "-DMSCCLPP_USE_CUDA", "-ffunction-sections", "-Wl,--gc-sections", f"-I{folder}", f"-I{checkout}/include", f"-I{checkout}/src/core/include",
                    f"-I{cuda}", str(HERE / "loader.cpp"), f"{checkout}/src/core/executor/execution_plan.cc",
                    f"{checkout}/src/core/errors.cc", "-o", str(program)], check=True)
    return program


def load(loader, path, plan, size):
    gpus = plan["gpus"]
    share = size // len(gpus)
    sizes = {"allgather": (share, size), "reducescatter": (size, share)}.get(plan["collective"], (size, size))
    return subprocess.run([loader, path, str(len(gpus)), *map(str, sizes)], capture_output=True, text=True, check=False)


def differences(lines, plan):
    """Returns how the loader's lines differ from the plan, in words. Pipelines become an operation for each step."""
    if len(lines) != len(plan["gpus"]):
        return [f"{len(lines)} ranks"]
    found = []
    for gpu, (name, collective, blocks, operations, channels, _scratch) in zip(plan["gpus"], lines):
        written = [op for block in gpu["threadblocks"] for op in block["ops"]]
        are_unrolled = any(op["name"] == "pipeline" for op in written)
        counted = sum(len(channel["connected_to"]) for channel in gpu["channels"] if channel["channel_type"] in ("memory", "port"))
        if (name, collective, int(blocks), int(channels)) != (plan["name"], plan["collective"], len(gpu["threadblocks"]), counted):
            found.append(f"rank {gpu['id']}: {name} {collective}, {blocks} blocks, {channels} channels")
        if int(operations) != len(written) and not (are_unrolled and int(operations) > len(written)):
            found.append(f"rank {gpu['id']}: {operations} operations instead of {len(written)}")
    return found


def main():
    mscclc, checkout, cuda, compiler = sys.argv[1:]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="mscclc-loader-") as name:
        folder = pathlib.Path(name)
        loader = build(pathlib.Path(checkout), cuda, compiler, folder)
        path = folder / "plan.json"
        for sample, options, size in PLANS:
            subprocess.run([mscclc, SAMPLES / sample, *options, "-o", path], check=True)
            plan = json.loads(path.read_text(encoding="utf-8"))
            result = load(loader, path, plan, size)
            wrong = [result.stderr] if result.returncode else differences([line.split() for line in result.stdout.splitlines()], plan)
            failed += bool(wrong)
            print(("FAIL  " if wrong else "ok    ") + f"{sample} {' '.join(options)}: {len(plan['gpus'])} ranks" + "".join(f"\n      {one}" for one in wrong))
        # A plan that it cannot run is refused, so the rest was really read.
        plan["gpus"][0]["threadblocks"][0]["ops"][0]["name"] = "nothing"
        path.write_text(json.dumps(plan), encoding="utf-8")
        refused = load(loader, path, plan, size)
        right = refused.returncode == 1 and "refused" in refused.stderr
        failed += not right
        print(("ok    " if right else "FAIL  ") + f"an unknown operation: {refused.stderr.strip()}")
    print(f"{len(PLANS) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

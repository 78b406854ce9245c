"""The backend of torch.distributed, on the host: each scenario of the scripts runs on two ranks, or also on four."""

import functools
import json
import pathlib
import re
import subprocess
import sys

import pytest

import test_readme

pytest.importorskip("torch")
HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = [
    (HERE / "torch_ranks.py", 2),
    (HERE / "torch_training.py", 2),
    (HERE / "torch_services.py", 2),
    (HERE / "torch_norms.py", 2),
    (HERE / "torch_norms.py", 4),
    (HERE / "torch_norms.py", 8),
    (HERE / "torch_rows.py", 2),
    (HERE / "torch_rows.py", 4),
    (HERE / "torch_moe.py", 2),
    (HERE / "torch_moe.py", 4),
]
SAMPLE = str(HERE.parent.parent / "samples/allreduce_allpairs.cpp")
RANKS = 2
SCENARIOS = [
    pytest.param(script, ranks, name, id=name if ranks == RANKS else f"{name}-{ranks}")
    for script, ranks in SCRIPTS
    for name in re.findall(r"^@scenario\ndef (\w+)", script.read_text(), re.M)
]


def run(script, folder, *arguments, timeout=400, ranks=RANKS):
    """Runs the script on all ranks. Returns their exit codes and errors."""
    processes = [
        subprocess.Popen(
            [sys.executable, str(script), str(rank), str(ranks), str(folder), *arguments],
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]
    try:
        errors = [process.communicate(timeout=timeout)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [process.returncode for process in processes], errors


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """Returns how a script ended: the results of each rank, exit codes and errors. The script runs once."""

    @functools.cache
    def of(script, ranks):
        folder = tmp_path_factory.mktemp("ranks")
        codes, errors = run(script, folder, ranks=ranks)
        found = [
            json.loads(path.read_text()) if path.exists() else {}
            for path in (folder / f"{rank}.json" for rank in range(ranks))
        ]
        return found, codes, errors

    return of


@pytest.mark.parametrize("script, ranks, name", SCENARIOS)
def test_scenario(ended, script, ranks, name):
    found, codes, errors = ended(script, ranks)
    for rank, results in enumerate(found):
        assert results.get(name) == "", (
            results.get(name) or f"rank {rank} did not come here, exit code {codes[rank]}\n{errors[rank]}"
        )


@pytest.mark.parametrize("script, ranks", SCRIPTS, ids=[f"{script.stem}-{ranks}" for script, ranks in SCRIPTS])
def test_all_ranks_end_well(ended, script, ranks):
    _, codes, errors = ended(script, ranks)
    assert codes == [0] * ranks, errors


DIES = """
import os, sys, time, torch, torch.distributed as dist, mscclc, mscclc.torch
from datetime import timedelta
rank, size, folder, sample = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
mscclc.register(mscclc.Kernel.compile(sample, params={"ranks": size, "threadBlocks": 1}, platform="host"))
dist.init_process_group("mscclc", init_method=f"file://{folder}/store", rank=rank, world_size=size,
                        timeout=timedelta(seconds=30))
x = torch.ones(64)
dist.all_reduce(x)
if rank == 1:
    os._exit(7)
started = time.time()
try:
    dist.all_reduce(x)
except mscclc.CallError as error:
    assert time.time() - started < 20
    print(error, file=sys.stderr)
"""


def test_a_rank_that_dies(tmp_path):
    (tmp_path / "dies.py").write_text(DIES)
    codes, errors = run(
        tmp_path / "dies.py", tmp_path, SAMPLE, timeout=100
    )
    assert codes == [0, 7] and "MSCCLC_ERROR_PEER_LOST" in errors[0], errors


DIES_IN_DDP = """
import os, sys, torch, torch.distributed as dist, mscclc, mscclc.torch
from datetime import timedelta
rank, size, folder, sample = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
if sample != "none":
    mscclc.register(mscclc.Kernel.compile(sample, params={"ranks": size, "threadBlocks": 1}, platform="host"))
dist.init_process_group("mscclc", init_method=f"file://{folder}/store", rank=rank, world_size=size,
                        timeout=timedelta(seconds=30))
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 4))
for step in range(4):
    if rank == 1 and step == 3:  # in step 1 DDP makes its buckets anew
        os._exit(7)
    net(torch.ones(2, 8)).sum().backward()
"""


@pytest.mark.parametrize("sample, reason", [(SAMPLE, "MSCCLC_ERROR_PEER_LOST"), ("none", "by peer")])
def test_a_rank_that_dies_while_ddp_waits(tmp_path, sample, reason):
    """The wait is in C++. The survivor raises there, and is not ended by a signal."""
    (tmp_path / "dies.py").write_text(DIES_IN_DDP)
    codes, errors = run(tmp_path / "dies.py", tmp_path, sample, timeout=100)
    assert codes == [1, 7] and reason in errors[0] and "Traceback" in errors[0], (codes, errors)


def test_bfloat16_of_a_device():
    import torch
    from mscclc.arrays import memory_of

    class OnDevice:
        """Imitates what PyTorch says about a bfloat16 tensor on CUDA. The memory is the host's."""

        def __init__(self, tensor):
            data = (tensor.data_ptr(), False)
            self.__cuda_array_interface__ = {"typestr": "<V2", "shape": tuple(tensor.shape), "data": data, "version": 2}
            self.__dlpack__ = tensor.__dlpack__

    tensor = torch.zeros(6, dtype=torch.bfloat16)
    memory = memory_of(OnDevice(tensor))
    assert (memory.address, memory.bytes, memory.dtype) == (tensor.data_ptr(), 12, "bfloat16")


EXPERTS = "import mscclc\nimport mscclc.torch\nimport torch\nimport torch.distributed as dist\nfrom mscclc.torch.moe"
ROWS = "import mscclc\nimport mscclc.torch\nimport torch\nimport torch.distributed as dist\nfrom mscclc.torch import ops"


@pytest.mark.parametrize(
    "begins, parts",
    [
        ("import torch", ("8.0", "{'allreduce_allpairs': 2}")),
        ("import mscclc\nimport mscclc.torch", ("8.0 1.0", "{'allreduce_norm': 1}")),
        (ROWS, ("{'alltoallv_packed': 1}",)),
        (EXPERTS, ("[8.0, 8.0, 4.0]", "{'moe_dispatch': 1, 'moe_combine': 1}")),
    ],
    ids=["collectives", "norm", "rows", "experts"],
)
def test_examples_of_the_page(tmp_path, begins, parts):
    done = test_readme.run(
        test_readme.example("runtime-min/python/README.md", begins),
        tmp_path,
        "-m",
        "torch.distributed.run",
        "--nproc-per-node=2",
    )
    # Both processes print to one pipe, so their parts of a line may be mixed.
    said = [done.stdout.count(part) for part in parts]
    assert (done.returncode, said) == (0, [2] * len(parts)), done.stdout + done.stderr

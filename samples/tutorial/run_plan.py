"""Lesson 7: runs a plan with MSCCL++'s executor, and checks the result. usage: mpirun -np RANKS python run_plan.py PLAN BYTES

The plan is of an all-gather or an all-reduce, in place. BYTES is the size of the message.
"""
import sys

import cupy
from mpi4py import MPI
from mscclpp import CommGroup, DataType, ExecutionPlan, Executor, GpuBuffer, PacketType

path, size = sys.argv[1], int(sys.argv[2])
group = CommGroup(MPI.COMM_WORLD)
rank, ranks = group.my_rank, group.nranks
cupy.cuda.Device(rank % group.nranks_per_node).use()
plan = ExecutionPlan(path, rank)
executor = Executor(group.communicator)

elements = size // 4
index = cupy.arange(elements, dtype=cupy.float32) % 1000
output = GpuBuffer(elements, dtype=cupy.float32)
if plan.collective == "allgather":  # in place: the input of a rank is its share of the output
    share = elements // ranks
    source = output[rank * share : (rank + 1) * share]
    expected = index
elif plan.collective == "allreduce":
    source = output
    expected = index * ranks
else:
    sys.exit(f"this script checks an allgather or an allreduce, not an {plan.collective}")

stream = cupy.cuda.Stream(non_blocking=True)
for launch in range(10):  # a plan may be launched again at once
    with stream:
        output.fill(-1)
        source[:] = index[rank * share : (rank + 1) * share] if plan.collective == "allgather" else index
    executor.execute(rank, source.data.ptr, output.data.ptr, source.nbytes, output.nbytes, DataType.float32, plan, stream.ptr,
                     PacketType.LL16)
stream.synchronize()
wrong = int(cupy.count_nonzero(output != expected))
print(f"rank {rank}: {plan.name}, {size} bytes: {wrong} of {elements} elements are wrong")
sys.exit(wrong != 0)

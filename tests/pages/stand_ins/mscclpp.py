"""Stands in for mscclpp in host memory, as far as samples/tutorial/run_plan.py calls it. MPI moves the data.

With SPOILED=RANK in the environment, that rank gets a wrong element.
"""
import ctypes
import json
import os

import cupy
import numpy


class CommGroup:
    def __init__(self, mpi_comm):
        self.communicator = mpi_comm
        self.my_rank, self.nranks = mpi_comm.Get_rank(), mpi_comm.Get_size()
        self.nranks_per_node = self.nranks


class DataType:
    float32 = "float32"


class PacketType:
    LL16 = "LL16"


class ExecutionPlan:
    def __init__(self, path, rank):
        with open(path, encoding="utf-8") as file:
            plan = json.load(file)
        self.name, self.collective = plan["name"], plan["collective"]
        assert rank < len(plan["gpus"])


def GpuBuffer(count, dtype):
    return numpy.zeros(count, dtype).view(cupy.Array)


class Executor:
    def __init__(self, communicator):
        self.communicator = communicator

    def execute(self, rank, source, output, source_bytes, output_bytes, data_type, plan, stream, packets):
        assert (data_type, packets, stream) == (DataType.float32, PacketType.LL16, 0)
        parts = self.communicator.allgather(ctypes.string_at(source, source_bytes))
        if plan.collective == "allgather":
            result = numpy.frombuffer(b"".join(parts), numpy.float32).copy()
        else:
            result = sum(numpy.frombuffer(part, numpy.float32) for part in parts)
        if os.environ.get("SPOILED") == str(rank):
            result[len(result) // 2] += 1
        assert result.nbytes == output_bytes
        ctypes.memmove(output, result.ctypes.data, output_bytes)

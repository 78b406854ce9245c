"""Lesson 8: bakes a kernel of scale_hook.cpp, and runs it on two ranks, in host memory."""
import mscclc
import numpy

kernel = mscclc.Kernel.compile("scale_hook.cpp", params={"ranks": 2}, platform="host")
with mscclc.Communicator(2, platform="host") as ranks:
    arrays = [numpy.full(1000, rank + 1, numpy.float32) for rank in range(2)]
    factors = [numpy.full(1, 0.5, numpy.float32) for rank in range(2)]
    ranks.run(kernel, arrays, hook_arrays={"factor": factors})  # in place
print(arrays[1][999], "on both ranks")  # (1 + 2) * 0.5

"""A rank of four in a process of its own, of a test of what is said of hangs: hang_rank.py FAULT RANK PLACE LIBRARY...
It makes three launches, the last with a fault on some rank, and prints its failure."""
import os
import signal
import sys
import time

import mscclc

fault, rank, place = sys.argv[1], int(sys.argv[2]), sys.argv[3]
kernel, other = (mscclc.Kernel.load(path)[0] for path in sys.argv[4:6])
ranks = mscclc.Communicator(
    4, first_local_rank=rank, local_ranks=1, platform="host", rendezvous=place, setup_timeout=60, wait_timeout=2
)
data = ranks.allocate(1 << 16)
ranks.prepare(kernel, 1 << 16)
ranks.prepare(other, 1 << 16)


def launch(which, size):
    ranks.launch(which, data, message_bytes=size, dtype="float32")


try:
    for _ in range(2):
        launch(kernel, 4096)
    ranks.synchronize()
    ranks.barrier()
    if rank == 2 and fault == "killed":
        time.sleep(1)  # the others launch
        os.kill(os.getpid(), signal.SIGKILL)
    if rank == 2 and fault == "size":
        launch(kernel, 64)
    elif rank == 2 and fault == "kernel":
        launch(other, 8192)
    elif not (rank == 2 and fault == "never"):
        launch(kernel, 1 << 16)
    for _ in range(300):
        time.sleep(0.1)
        ranks.synchronize()
except mscclc.CallError as error:
    print(error, flush=True)
    time.sleep(5)  # the others hear of the failure before they hear of this process's end
    os._exit(0)

"""Prints a plan of one rank with so many thread blocks, which race and then meet at one barrier."""
import json
import sys

number = int(sys.argv[1])


def copy(to):
    one = {"index": 0, "size": 1}
    return {"name": "copy", "src_buff": [{"type": "i"} | one], "dst_buff": [{"type": to} | one]}


barrier = {"name": "barrier", "barrier_id": 0, "num_threadblocks": number}
blocks = [
    {"id": b, "ops": [copy("o"), barrier, copy("s")], "channels": [], "remote_buffer_refs": []} for b in range(number)
]
rank = {"id": 0, "input_chunks": 1, "output_chunks": 1, "scratch_chunks": 1, "threadblocks": blocks}
rank |= {"channels": [], "remote_buffers": [], "semaphores": []}
plan = {"name": "many_blocks", "collective": "allgather", "protocol": "Simple", "inplace": False, "gpus": [rank]}
plan |= {"reuse_resources": False, "use_double_scratch_buffer": False, "num_threads_per_block": 1024}
print(json.dumps(plan | {"buffer_alignment": 16, "min_message_size": 0, "max_message_size": 1 << 40}))

"""Prints a program of the given number of ranks that do nothing: IR text ("ir") or a plan ("json")."""
import sys

kind, ranks = sys.argv[1], int(sys.argv[2])
if kind == "ir":
    print('mscclc.ir 1\nprogram "p" {\n  collective test')
    for rank in range(ranks):
        print(f"  rank {rank} {{\n  }}")
    print("}")
else:
    rest = '"threadblocks": [], "channels": [], "remote_buffers": [], "semaphores": []'
    print('{"name": "p", "collective": "test", "protocol": "Simple", "inplace": false, "reuse_resources": false, "gpus": [')
    for rank in range(ranks):
        end = "," if rank + 1 < ranks else ""
        print(f'{{"id": {rank}, "input_chunks": 0, "output_chunks": 0, "scratch_chunks": 0, {rest}}}{end}')
    print('], "num_threads_per_block": 1024, "use_double_scratch_buffer": false, "buffer_alignment": 16,')
    print('"min_message_size": 0, "max_message_size": 1024}')

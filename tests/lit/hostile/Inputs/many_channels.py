"""Writes channels.ir, channels.json, nested.ir and nested.json into the folder argv[1]: far too much of something."""
import json
import pathlib
import sys

CHANNELS, DEPTH = 1_000_000, 200_000
folder = pathlib.Path(sys.argv[1])


def ir(ranks):
    return f'mscclc.ir 1\n\nprogram "demo" {{\n  collective test\n  max_message_size 1024\n{ranks}}}\n\nlocations {{\n}}\n'


def ir_rank(rank, head, ops):
    return f"  rank {rank} {{\n    buffers input 1 output 1 scratch 0\n{head}    block 0 {{\n{ops}    }}\n  }}\n"


def ir_of_channels(rank, op):
    uses = ", ".join(f"memory {i}" for i in range(CHANNELS))
    ops = "".join(f"      {op} memory [{i}]\n" for i in range(CHANNELS))
    peers = ", ".join([str(1 - rank)] * CHANNELS)
    return ir_rank(rank, f"    memory_channels [{peers}]\n", f"      channels [{uses}]\n{ops}")


def plan(blocks):
    def gpu(rank, block):
        peers = [1 - rank] * len(block["channels"][0]["channel_ids"]) if block["channels"] else []
        return {"id": rank, "input_chunks": 1, "output_chunks": 1, "scratch_chunks": 0, "threadblocks": [block],
                "channels": [{"channel_type": "memory", "connected_to": peers}] if peers else [], "remote_buffers": [],
                "semaphores": []}
    return json.dumps({
        "name": "demo", "collective": "test", "protocol": "Simple", "inplace": False, "reuse_resources": False,
        "gpus": [gpu(rank, block) for rank, block in enumerate(blocks)], "num_threads_per_block": 1024,
        "use_double_scratch_buffer": False, "buffer_alignment": 16, "min_message_size": 0, "max_message_size": 1024})


def block_of_channels(op):
    ids = list(range(CHANNELS))
    return {"id": 0, "ops": [{"name": op, "channel_ids": ids, "channel_type": "memory"}],
            "channels": [{"channel_type": "memory", "channel_ids": ids}], "remote_buffer_refs": []}


LOOP = '{"name": "pipeline", "iter_context": {"unit_size": 1048576, "num_chunks": 2}, "ops": ['
(folder / "channels.ir").write_text(ir(ir_of_channels(0, "signal") + ir_of_channels(1, "wait")))
(folder / "channels.json").write_text(plan([block_of_channels("signal"), block_of_channels("wait")]))
(folder / "nested.ir").write_text(
    ir(ir_rank(0, "", "pipeline unit_size 1048576 num_chunks 2 {\n" * DEPTH + "nop\n" + "}\n" * DEPTH)))
(folder / "nested.json").write_text(
    plan([{"id": 0, "ops": ["@"], "channels": [], "remote_buffer_refs": []}])
    .replace('"@"', LOOP * DEPTH + '{"name": "nop"}' + "]}" * DEPTH))

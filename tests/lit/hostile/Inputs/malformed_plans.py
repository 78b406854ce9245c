"""Damages a plan in many ways; mscclc must refuse each with exit code 1 and a JSON path, fast and in little memory.

usage: malformed_plans.py MSCCLC PLAN FOLDER
"""
import copy
import json
import pathlib
import resource
import subprocess
import sys

MSCCLC, PLAN, FOLDER = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
TEXT = pathlib.Path(PLAN).read_text("utf-8")
PUT = "$.gpus[0].threadblocks[0].ops[5]"
NESTED = {"name": "pipeline", "iter_context": {"unit_size": 16, "num_chunks": 1}, "ops": []}


def op(plan, index):
    return plan["gpus"][0]["threadblocks"][0]["ops"][index]


def first(plan, what):
    plan["gpus"][0]["threadblocks"][0]["ops"].insert(0, what)


# How the plan is changed, and the path that the error must name.
CHANGES = [
    (lambda p: op(p, 1).update(channel_ids=[7]), "$.gpus[0].threadblocks[0].ops[1].channel_ids[0]: error: memory channel 7 is out of range"),
    (lambda p: op(p, 1).update(channel_ids=[-1]), "ops[1].channel_ids[0]: error: expected a whole number"),
    (lambda p: op(p, 1).update(channel_ids=["0"]), "ops[1].channel_ids[0]: error: expected a number, found a string"),
    (lambda p: op(p, 1).update(channel_ids=[0.5]), "ops[1].channel_ids[0]: error: expected a whole number"),
    (lambda p: op(p, 1).update(name="foo"), "ops[1].name: error: unknown operation 'foo'"),
    (lambda p: op(p, 5)["src_buff"][0].update(index=10**30), PUT + ".src_buff[0].index: error: expected a whole number"),
    (lambda p: op(p, 5)["src_buff"][0].update(index=2**32 - 1, size=2**32 - 1), PUT + ": error: put: output[4294967295:8589934590]"),
    (lambda p: op(p, 5)["src_buff"][0].update(size=0), PUT + ": error: put: source 0 is empty"),
    (lambda p: op(p, 5)["src_buff"][0].update(type="q"), PUT + ".src_buff[0].type: error: expected 'i', 'o' or 's'"),
    (lambda p: op(p, 5)["dst_buff"][0].update(buffer_id=3), PUT + ".dst_buff[0].buffer_id: error: remote buffer 3 is out of range"),
    (lambda p: op(p, 5).update(tbg_info={"tb_id": 4, "tbg_size": 2}), PUT + ": error: put: slice 4 of 2"),
    (lambda p: op(p, 5).update(more=1), PUT + ": error: unknown field 'more'"),
    (lambda p: p["gpus"][0]["threadblocks"][0].pop("ops"), "$.gpus[0].threadblocks[0]: error: field 'ops' is missing"),
    (lambda p: p.pop("gpus"), "$: error: field 'gpus' is missing"),
    (lambda p: p.update(gpus=None), "$.gpus: error: expected a list, found null"),
    (lambda p: p.update(gpus=[]), "$: error: the program has no ranks"),
    (lambda p: p["gpus"][1].update(id=0), "$.gpus[1].id: error: gpu id 0 is given twice"),
    (lambda p: p["gpus"][0].update(id=2**31), "$.gpus[0].id: error: gpu id 2147483648 is out of range"),
    (lambda p: p["gpus"][0]["threadblocks"].append(p["gpus"][0]["threadblocks"][0]), "$.gpus[0].threadblocks[1].id: error: thread block id 0 is given twice"),
    (lambda p: p["gpus"][0]["channels"][0].update(connected_to=[77]), "$.gpus[0].channels[0].connected_to[0]: error: rank 77 is out of range"),
    (lambda p: p.update(protocol="LL128"), "$.protocol: error: expected 'Simple' or 'LL'"),
    (lambda p: p.update(buffer_alignment=0), "$: error: the buffer alignment of 0 bytes is not a power of two"),
    (lambda p: p.update(buffer_alignment=17), "$: error: the buffer alignment of 17 bytes is not a power of two"),
    (lambda p: p.update(name=""), "$: error: the program's name is empty"),
    (lambda p: p["gpus"][1].update(semaphores=[{"init_value": 2**31}]), "$.gpus[1]: error: semaphore 0 starts at 2147483648: at most 2147483647 is possible"),
    (lambda p: p.update(num_threads_per_block=2**40), "$.num_threads_per_block: error: expected a whole number"),
    (lambda p: first(p, {"name": "barrier", "barrier_id": -1, "num_threadblocks": 2}), "ops[0].barrier_id: error: expected a whole number"),
    (lambda p: first(p, {"name": "sem_acquire", "semaphore_ids": [3]}), "ops[0].semaphore_ids[0]: error: semaphore 3 is out of range"),
    (lambda p: first(p, {**NESTED, "ops": [NESTED]}), "ops[0].ops[0].ops: error: a pipeline cannot be inside a pipeline"),
]
INDEX = b'"index":0'
NAME = b'"single_node__allgather"'
# What the text is replaced by, and the path.
TEXTS = [
    (lambda t: b"", "$: error: this is not JSON"),
    (lambda t: t[:-40], "error: this is not JSON: unexpected end"),
    (lambda t: t + b"{}", "$: error: this is not JSON: text after the plan"),
    (lambda t: t.decode().encode("utf-16"), "$: error: this is not JSON"),
    (lambda t: t.replace(NAME, b'"\xff\xfe"'), "$.name: error: this is not JSON: invalid string: ill-formed UTF-8 byte"),
    (lambda t: t.replace(NAME, b'"a\x00b"'), "$.name: error: this is not JSON: a NUL byte"),
    (lambda t: t.replace(NAME, b'"\\ud800"'), "$.name: error: this is not JSON: invalid string: surrogate U+D800"),
    (lambda t: t.replace(INDEX, b'"index":NaN', 1), ".index: error: this is not JSON"),
    (lambda t: t.replace(INDEX, b'"index":1e999', 1), ".index: error: expected a whole number"),
    (lambda t: t.replace(INDEX, b'"index":00', 1), ".src_buff[0]: error: this is not JSON: unexpected number literal"),
    (lambda t: t.replace(INDEX, b'"index":' + b"9" * 1000000, 1), ".index: error: expected a whole number"),
    (lambda t: t.replace(b'"id":0,', b'"id":0,"id":1,', 1), "$.gpus[0]: error: field 'id' is given twice"),
    (lambda t: t.replace(INDEX, b'"index":' + b"[" * 1000000 + b"]" * 1000000, 1), ".index: error: expected a number, found a list"),
    (lambda t: b"[" * 5000000, "$: error: expected an object, found a list"),
    (lambda t: b'{"a":' * 3000000, "$: error: unknown field 'a'"),
    (lambda t: b'{"a":' + b"[" * 1000000 + b"]" * 1000000 + b"}", "$: error: unknown field 'a'"),
]


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))


def main():
    damaged = []
    for change, path in CHANGES:
        plan = copy.deepcopy(json.loads(TEXT))
        change(plan)
        damaged.append((json.dumps(plan).encode(), path))
    compact = json.dumps(json.loads(TEXT), separators=(",", ":")).encode()
    damaged += [(change(compact), path) for change, path in TEXTS]
    failed = 0
    for i, (text, path) in enumerate(damaged):
        plan = FOLDER / f"malformed{i}.json"
        plan.write_bytes(text)
        run = subprocess.run([MSCCLC, plan, "-o", FOLDER / "out.json"], capture_output=True, preexec_fn=limited)
        errors = run.stderr.decode(errors="replace")
        if run.returncode != 1 or path not in errors or (FOLDER / "out.json").exists():
            print(f"{plan}: exit code {run.returncode}, expected: {path}\n{errors[:500]}")
            failed += 1
    # A byte order mark is not part of the text.
    (FOLDER / "bom.json").write_bytes(b"\xef\xbb\xbf" + compact)
    failed += subprocess.run([MSCCLC, FOLDER / "bom.json", "-o", FOLDER / "out.json"]).returncode != 0
    return 1 if failed else 0


sys.exit(main())

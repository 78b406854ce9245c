"""The text of a kernel: from mscclc, of an algorithm's source, or from emit_plan, of a plan or an example."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

MACHINES = pathlib.Path(__file__).resolve().parents[2] / "passes" / "time" / "machines"


def add_arguments(parser):
    parser.add_argument("--emit", help="the program emit_plan")
    parser.add_argument("--mscclc", help="in its place, for algorithms' sources")
    parser.add_argument("--param", action="append", default=[], help="NAME=VALUE of an algorithm")
    parser.add_argument("--message-size", help="of an algorithm: what the compiler schedules it for")


def text_of(command):
    emitted = subprocess.run(command, capture_output=True, text=True)
    if emitted.returncode != 0:
        sys.exit(f"{command[0]} ends with {emitted.returncode}\n{emitted.stderr[:4000]}")
    return emitted.stdout


def of_algorithm(mscclc, source, parameters, message_size=None, options=(), few_blocks=False):
    """Returns the text of an algorithm's kernel. `few_blocks`: as for a GPU whose thread blocks are fast."""
    words = [*options, *(word for parameter in parameters for word in ("-P", parameter))]
    if message_size:
        words += ["--message-size", message_size]
    with tempfile.TemporaryDirectory() as folder:
        if few_blocks:
            words += ["--machine", str(machine_of_few_blocks(folder))]
        return text_of([mscclc, source, *words, "--emit-cuda", "-o", "-"])


def for_client(*algorithm, **options):
    """Returns the text of an algorithm's kernel (see of_algorithm) for a client. If it hands rows over, a kernel of a
    user is behind it. Then it is compiled with this folder among those of headers."""
    text = of_algorithm(*algorithm, **options)
    return text + '\n#include "ready_user.cuh"\n' if "readyRows" in text else text


def machine_of_few_blocks(folder):
    """Writes a machine to `folder` whose thread blocks copy four times as much as those of an H100, and returns its path.
    A kernel that is for any size has as many blocks as pay for a large one, and each is many threads on a CPU. On this
    machine the blocks of each kind are a quarter as many."""
    machine = json.loads((MACHINES / "h100x8.json").read_text())
    machine["parameters"]["block_copy"]["value"] *= 4
    path = pathlib.Path(folder, "machine.json")
    path.write_text(json.dumps(machine))
    return path


def of(options, what, *size):
    """Returns the text, according to the arguments of add_arguments. `size` is the message size to compile for, which
    emit_plan takes."""
    if options.mscclc:
        return of_algorithm(options.mscclc, what, options.param, options.message_size)
    return text_of([options.emit, what, *size])


def with_instances(text, rows):
    """Returns the text of a kernel whose launches take so many instances from these sizes of a message on: BYTES:NUMBER
    with commas between them."""
    table = ", ".join("{" + row.replace(":", ", ") + "}" for row in rows.split(","))
    with_table = text.replace("struct Plan {\n", "struct Plan {\n  static constexpr LaunchInstances instances[] = {" + table + "};\n", 1)
    return with_table if with_table != text else sys.exit("the kernel has no Plan")


def check_order(text, tree):
    """Ends the program unless the kernel's text names this order of sums."""
    named = re.search(r"^// Sums: (.+)$", text, re.M)
    if named is None or named[1] != tree:
        sys.exit(f"the kernel sums {named[1] if named else 'nothing'}, not {tree}")


def with_operands_exchanged(text):
    """Returns the text with the first and the last of the operands of a reduction exchanged."""
    listed = re.search(r"\breduce\w*<Op>\([^;]*?list<(\d+)>\(\[&\]\(int (i)\) {", text)
    if listed:
        last = int(listed[1]) - 1
        exchanged = f"const int i = n == 0 ? {last} : n == {last} ? 0 : n;"
        return f"{text[: listed.start(2)]}n) {{ {exchanged}{text[listed.end() :]}"
    operand = r"(k\.\w+\((?:[^()]|\([^()]*\))*\))"
    few = re.search(rf"\breduce\w*<Op>\([^;]*?few\({operand},\s*(?:{operand},\s*)*?{operand}\)", text)
    if few is None:
        sys.exit("no reduction has two operands that could be exchanged")
    between = text[few.end(1) : few.start(3)]
    return f"{text[: few.start(1)]}{few[3]}{between}{few[1]}{text[few.end(3) :]}"

"""The text of a kernel: from mscclc, of an algorithm's source, or from emit_plan, of a plan or an example."""
import subprocess
import sys


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


def of_algorithm(mscclc, source, parameters, message_size=None):
    words = [word for parameter in parameters for word in ("-P", parameter)]
    if message_size:
        words += ["--message-size", message_size]
    return text_of([mscclc, source, *words, "--emit-cuda", "-o", "-"])


def of(options, what, *size):
    """Returns the text, according to the arguments of add_arguments. `size` is the message size to compile for, which
    emit_plan takes."""
    if options.mscclc:
        return of_algorithm(options.mscclc, what, options.param, options.message_size)
    return text_of([options.emit, what, *size])

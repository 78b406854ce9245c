"""mscclc library: a folder of kernels for the library in NCCL's place, chosen by the time model."""

from __future__ import annotations

import argparse
import sys
from typing import Sequence

from .errors import Error
from .library import make_library
from .sizes import bytes_of


def _size(text: str) -> int:
    try:
        size = bytes_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if size == 0:
        raise argparse.ArgumentTypeError("a message of 0 bytes has no kernel")
    return size


def _sizes(text: str) -> list[int]:
    """Parses "1K..1M" (each size is twice the one before) or "1K,64K" (a list)."""
    first, dots, last = text.partition("..")
    if not dots:
        return [_size(part) for part in text.split(",")]
    sizes = [_size(first)]
    while sizes[-1] * 2 <= _size(last):
        sizes.append(sizes[-1] * 2)
    return sizes


def _param(text: str) -> tuple[str, list[str]]:
    name, equals, values = text.partition("=")
    if not (name and equals and all(values.split(","))):
        raise argparse.ArgumentTypeError(f"'{text}' is no parameter; it is one such as threadBlocks=4,8")
    return name, values.split(",")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="mscclc", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    library = commands.add_parser(
        "library", help="make a folder of kernels, the fastest for each size by the time model", description=__doc__
    )
    library.add_argument(
        "sources", nargs="*", metavar="SOURCE", help="algorithms (.cpp), of any collectives (default: the samples)"
    )
    library.add_argument("-o", "--output", required=True, metavar="FOLDER")
    library.add_argument(
        "--ranks",
        type=lambda text: [int(part) for part in text.split(",")],
        default=[2, 4, 8],
        help="numbers of GPUs, each with a list of its own (2,4,8)",
    )
    library.add_argument("--ranks-per-node", type=int, help="default: all")
    library.add_argument("--machine", default="h100x8", help="as in mscclc --estimate (h100x8)")
    library.add_argument(
        "--sizes", type=_sizes, default=_sizes("1K..1G"), help="of messages: 1K..1G, in powers of two, or 1K,64K,1M"
    )
    library.add_argument(
        "-P",
        dest="params",
        type=_param,
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="values to try of a parameter, for the algorithms that have it: threadBlocks=4,8",
    )
    library.add_argument("--option", action="append", default=[], help="an argument of mscclc, as --option=-O2")
    library.add_argument("--types", type=lambda text: text.split(","), default=[], help="as --dtype of mscclc: f32,f16")
    library.add_argument(
        "--ops", type=lambda text: text.split(","), default=[], help="of kernels that reduce: sum,min,max,prod"
    )
    library.add_argument("--platform", choices=["cuda", "host"], default="cuda")
    library.add_argument("--architecture", type=int, action="append", help="of the GPUs: 90 (the default)")
    library.add_argument(
        "--flag", action="append", default=[], help="an argument of nvcc or the C++ compiler, as --flag=-DMSCCLC_GIN"
    )
    library.add_argument(
        "--invariant", action="store_true", help="only kernels that sum in one order, so that bits do not depend on the size"
    )
    library.add_argument(
        "--baseline",
        metavar="FILE",
        help="a table of NCCL's times; sizes where NCCL is faster are left to it (default: published ones; none: no table)",
    )
    options = parser.parse_args(arguments)
    baseline = {} if options.baseline is None else {"baseline": None if options.baseline == "none" else options.baseline}
    try:
        make_library(
            options.output,
            options.sources,
            ranks=options.ranks,
            ranks_per_node=options.ranks_per_node,
            machine=options.machine,
            sizes=options.sizes,
            params=dict(options.params),
            options=options.option,
            types=options.types,
            ops=options.ops,
            platform=options.platform,
            architectures=options.architecture or [90],
            flags=options.flag,
            invariant=options.invariant,
            **baseline,
            tell=lambda line: print(line, flush=True),
        )
    except (Error, OSError, ValueError) as error:
        print(f"mscclc: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

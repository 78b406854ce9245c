"""mscclc library, mscclc tune: a folder of kernels and plans for the library in NCCL's place, chosen by the time model."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Sequence

from .errors import Error, UsageError
from .library import make_library
from .sizes import bytes_of

#: Values of a range of a parameter.
_MOST_VALUES = 4096


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
    if sizes[0] > _size(last):
        raise argparse.ArgumentTypeError(f"'{text}' has no sizes; the smaller one comes first")
    while sizes[-1] * 2 <= _size(last):
        sizes.append(sizes[-1] * 2)
    return sizes


def _numbers(text: str) -> list[int]:
    """Parses "2,4,8"."""
    if not re.fullmatch(r"[1-9]\d{0,8}(,[1-9]\d{0,8})*", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers from 1 on; it is one such as 2,4,8")
    return [int(part) for part in text.split(",")]


def _param(text: str) -> tuple[str, list[str]]:
    name, equals, values = text.partition("=")
    if not (name and equals and all(values.split(","))):
        raise argparse.ArgumentTypeError(f"'{text}' is no parameter; it is one such as threadBlocks=4,8")
    found = [value for part in values.split(",") for value in _values(part)]
    if name == "ranks":
        _numbers(",".join(found))
    return name, found


def _values(text: str) -> list[str]:
    """Parses "1..8" (each number) or a value."""
    first, dots, last = text.partition("..")
    if not dots or not (first.isdigit() and last.isdigit()):
        return [text]
    if not 0 <= int(last) - int(first) < _MOST_VALUES:
        raise argparse.ArgumentTypeError(f"'{text}' has no values, or more than {_MOST_VALUES}")
    return [str(number) for number in range(int(first), int(last) + 1)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="mscclc", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for command, what, sources in (
        ("library", "make a folder of kernels, the fastest for each size by the time model", "*"),
        ("tune", "the same, of your own algorithms", "+"),
    ):
        _add_options(commands.add_parser(command, help=what, description=__doc__), sources)
    options = parser.parse_args(arguments)
    params = dict(options.params)
    baseline = {} if options.baseline is None else {"baseline": None if options.baseline == "none" else options.baseline}
    try:
        make_library(
            options.output,
            options.sources,
            ranks=options.ranks or ([int(number) for number in params["ranks"]] if "ranks" in params else None),
            ranks_per_node=options.ranks_per_node,
            nodes=options.nodes,
            machine=options.machine,
            sizes=options.sizes,
            params=params,
            options=options.option,
            types=options.types,
            ops=options.ops,
            platform=options.platform,
            architectures=options.architecture or [90],
            flags=options.flag,
            invariant=options.invariant,
            others=options.others,
            **baseline,
            tell=lambda line: print(line, flush=True),
        )
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    except (Error, OSError, ValueError) as error:
        print(f"mscclc: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("mscclc: interrupted; the same command goes on", file=sys.stderr)
        return 130
    return 0


def _add_options(library: argparse.ArgumentParser, sources: str) -> None:
    """Adds the arguments of a command; `sources` says how many of these it takes, as nargs."""
    library.add_argument(
        "sources",
        nargs=sources,
        metavar="SOURCE",
        help="algorithms (.cpp), of any collectives" + (" (default: the samples)" if sources == "*" else ""),
    )
    library.add_argument("-o", "--output", required=True, metavar="FOLDER")
    library.add_argument(
        "--ranks",
        type=_numbers,
        help="numbers of GPUs, each with a list of its own (those of -P ranks=N, else 2,4,8; for the samples without "
        "--nodes 2,4,8,16, if a node has so many)",
    )
    library.add_argument("--ranks-per-node", type=int, help="those of --ranks that share a node (default: all)")
    library.add_argument(
        "--nodes",
        type=_numbers,
        help="numbers of nodes, each with so many GPUs as --ranks says (1; for the samples without --ranks 1,2,4,8)",
    )
    library.add_argument("--machine", default="h100x8", help="as in mscclc --estimate (h100x8)")
    library.add_argument(
        "--sizes", "--size", type=_sizes, default=_sizes("1K..4G"), help="of messages: 1K..4G, in powers of two, or 1K,64K,1M"
    )
    library.add_argument(
        "-P",
        "--over",
        dest="params",
        type=_param,
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="values to try of a parameter, for the algorithms that have it: threadBlocks=4,8 or threadBlocks=1..8",
    )
    library.add_argument("--option", action="append", default=[], help="an argument of mscclc, as --option=-O2")
    library.add_argument("--types", type=lambda text: text.split(","), default=[], help="as --dtype of mscclc: f32,f16")
    library.add_argument(
        "--ops", type=lambda text: text.split(","), default=[], help="of kernels that reduce: sum,min,max,prod"
    )
    library.add_argument(
        "--platform", choices=["cuda", "host", "none"], default="cuda", help="none: write sources, and compile nothing"
    )
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
        help="a table of NCCL's times; NCCL has the sizes at which no algorithm is sure to be faster, and calls that are not "
        "in the table (default: published times; none: NCCL has nothing that an algorithm takes)",
    )
    library.add_argument(
        "--others", type=int, default=2, help="candidates for measuring with each entry of the list, at most (2)"
    )


if __name__ == "__main__":
    sys.exit(main())

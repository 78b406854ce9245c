"""The kernels that a folder may have: algorithms with their parameters, placed on a machine, scheduled for each size and
timed by the model."""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import pathlib
import re
from dataclasses import dataclass, field
from typing import Callable, Iterator, Mapping, Sequence

from .baseline import Baseline, copies, wins
from .errors import CompileError
from .install import samples_folder
from .kernels import named_sums, types_of
from .tool import Path, Plan, Program, estimate, run_tool

#: The executor of MSCCL++ does not run these kernels.
TARGET = "--target=none"
#: What is only timed is not proven. Kernels that are written are.
UNPROVEN = "--no-verify"
#: The end of the list. Larger messages are treated like the largest size that was given.
LARGEST = 1 << 40
#: What the tool has optimised and scheduled is timed and written as it is.
_AS_IT_IS = "-O0"
#: Options of the tool for reading a source, which it refuses for what it has read.
_READING = ("-I", "-D", "--allow-include", "--trace-timeout", "--trace-memory")
#: A schedule is timed at sizes up to that factor from those that it was made for.
_REACH = 4


@dataclass
class Candidate:
    """An algorithm with its parameters and options, and the times (in microseconds) of its kernel by size (in bytes).
    `kernel`: the program of the kernel, if that is a schedule for the size `scheduled_for`."""

    plan: Plan
    emitted: str = field(repr=False)
    kernel: Program | None = None
    scheduled_for: int | None = None
    made_for: list[int] = field(default_factory=list)
    """The sizes that have this schedule; empty if it is for all sizes."""
    times: dict[int, float] = field(default_factory=dict)
    copies: dict[int, float] = field(default_factory=dict)
    """The times of copying a message to a window and back, by its size."""

    def _number(self, name: str, otherwise: int) -> int:
        found = re.search(rf"\b{name} = (\d+)u?[,;]", self.emitted)
        return int(found[1]) if found else otherwise

    @functools.cached_property
    def root(self) -> int:
        return self._number("root", 0)

    @property
    def in_place(self) -> bool:
        return bool(self.plan.facts["inplace"])

    @functools.cached_property
    def types(self) -> list[str] | None:
        """The names of the types of elements that it reduces; None if it takes any type."""
        return types_of(self.emitted)

    @functools.cached_property
    def sums(self) -> str | None:
        """The order of its sums, as the tool says; nothing if it has none."""
        return named_sums(self.emitted)

    @functools.cached_property
    def least(self) -> int:
        """Returns the smallest message that it accepts, in bytes."""
        return self._number("minMessageBytes", 0)

    @functools.cached_property
    def most(self) -> int:
        """Returns the largest message that it accepts, in bytes."""
        return self._number("maxMessageBytes", LARGEST)

    def time(self, sizes: Sequence[int], machine: str, far: bool = False) -> None:
        """Estimates the times that are not known yet. Sizes that it does not accept have no time, nor have those that
        are not near to the ones that it was made for, unless `far`."""
        wanted = [
            size
            for size in sizes
            if size not in self.times and self.least <= size <= self.most and (far or self._reaches(size))
        ]
        if wanted:
            program = self.kernel or self.plan.program
            found = estimate(
                program.source,
                wanted,
                machine=machine,
                params=dict(program.params),
                options=[*program.options, UNPROVEN],
                text=program.text,
            )
            self.times.update((one.bytes, one.microseconds) for one in found)
            self.copies.update((one.bytes, copies(one)) for one in found)

    def _reaches(self, size: int) -> bool:
        return not self.made_for or any(made <= size * _REACH and size <= made * _REACH for made in self.made_for)

    def at(self, size: int) -> float:
        return self.times.get(size, float("inf"))

    def wins(self, size: int, baseline: Baseline | None) -> bool:
        """True if it takes less than NCCL. Without a baseline, nothing is known of NCCL."""
        return baseline is None or wins(self.at(size), self.copies.get(size, 0), baseline.at(size))


@dataclass(frozen=True)
class Place:
    """Where kernels run: on `ranks` GPUs of a machine, `per_node` of which share a node."""

    ranks: int
    per_node: int
    machine: str

    @property
    def nodes(self) -> int:
        return self.ranks // self.per_node

    def params(self, known: Sequence[str]) -> dict[str, str]:
        """Returns those of an algorithm's parameters that put it there."""
        values = {"ranks": self.ranks, "nodes": self.nodes, "gpus": self.per_node}
        return {name: str(value) for name, value in values.items() if name in known}


def places_of(
    ranks: int | Sequence[int], per_node: int | None, nodes: int | Sequence[int], machine: str
) -> list[Place]:
    """Returns where there is a list, without doubles. Raises ValueError."""

    def ascending(numbers: int | Sequence[int]) -> list[int]:
        return [numbers] if isinstance(numbers, int) else sorted(set(numbers))

    found: dict[Place, None] = {}
    for number, count in itertools.product(ascending(nodes), ascending(ranks)):
        if number > 1 and per_node is not None:
            raise ValueError("ranks of a node are given with several nodes: ranks are then those of a node already")
        gpus = count if per_node is None else per_node
        if gpus < 1 or number < 1 or count % gpus:
            raise ValueError(f"{count} ranks on {number} nodes, {gpus} of a node")
        total = count * number
        found[Place(total, gpus, machine if total == gpus or "*" in machine else f"{machine}*{total // gpus}")] = None
    return list(found)


def _divided(options: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divides options of the tool into those for reading a source, and the others."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for name in _READING:
        parser.add_argument(name, action="append")
    found, others = parser.parse_known_args(options)
    reading = [[name, value] for name, values in zip(_READING, vars(found).values()) for value in values or ()]
    return list(itertools.chain(*reading)), others


def parameters_of(source: Path, options: Sequence[str] = ()) -> list[str]:
    """Returns the names of the parameters of a source's algorithms."""
    listed = json.loads(run_tool(Program.of(source, None, None, _divided(options)[0]), "--list", "--json"))
    return [parameter["name"] for algorithm in listed for parameter in algorithm["parameters"]]


def _recorded(program: Program) -> Program | None:
    """Returns a program that says only what moves, as text, which the tool reads faster than a source. Returns None if
    it says more, because the compiler does not schedule such a program."""
    text = run_tool(program, "--emit-ir", "--passes=none", UNPROVEN)
    if not re.search("^  schedule auto$", text, re.M):
        return None
    return Program(f"{pathlib.Path(program.source).stem}.ir", text, None, (), tuple(_divided(program.options)[1]))


def _schedules(
    plan: Plan, moves: Program | None, sizes: Sequence[int], on: Sequence[str]
) -> Iterator[tuple[Program, list[int]]]:
    """Yields the programs that an algorithm is tried as, and the sizes that each is scheduled for. One that says only
    what `moves` is scheduled for each size that it accepts, with the arguments `on`; several sizes may have one schedule.
    Others have no such arguments, and no sizes."""
    least, most = plan.facts["min_message_size"], plan.facts["max_message_size"]
    accepted = [size for size in sizes if least <= size <= most]
    if not accepted:
        return
    is_given = any(option.startswith("--message-size") for option in plan.program.options)
    if is_given or moves is None:
        yield moves or plan.program, []
        return
    made: dict[str, list[int]] = {}
    for size in accepted:
        text = run_tool(moves, "--emit-ir", UNPROVEN, *on, "--message-size", str(size))
        made.setdefault(text, []).append(size)
    options = [option for option in moves.options if not option.startswith("-O")]
    for text, its in made.items():
        yield Program(moves.source, text, None, (), (*options, _AS_IT_IS)), its


def default_sources(nodes: int = 1) -> list[pathlib.Path]:
    """Returns the samples that say only what moves, for any number of ranks of one node, or for any number of nodes.
    Raises LibraryError."""
    wanted = {"ranks"} if nodes == 1 else {"nodes", "gpus"}
    return [source for source in sorted(samples_folder().glob("auto/*.cpp")) if wanted <= set(parameters_of(source))]


def fits(where: Place, tell: Callable[[str], None]) -> bool:
    """True if the machine has so many GPUs. Raises ToolError."""
    source = default_sources(where.nodes)[0]
    program = Program.of(source, where.params(parameters_of(source)), None, [TARGET])
    try:
        run_tool(program, "--emit-ir", UNPROVEN, "--machine", where.machine)
    except CompileError as error:
        if not any(one.name == "not-on-machine" for one in error.diagnostics):
            raise
        tell(f"left out: {where.per_node} GPUs of a node on {where.machine}: {first_of(error)}")
        return False
    return True


def name_of(program: Program) -> str:
    """Returns what messages call a program: its source and its parameters."""
    return " ".join([program.source, *(f"{name}={value}" for name, value in program.params)])


def first_of(error: CompileError) -> str:
    """Returns the first error in a line; a warning may come before it."""
    errors = [str(one) for one in error.diagnostics if one.severity == "error"]
    return (errors or str(error).splitlines())[0]


def candidates_of(
    source: Path,
    place: Place,
    params: Mapping[str, Sequence[str]],
    options: Sequence[str],
    types: Sequence[str],
    sizes: Sequence[int],
    proven: bool,
    tell: Callable[[str], None],
) -> list[Candidate]:
    """Returns the candidates of a source there, timed at `sizes`. Only proven ones have the order of sums."""
    known = parameters_of(source, options)
    names = [name for name in params if name in known]
    found: list[Candidate] = []
    for values in itertools.product(*(params[name] for name in names)):
        chosen = dict(zip(names, values))
        for name, value in place.params(known).items():
            chosen.setdefault(name, value)
        given = Program.of(source, chosen, None, [TARGET, *options])
        what = name_of(given)
        try:
            moves = _recorded(given)
            on = ["--machine", place.machine] if moves else []  # the tool refuses what has no effect
            plan = Plan(given, run_tool(moves or given, "--emit-json", UNPROVEN, *on))
            if plan.ranks != place.ranks:
                tell(f"left out: {what}: it is for {plan.ranks} ranks")
                continue
            for program, made_for in _schedules(plan, moves, sizes, on):
                emitted = emitted_of(program, types, place.machine, [] if proven else [UNPROVEN])
                one = Candidate(plan, emitted, program, made_for[0] if made_for else None, made_for)
                one.time(sizes, place.machine)
                found.append(one)
                tell(what if not made_for else f"{what}, scheduled for {', '.join(map(str, made_for))} bytes")
        except CompileError as error:
            tell(f"left out: {what}: {first_of(error)}")
    return found


def emitted_of(program: Program, types: Sequence[str], machine: str, more: Sequence[str] = ()) -> str:
    """Returns the kernel that is timed on the machine."""
    dtypes = [f"--dtype={','.join(types)}"] if types else []
    return run_tool(program, "--emit-cuda", "--machine", machine, *dtypes, *more)

"""Makes a folder of kernels with its list, manifest.json. For each size it has the fastest of the given algorithms by
the time model, or NCCL where none of them is sure to win. The library in NCCL's place and `register_folder` read such
folders, and `mscclc-perf --manifest` measures what they list."""

from __future__ import annotations

import concurrent.futures
import contextlib
import hashlib
import itertools
import json
import os
import pathlib
import shutil
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

from . import abi
from .baseline import Baseline, baselines
from .candidates import (
    LARGEST,
    TARGET,
    Candidate,
    Place,
    candidates_of,
    default_sources,
    emitted_of,
    first_of,
    fits,
    name_of,
    parameters_of,
    places_of,
)
from .errors import CompileError, UsageError
from .kernels import build_library, named_sums, operation_flags, order_of_sums, reduces
from .tool import Path, Program, remembering, run_tool

_LIST = "manifest.json"
#: The number of halvings in the search for the size at which the fastest kernel changes.
_HALVES = 3
#: Estimates are off, so candidates that take at most that many times the time of the best one may be the best.
NEAR = 1.15
#: The default library has a list for each of these numbers of GPUs of a node, and of nodes, that the machine has.
_RANKS, _NODES = (2, 4, 8, 16), (1, 2, 4, 8)


@dataclass
class Range:
    """What is best for messages of `least` to `most` bytes, both included: a candidate, or NCCL if there is none.
    `fastest` is the fastest candidate, also where NCCL is best."""

    candidate: Candidate | None
    least: int
    most: int
    fastest: Candidate | None = None

    def others(self, candidates: Sequence[Candidate], sizes: Sequence[int], most: int) -> list[Candidate]:
        """Returns up to `most` other candidates that may be the best at one of `sizes` here, the fastest first. NCCL
        may be slower than them, too."""
        here = [size for size in sizes if self.least <= size <= self.most]
        found: dict[int, float] = {}  # by the number of a candidate: its time over the least
        for size in here:
            least = min(candidate.at(size) for candidate in candidates)
            for number, candidate in enumerate(candidates):
                if candidate is not self.candidate and candidate.at(size) <= NEAR * least < float("inf"):
                    found[number] = min(found.get(number, NEAR), candidate.at(size) / least)
        return [candidates[number] for number in sorted(found, key=lambda number: (found[number], number))[:most]]


def best_ranges(
    candidates: Sequence[Candidate], sizes: Sequence[int], machine: str, baseline: Baseline | None = None
) -> list[Range]:
    """Returns what is best for each range of sizes, for one call: the fastest candidate, or NCCL where none wins
    against `baseline` or accepts the size. The ranges are adjacent, and begin at 0. If the fastest one changes between two of
    `sizes`, searches the place in between."""
    for candidate in candidates:
        candidate.time(sizes, machine)
    found: list[Range] = []
    for before, size in zip([0, *sizes], sizes):
        fastest = min(candidates, key=lambda candidate: candidate.at(size))
        best = fastest if fastest.at(size) < float("inf") and fastest.wins(size, baseline) else None
        last = found[-1] if found else Range(None, 0, -1)
        if found and last.candidate is best and last.fastest is fastest:
            last.most = size
            continue
        if last.candidate and best:
            last.most = _meeting(last.candidate, best, before, size, machine)
        first = last.most + 1 if last.candidate or not before else before + 1
        if best and best.least > first:
            first = best.least
        if first > last.most + 1:  # what lies between is NCCL's
            if last.candidate or not found:
                found.append(Range(None, last.most + 1, first - 1))
            else:
                last.most = first - 1
        found.append(Range(best, first, size, fastest))
    if found and found[-1].candidate and baseline is None:
        found[-1].most = min(found[-1].candidate.most, LARGEST)
    return found


@dataclass
class Calls:
    """The calls that have a choice of their own: in place or not, and the types of their elements, which are empty if
    they may be any. `candidates` are those that run them."""

    in_place: bool
    types: list[str]
    candidates: list[Candidate]

    @property
    def keys(self) -> dict[str, Any]:
        """What the list says of each entry for these calls."""
        return {"in_place": self.in_place, **({"types": self.types} if self.types else {})}

    def __str__(self) -> str:
        return ("in place" if self.in_place else "not in place") + (f", {', '.join(self.types)}" if self.types else "")


def calls_of(candidates: Sequence[Candidate]) -> list[Calls]:
    """Returns the calls that the candidates of a collective run, those in place first. Types that the same candidates
    take are together."""
    found: list[Calls] = []
    for in_place in (True, False):
        here = [candidate for candidate in candidates if candidate.in_place is in_place]
        types = [name for name in abi.SHORT_NAMES if any(name in (candidate.types or []) for candidate in here)]
        if here and not types:
            found.append(Calls(in_place, [], here))
        together: dict[tuple[int, ...], list[str]] = {}  # types by the numbers of the candidates that take them
        for name in types:
            takers = (number for number, one in enumerate(here) if one.types is None or name in one.types)
            together.setdefault(tuple(takers), []).append(name)
        found += (Calls(in_place, names, [here[number] for number in takers]) for takers, names in together.items())
    return found


def of_one_order(candidates: Sequence[Candidate], sizes: Sequence[int], machine: str) -> list[Candidate]:
    """Those that sum in the same order, which is the one that takes the most of the sizes, and these in the least time.
    Candidates without sums are all of one order; of those that have several orders in them there is none."""
    orders: dict[str | None, list[Candidate]] = {}
    for candidate in candidates:
        if candidate.sums is None or order_of_sums(candidate.sums):
            candidate.time(sizes, machine)
            orders.setdefault(candidate.sums, []).append(candidate)

    def cost(order: list[Candidate]) -> tuple[int, float]:
        best = [min(candidate.at(size) for candidate in order) for size in sizes]
        return best.count(float("inf")), sum(time for time in best if time != float("inf"))

    return min(orders.values(), key=cost, default=[])


def costs_of_one_order(
    invariant: Sequence[Candidate], candidates: Sequence[Candidate], sizes: Sequence[int], machine: str
) -> Iterator[str]:
    """Yields a line for each size: the least time of the `invariant` ones of the candidates, and of all of them."""
    for candidate in candidates:
        candidate.time(sizes, machine)
    for size in sizes:
        ours, all_of_them = (min(one.at(size) for one in some) for some in (invariant, candidates))
        if ours != float("inf"):
            yield f"{size} bytes: {ours:.2f} us in one order, {all_of_them:.2f} us in any, {ours / all_of_them:.2f} x"


def _meeting(first: Candidate, second: Candidate, low: int, high: int, machine: str) -> int:
    """Returns the largest size that `first` accepts and at which it is still faster. It is faster at `low`, but not
    at `high`."""
    for _ in range(_HALVES):
        middle = (low + high) // 32 * 16
        if not low < middle < high:
            break
        for candidate in (first, second):
            candidate.time([middle], machine, far=True)
        low, high = (middle, high) if first.at(middle) <= second.at(middle) else (low, middle)
    return min(max(low, second.least - 1), first.most)


def _replace(file: pathlib.Path, write: Callable[[pathlib.Path], Any]) -> None:
    """Writes a file that programs may read meanwhile: they have all of the old or of the new one."""
    made = file.with_name(f".{file.name}.{os.getpid()}")
    write(made)
    os.replace(made, file)


@contextlib.contextmanager
def _threads() -> Iterator[concurrent.futures.Executor]:
    """Yields a thread for each processor. If an exception leaves the block, what has not begun is cancelled."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _Folder:
    """Writes kernels to a folder, each once; the threads of `pool` compile them. From the first one on, the folder has
    no list: an old one lists other kernels."""

    def __init__(
        self,
        pool: concurrent.futures.Executor,
        place: pathlib.Path,
        platform: str,
        architectures: Sequence[int],
        types: Sequence[str],
        ops: Sequence[str],
        flags: Sequence[str],
    ) -> None:
        self._pool, self._place, self._platform, self._architectures = pool, place, platform, architectures
        self._types, self._ops, self._flags = types, ops, flags
        self._made: dict[int, dict[str, Any]] = {}

    def wrong(self, several: Iterable[Candidate], machine: str, tell: Callable[[str], None]) -> list[Candidate]:
        """Proves the kernels of candidates for the machine, and writes them, each at the first call. Returns those that
        are wrong."""
        new = [one for one in several if id(one) not in self._made]
        wrong: list[Candidate] = []
        for one, compiled in zip(new, self._pool.map(self._compile, new, itertools.repeat(machine))):
            if isinstance(compiled, CompileError):
                tell(f"left out: {name_of(one.plan.program)}: {first_of(compiled)}")
                wrong.append(one)
            else:
                self._made[id(one)] = self._write(one, *compiled)
        return wrong

    def fields(self, one: Candidate, least: int, most: int) -> dict[str, Any]:
        """Returns what the list says of a candidate that is written, for messages of `least` to `most` bytes."""
        timed = {size: time for size, time in sorted(one.times.items()) if least <= size <= most}
        return {**self._made[id(one)], "predicted_us": timed}

    def plans(self, ranges: Sequence[Range], machine: str) -> list[str | None]:
        """Writes a plan for each range, whose kernel has been written before. Returns the plans' files; None for a range
        of NCCL, and for one that MSCCL++'s executor does not run."""
        return list(self._pool.map(self._plan, ranges, itertools.repeat(machine)))

    def _plan(self, one_range: Range, machine: str) -> str | None:
        one, least, most = one_range.candidate, one_range.least, one_range.most
        if not one:
            return None
        given = one.plan.program
        options = [option for option in given.options if option != TARGET]
        program = Program.of(given.source, dict(given.params), given.algorithm, options)
        size = ["--message-size", str(one.scheduled_for)] if one.scheduled_for else []
        try:
            plan = json.loads(run_tool(program, "--emit-json", "--machine", machine, *size))
        except CompileError:
            return None
        plan["min_message_size"] = max(least, plan["min_message_size"])
        plan["max_message_size"] = min(most, plan["max_message_size"])
        file = f"{pathlib.Path(self._made[id(one)]['kernel']).stem}_{least}_{most}.json"
        (self._place / file).write_text(json.dumps(plan) + "\n")
        return file

    def _compile(self, one: Candidate, machine: str) -> tuple[str, pathlib.Path | None] | CompileError:
        """Returns the kernel's text and its library, which is None if sources alone are written; or what is wrong."""
        try:
            emitted = emitted_of(one.kernel or one.plan.program, self._types, machine)
        except CompileError as error:
            return error
        if self._platform == "none":
            return emitted, None
        reducing = operation_flags(emitted, self._ops, self._platform) if reduces(emitted) else []
        return emitted, build_library(emitted, self._platform, self._architectures, [*reducing, *self._flags])

    def _write(self, one: Candidate, emitted: str, library: pathlib.Path | None) -> dict[str, Any]:
        name = f"{one.plan.name}_{one.plan.ranks}_{len(self._made)}"
        (self._place / _LIST).unlink(missing_ok=True)
        (self._place / f"{name}.cu").write_text(emitted)
        made: dict[str, Any] = {"kernel": f"{name}.so", "name": one.plan.name}
        if library:
            _replace(self._place / made["kernel"], lambda file: shutil.copy(library, file))
            made["sha256"] = hashlib.sha256((self._place / made["kernel"]).read_bytes()).hexdigest()
        if one.root:
            made["root"] = one.root
        made |= {"source": one.plan.program.source, "parameters": dict(one.plan.program.params)}
        if one.scheduled_for:
            made["scheduled_for"] = one.scheduled_for
        if sums := named_sums(emitted):
            made["sums"] = sums
        return made


def _written_ranges(
    writer: _Folder,
    candidates: Sequence[Candidate],
    sizes: Sequence[int],
    machine: str,
    baseline: Baseline | None,
    others: int,
    tell: Callable[[str], None],
) -> list[tuple[Range, list[Candidate]]]:
    """Returns the best ranges of candidates that are proven, each with up to `others` further candidates. Writes the
    kernels. Chooses anew without those that are wrong; returns nothing if none is left."""
    left = list(candidates)
    while left:
        ranges = best_ranges(left, sizes, machine, baseline)
        found = [(one, one.others(left, sizes, others)) for one in ranges]
        chosen = {id(one): one for best, near in found for one in [best.candidate, *near] if one}
        wrong = set(map(id, writer.wrong(chosen.values(), machine, tell)))
        if not wrong:
            return found
        left = [one for one in left if id(one) not in wrong]
    return []


def make_library(
    folder: Path,
    sources: Sequence[Path] = (),
    *,
    ranks: int | Sequence[int] | None = None,
    sizes: Sequence[int],
    machine: str = "h100x8",
    ranks_per_node: int | None = None,
    nodes: int | Sequence[int] | None = None,
    params: Mapping[str, Sequence[str]] | None = None,
    options: Sequence[str] = (),
    types: Sequence[str] = (),
    ops: Sequence[str] = (),
    platform: str = "cuda",
    architectures: Sequence[int] = (90,),
    flags: Sequence[str] = (),
    invariant: bool = False,
    baseline: Path | None = pathlib.Path(__file__).with_name("published.csv"),
    others: int = 2,
    tell: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Writes kernels, plans for MSCCL++'s executor, and manifest.json to `folder`, and returns the list. For each
    collective (and root) that the sources have, in place or not, and for each type of elements, it has the fastest at each
    of `sizes` (bytes) on the machine, as `mscclc --estimate` says, or NCCL where that is not sure to be slower. Sources
    that say only what moves are scheduled for each of these sizes. Without sources they are those of `default_sources`. With
    several numbers of ranks, or of nodes, there is a list for each. `ranks` are those of all nodes together, of which
    `ranks_per_node` share one; or those of one node, of which there are `nodes`. Without sources, `ranks` and `nodes`
    there are 2, 4, 8 and 16 ranks of a node, and 1, 2, 4 and 8 nodes, where the machine has so many. Otherwise they are
    2, 4 and 8, and one node, unless they are given.

    `params` has the values to try of each parameter; an algorithm gets those that it has. `options` are arguments of
    the tool, as "--message-size"; `types` are the elements of kernels that reduce, as its `--dtype` takes them,
    and `ops` their operations, as those of Kernel.compile. A root is a parameter too: of {"root": ["0", "1"]} each has a
    list.
    `platform` and `architectures` are those of Kernel.compile, and "none" writes sources alone; `flags` are arguments of
    the compiler of kernels.
    `baseline` is a table of NCCL's times (baseline.py). A size at which no algorithm takes less, by more than estimates
    are off, goes to NCCL, and so does a call that the table has not. None: NCCL gets no size that an algorithm takes.
    Up to `others` candidates that may be faster than the one that is taken are listed with it, for
    `mscclc-perf --manifest`.
    With `invariant`, all kernels for a call sum in one order, which the list names: so the bits do not depend on the size.
    NCCL, which has orders of its own, gets no size of such a call that an algorithm takes.
    `tell` then gets what that costs by the time model, for each size.
    `tell` gets a line for each step, in no fixed order. What the tool says is kept in `folder` until the list is
    written, so a call after one that was interrupted goes on. It does again what depends on a file that changed; of
    what a source includes, these are the headers below its folder.
    Raises ValueError, CompileError, ToolError (UsageError for a parameter that no source has), BuildError."""
    sizes = sorted(set(sizes))
    is_default = not sources and ranks is None and nodes is None and ranks_per_node is None
    if ranks is None:
        ranks = _RANKS if is_default else (2, 4, 8)
    if nodes is None:
        nodes = _NODES if is_default else 1
    places = places_of(ranks, ranks_per_node, nodes, machine)
    if not sizes or not places:
        raise ValueError("no sizes or no ranks")
    known = baselines(baseline) if baseline is not None else {}
    place = pathlib.Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    unfinished = place / ".unfinished"
    with remembering(unfinished), _threads() as pool:
        if is_default:
            places = [where for where in places if fits(where, tell)]
        tries = params or {}
        if not sources:
            tries = {"order": ["Written", "Any"], "inplace": ["true", "false"], **tries}
        jobs = [(where, source) for where in places for source in sources or default_sources(where.nodes)]
        for name in params or {}:
            if not any(name in parameters_of(source, options) for source in {source: None for _, source in jobs}):
                raise UsageError(f"mscclc: no source has a parameter '{name}'")
        groups: dict[tuple[Place, str, int], list[Candidate]] = {}
        tried = [
            pool.submit(candidates_of, source, where, tries, options, types, sizes, invariant, tell)
            for where, source in jobs
        ]
        for number, ((where, source), found) in enumerate(zip(jobs, tried), 1):
            for candidate in found.result():
                groups.setdefault((where, candidate.plan.collective, candidate.root), []).append(candidate)
            tell(f"{number} of {len(jobs)} done: {source} for {where.ranks} ranks")
        writer = _Folder(pool, place, platform, architectures, types, ops, flags)
        lists = []
        for (where, collective, root), candidates in groups.items():
            if invariant:
                given, candidates = candidates, of_one_order(candidates, sizes, where.machine)
                if not candidates:
                    tell(f"left out: {collective}: no algorithm sums all elements in one order")
                    continue
                if candidates[0].sums:
                    tell(f"{collective}: sums in the order {candidates[0].sums}")
                    for line in costs_of_one_order(candidates, given, sizes, where.machine):
                        tell(f"{collective} of {line}")
            never = baseline is None or (invariant and candidates[0].sums is not None)
            nccl = None if never else known.get((collective, where.ranks, where.machine), Baseline.unknown)
            if nccl is Baseline.unknown:
                on = f"{where.ranks} ranks on {where.machine}"
                tell(f"{collective}: no times of NCCL for {on} are known, so it has the calls")
            entries = []
            for calls in calls_of(candidates):
                ranges = _written_ranges(writer, calls.candidates, sizes, where.machine, nccl, others, tell)
                if not ranges:
                    tell(f"left out: {collective}, {calls}: no algorithm is proven")
                plans = writer.plans([one for one, _ in ranges], where.machine)
                for (one, near), plan in zip(ranges, plans):
                    entry: dict[str, Any] = {"min": one.least, "max": one.most, **calls.keys}
                    if one.candidate:
                        entry |= writer.fields(one.candidate, one.least, one.most)
                        if plan:
                            entry["plan"] = plan
                    else:
                        entry |= {"nccl": True, **({"root": root} if root else {})}
                    if near:
                        entry["candidates"] = [writer.fields(other, one.least, one.most) for other in near]
                    entries.append(entry)
                    by = f"{entry['kernel']}, {entry['source']}" if one.candidate else "NCCL"
                    tell(f"{collective} of {one.least} to {one.most} bytes, {calls}: {by}")
            if not entries:
                continue
            lists.append(
                {"collective": collective, "ranks": where.ranks, "ranks_per_node": where.per_node, "entries": entries}
            )
    if not lists:
        raise ValueError("no algorithm is left")
    made = {"version": 1, "machine": machine, "size": "message", "collectives": lists}
    _replace(place / _LIST, lambda file: file.write_text(json.dumps(made, indent=1) + "\n"))
    shutil.rmtree(unfinished, ignore_errors=True)
    return made

"""Makes a folder of kernels with its list, manifest.json. For each size it has the fastest of the given algorithms by
the time model. The library in NCCL's place and `register_folder` read such folders."""

from __future__ import annotations

import hashlib
import itertools
import json
import pathlib
import re
import shutil
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Mapping, Sequence

from .baseline import Baseline, baselines, copies, wins
from .errors import CompileError
from .install import samples_folder
from .kernels import build_library, named_sums, operation_flags, order_of_sums, reduces
from .tool import Path, Plan, Program, compile, estimate, run_tool

#: The executor of MSCCL++ does not run these kernels.
_TARGET = "--target=none"
#: The end of the list. Larger messages are treated like the largest size that was given.
_LARGEST = 1 << 40
#: The number of halvings in the search for the size at which the fastest kernel changes.
_HALVES = 3


@dataclass
class Candidate:
    """An algorithm with its parameters and options, and the times (in microseconds) of its kernel by size (in bytes).
    `kernel`: the program of the kernel, if that is a schedule for the size `scheduled_for`."""

    plan: Plan
    emitted: str = field(repr=False)
    kernel: Program | None = None
    scheduled_for: int | None = None
    times: dict[int, float] = field(default_factory=dict)
    copies: dict[int, float] = field(default_factory=dict)
    """The times of copying a message to a window and back, by its size."""

    def _number(self, name: str, otherwise: int) -> int:
        found = re.search(rf"\b{name} = (\d+)u?[,;]", self.emitted)
        return int(found[1]) if found else otherwise

    @property
    def root(self) -> int:
        return self._number("root", 0)

    @property
    def sums(self) -> str | None:
        """The order of its sums, as the tool says; nothing if it has none."""
        return named_sums(self.emitted)

    @property
    def least(self) -> int:
        """Returns the smallest message that it accepts, in bytes."""
        return self._number("minMessageBytes", 0)

    @property
    def most(self) -> int:
        """Returns the largest message that it accepts, in bytes."""
        return self._number("maxMessageBytes", _LARGEST)

    def time(self, sizes: Sequence[int], machine: str) -> None:
        """Estimates the times that are not known yet. Sizes that it does not accept have no time."""
        wanted = [size for size in sizes if size not in self.times and self.least <= size <= self.most]
        if wanted:
            program = self.kernel or self.plan.program
            found = estimate(
                program.source,
                wanted,
                machine=machine,
                params=dict(program.params),
                options=program.options,
                text=program.text,
            )
            self.times.update((one.bytes, one.microseconds) for one in found)
            self.copies.update((one.bytes, copies(one)) for one in found)

    def at(self, size: int) -> float:
        return self.times.get(size, float("inf"))

    def wins(self, size: int, baseline: Baseline | None) -> bool:
        """True if it takes less than NCCL. Without a baseline, nothing is known of NCCL."""
        return baseline is None or wins(self.at(size), self.copies.get(size, 0), baseline.at(size))


@dataclass
class Range:
    """A candidate for messages of `least` to `most` bytes, both included."""

    candidate: Candidate
    least: int
    most: int


def _schedules(plan: Plan, sizes: Sequence[int], machine: str) -> Iterator[tuple[Program, int | None]]:
    """Yields the programs that an algorithm is tried as, and the size that each is scheduled for. One that says only
    what moves is scheduled for each size that it accepts; two sizes may have one schedule."""
    given, on = plan.program, ["--machine", machine]
    accepted = [size for size in sizes if plan.json["min_message_size"] <= size <= plan.json["max_message_size"]]
    if not accepted:
        return
    estimated = json.loads(run_tool(given, "--estimate", "--json", "--size", str(accepted[0]), *on))["estimates"][0]
    is_given = any(option.startswith("--message-size") for option in given.options)
    if "scheduled_for" not in estimated or is_given:
        yield given, estimated.get("scheduled_for")
        return
    texts: set[str] = set()
    for size in accepted:
        text = run_tool(given, "--emit-ir", *on, "--message-size", str(size))
        if text not in texts:
            texts.add(text)
            yield Program(f"{pathlib.Path(given.source).stem}.ir", text, None, (), given.options), size


def _candidates(
    source: Path,
    ranks: int,
    params: Mapping[str, Sequence[str]],
    options: Sequence[str],
    types: Sequence[str],
    sizes: Sequence[int],
    machine: str,
    tell: Callable[[str], None],
) -> Iterator[Candidate]:
    known = re.findall(r"^ *-P (\w+)=", run_tool(Program.of(source, None, None, ()), "--list"), re.M)
    names = [name for name in params if name in known]
    for values in itertools.product(*(params[name] for name in names)):
        chosen = dict(zip(names, values))
        if "ranks" in known:
            chosen.setdefault("ranks", str(ranks))
        what = f"{source} {' '.join(f'{name}={value}' for name, value in chosen.items())}"
        try:
            plan = compile(source, params=chosen, options=[_TARGET, *options])
            if plan.ranks != ranks:
                tell(f"left out: {what}: it is for {plan.ranks} ranks")
                continue
            for program, size in _schedules(plan, sizes, machine):
                emitted = run_tool(program, "--emit-cuda", *([f"--dtype={','.join(types)}"] if types else []))
                tell(what if size is None else f"{what}, scheduled for {size} bytes")
                yield Candidate(plan, emitted, program, size)
        except CompileError as error:
            tell(f"left out: {what}: {str(error).splitlines()[0]}")


def best_ranges(
    candidates: Sequence[Candidate], sizes: Sequence[int], machine: str, baseline: Baseline | None = None
) -> list[Range]:
    """Returns the fastest candidate for each range of sizes, for one call. If the fastest one changes between two of
    `sizes`, searches the place in between. A size without a candidate that wins against `baseline` ends the list. So
    does a gap between two sizes with different candidates."""
    for candidate in candidates:
        candidate.time(sizes, machine)
    found: list[Range] = []
    for before, size in zip([0, *sizes], sizes):
        best = min(candidates, key=lambda candidate: candidate.at(size))
        if best.at(size) == float("inf") or not best.wins(size, baseline):
            if found:
                break
            continue
        if found and found[-1].candidate is best:
            found[-1].most = size
        elif found:
            found[-1].most = _meeting(found[-1].candidate, best, before, size, machine)
            if found[-1].most + 1 < best.least:
                break
            found.append(Range(best, found[-1].most + 1, size))
        else:
            found.append(Range(best, max(best.least, before + 1 if before else 0), size))
    if found and found[-1].most == sizes[-1] and baseline is None:
        found[-1].most = min(found[-1].candidate.most, _LARGEST)
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
            candidate.time([middle], machine)
        low, high = (middle, high) if first.at(middle) <= second.at(middle) else (low, middle)
    return min(max(low, second.least - 1), first.most)


def default_sources() -> list[pathlib.Path]:
    """Returns the samples that say only what moves, for any number of ranks of one node. Raises LibraryError."""
    sources = sorted(samples_folder().glob("auto/*.cpp"))

    def is_for_one_node(source: pathlib.Path) -> bool:
        [listed] = json.loads(run_tool(Program.of(source, None, None, ()), "--list", "--json"))
        return any(parameter["name"] == "ranks" for parameter in listed["parameters"])

    return [source for source in sources if is_for_one_node(source)]


def make_library(
    folder: Path,
    sources: Sequence[Path] = (),
    *,
    ranks: int | Sequence[int],
    sizes: Sequence[int],
    machine: str = "h100x8",
    ranks_per_node: int | None = None,
    params: Mapping[str, Sequence[str]] | None = None,
    options: Sequence[str] = (),
    types: Sequence[str] = (),
    ops: Sequence[str] = (),
    platform: str = "cuda",
    architectures: Sequence[int] = (90,),
    flags: Sequence[str] = (),
    invariant: bool = False,
    baseline: Path | None = pathlib.Path(__file__).with_name("published.csv"),
    tell: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Writes kernels and manifest.json to `folder`, and returns the list. For each collective (and root) that the
    sources have, it is the fastest at each of `sizes` (bytes) on the machine, as `mscclc --estimate` says. Sources that
    say only what moves are scheduled for each of these sizes. Without sources they are those of `default_sources`. With
    several numbers of ranks there is a list for each.

    `params` has the values to try of each parameter; an algorithm gets those that it has. `options` are arguments of
    the tool, as "--message-size"; `types` are the elements of kernels that reduce, as its `--dtype` takes them,
    and `ops` their operations, as those of Kernel.compile. A root is a parameter too: of {"root": ["0", "1"]} each has a
    list.
    `platform` and `architectures` are those of Kernel.compile; `flags` are arguments of the compiler of kernels.
    `baseline` is a table of NCCL's times (baseline.py). A size at which no algorithm takes less, by more than estimates
    are off, is not listed, and so goes to NCCL. None, or a call that the table has not: all sizes are listed.
    With `invariant`, all kernels for a call sum in one order, which the list names: so the bits do not depend on the size.
    `tell` then gets what that costs by the time model, for each size.
    `tell` gets a line for each step. Raises ValueError, CompileError, ToolError, BuildError."""
    sizes = sorted(set(sizes))
    numbers = [ranks] if isinstance(ranks, int) else sorted(set(ranks))
    if not sizes or not numbers:
        raise ValueError("no sizes or no ranks")
    known = baselines(baseline) if baseline is not None else {}
    if not sources:
        sources, params = default_sources(), {"order": ["Written", "Any"], **(params or {})}
    groups: dict[tuple[int, str, int], list[Candidate]] = {}
    for number, source in itertools.product(numbers, sources):
        for candidate in _candidates(source, number, params or {}, options, types, sizes, machine, tell):
            groups.setdefault((number, candidate.plan.collective, candidate.root), []).append(candidate)
    place = pathlib.Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    files: dict[int, str] = {}
    lists = []
    for (number, collective, root), candidates in groups.items():
        entries = []
        if invariant:
            given, candidates = candidates, of_one_order(candidates, sizes, machine)
            if not candidates:
                tell(f"left out: {collective}: no algorithm sums all elements in one order")
                continue
            if candidates[0].sums:
                tell(f"{collective}: sums in the order {candidates[0].sums}")
                for line in costs_of_one_order(candidates, given, sizes, machine):
                    tell(f"{collective} of {line}")
        nccl = known.get((collective, number, machine))
        if nccl is None and baseline is not None:
            tell(f"{collective}: no times of NCCL for {number} ranks on {machine} are known, so no size is left to it")
        for one in best_ranges(candidates, sizes, machine, nccl):
            plan = one.candidate.plan
            if id(one.candidate) not in files:
                name = f"{plan.name}_{number}_{len(files)}.so"
                emitted = one.candidate.emitted
                reducing = operation_flags(emitted, ops, platform) if reduces(emitted) else []
                shutil.copy(build_library(emitted, platform, architectures, [*reducing, *flags]), place / name)
                files[id(one.candidate)] = name
            file = files[id(one.candidate)]
            entries.append(
                {
                    "min": one.least,
                    "max": one.most,
                    "kernel": file,
                    "name": plan.name,
                    **({"root": root} if root else {}),
                    "sha256": hashlib.sha256((place / file).read_bytes()).hexdigest(),
                    "source": plan.program.source,
                    "parameters": dict(plan.program.params),
                    **({"scheduled_for": one.candidate.scheduled_for} if one.candidate.scheduled_for else {}),
                    **({"sums": one.candidate.sums} if one.candidate.sums else {}),
                    "predicted_us": {
                        size: time
                        for size, time in sorted(one.candidate.times.items())
                        if one.least <= size <= one.most
                    },
                }
            )
            tell(f"{collective} of {one.least} to {one.most} bytes: {file}, {plan.program.source}")
        if not entries:
            tell(f"left out: {collective}: NCCL is faster at all sizes")
        else:
            lists.append(
                {
                    "collective": collective,
                    "ranks": number,
                    "ranks_per_node": number if ranks_per_node is None else ranks_per_node,
                    "entries": entries,
                }
            )
    if not lists:
        raise ValueError("no algorithm is left")
    made = {"version": 1, "machine": machine, "size": "message", "collectives": lists}
    (place / "manifest.json").write_text(json.dumps(made, indent=1) + "\n")
    return made

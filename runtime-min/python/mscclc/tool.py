"""Calls of the compiler: plans, proofs and estimates."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import threading
from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Sequence, Union

from . import install
from .errors import CompileError, ToolError, UsageError, parse_diagnostics

Path = Union[str, "os.PathLike[str]"]
Params = Mapping[str, Union[int, float, bool, str]]


def _text_of(value: Union[int, float, bool, str]) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Program:
    """An input of the tool: a source with its parameters. `source` is a file. If `text` is given, it is the source,
    and `source` is its name in messages. `options` are passed to the tool unchanged: ["-O2", "-I", "folder"]."""

    source: str
    text: str | None = None
    algorithm: str | None = None
    params: tuple[tuple[str, str], ...] = ()
    options: tuple[str, ...] = ()

    @staticmethod
    def of(
        source: Path, params: Params | None, algorithm: str | None, options: Sequence[str], text: str | None = None
    ) -> "Program":
        if isinstance(options, str):
            raise TypeError(f"options are a list of arguments, as in {options.split()}, not a text")
        if any(option.startswith("-o") for option in options):
            raise ToolError("options: -o is refused, as what the tool makes is returned and not written to a file")
        named = tuple((name, _text_of(value)) for name, value in (params or {}).items())
        return Program(os.fspath(source), text, algorithm, named, tuple(options))

    def arguments(self) -> list[str]:
        words = [self.source if self.text is None else "-"]
        if self.text is not None:
            words += [
                "-x",
                "cpp" if pathlib.Path(self.source).suffix in ("", ".cpp") else pathlib.Path(self.source).suffix[1:],
            ]
        if self.algorithm:
            words += ["--algorithm", self.algorithm]
        for name, value in self.params:
            words += ["-P", f"{name}={value}"]
        return words + list(self.options)


#: The folder of remembering(); None outside of it.
_remembered: pathlib.Path | None = None


@contextlib.contextmanager
def remembering(folder: pathlib.Path) -> Iterator[None]:
    """Within it, what the tool prints is kept in `folder`, and the tool does not run again on the same input: its
    arguments, the files that they name, and the headers below the folder of a .cpp source. Other files that a source
    includes are not looked at."""
    global _remembered
    folder.mkdir(parents=True, exist_ok=True)
    before, _remembered = _remembered, folder
    try:
        yield
    finally:
        _remembered = before


_HEADERS = (".h", ".hpp", ".cuh", ".inc")


def _key(command: Sequence[str], text: str | None) -> str:
    """Returns a digest of a command, of the files that it names, and of the headers below the folders of its sources."""
    state = hashlib.sha256("\0".join([*command, text or ""]).encode())
    named = [pathlib.Path(part) for word in command for part in re.split("[@*=]", word) if os.path.isfile(part)]
    folders = sorted({path.parent for path in named if path.suffix == ".cpp"})
    below = sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in _HEADERS)
    for path in [*named, *(path for path in below if path.is_file())]:
        found = path.stat()
        state.update(f"{path} {found.st_size} {found.st_mtime_ns}".encode())
    return state.hexdigest()


def run_tool(program: Program, *options: str) -> str:
    """Returns the output of the tool for a program. Raises CompileError if the program is wrong or not proven. Raises
    ToolError if the tool is missing, and UsageError if it refuses the arguments."""
    command = [str(install.tool()), *program.arguments(), "--color=never", *options]
    kept = _remembered / _key(command, program.text) if _remembered else None
    if kept and kept.exists():
        return kept.read_text()
    printed = _run(command, program)
    if kept:
        made = kept.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        made.write_text(printed)
        os.replace(made, kept)
    return printed


def _run(command: list[str], program: Program) -> str:
    try:
        done = subprocess.run(
            command, input=program.text, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise ToolError(f"{command[0]} cannot be run: {error}") from error
    if done.returncode == 0:
        return done.stdout
    output = done.stderr + done.stdout
    found = parse_diagnostics(output)
    if done.returncode in (1, 2) and found and (done.returncode == 1 or any(one.line for one in found)):
        raise CompileError(found, output)
    if done.returncode == 2:
        raise UsageError(output.strip())
    if done.returncode < 0:
        raise ToolError(f"{' '.join(command)} was ended by signal {-done.returncode}\n{output.strip()}")
    raise ToolError(f"{' '.join(command)} ended with exit code {done.returncode}\n{output.strip()}")


@dataclass(frozen=True)
class Plan:
    """A plan for the executor of MSCCL++, and the program from which it was made."""

    program: Program
    text: str = field(repr=False)

    @staticmethod
    def load(path: Path) -> "Plan":
        """Reads a plan from a file. It is not proven; `verify` does that."""
        return Plan(Program.of(path, None, None, ()), pathlib.Path(path).read_text())

    @property
    def json(self) -> dict[str, Any]:
        """Returns the plan in the executor's format."""
        plan: dict[str, Any] = json.loads(self.text)
        return plan

    @functools.cached_property
    def facts(self) -> Mapping[str, Any]:
        """The plan as in `json`, but with the number of "gpus" instead of what each of them does, which is long. It is
        read once."""
        plan = self.json
        return {**plan, "gpus": len(plan["gpus"])}

    @property
    def name(self) -> str:
        return str(self.facts["name"])

    @property
    def collective(self) -> str:
        """ "allreduce", "allgather", …"""
        return str(self.facts["collective"])

    @property
    def ranks(self) -> int:
        return int(self.facts["gpus"])

    def save(self, path: Path) -> None:
        pathlib.Path(path).write_text(self.text)

    def verify(self) -> str:
        """Proves the program, and returns the summary. Raises CompileError."""
        return run_tool(self.program, "--verify").strip()

    def estimate(self, sizes: int | Sequence[int], machine: str = "h100x8") -> "list[Estimate]":
        """Returns the program's estimated time at one or several message sizes (in bytes), as `estimate` does; `machine`
        as in `mscclc --estimate`."""
        return _estimate(self.program, sizes, machine)


@dataclass(frozen=True)
class Estimate:
    """An estimate for one message size. `bound`: the cause of most of the time; `details`: everything that the tool
    reports."""

    bytes: int
    microseconds: float
    algorithm_bandwidth: float  # GB/s
    bus_bandwidth: float  # GB/s
    bound: str
    details: dict[str, Any] = field(repr=False)


def _estimate(program: Program, sizes: int | Sequence[int], machine: str) -> list[Estimate]:
    if isinstance(sizes, str):
        raise TypeError(f"sizes are numbers of bytes, not a text: {sizes!r}")
    if isinstance(sizes, int):
        sizes = [sizes]
    table = json.loads(
        run_tool(program, "--estimate", "--json", "--machine", machine, "--size", ",".join(map(str, sizes)))
    )
    return [
        Estimate(row["bytes"], row["us"], row["algbw_GBps"], row["busbw_GBps"], row["bound"], row)
        for row in table["estimates"]
    ]


def compile(
    source: Path,
    *,
    params: Params | None = None,
    algorithm: str | None = None,
    options: Sequence[str] = (),
    text: str | None = None,
) -> Plan:
    """Compiles an algorithm (.cpp), a plan (.json), a schedule of MSCCL (.xml) or IR (.ir) to a plan, which is proven.

    `params` sets parameters of the algorithm: {"ranks": 8}. `options` is a list of more arguments of the tool. With
    `text` the source is this text, and `source` says by its ending what it is. Raises CompileError with a diagnostic
    for each error, and ToolError."""
    program = Program.of(source, params, algorithm, options, text)
    return Plan(program, run_tool(program, "--emit-json"))


def verify(
    source: Path,
    *,
    params: Params | None = None,
    algorithm: str | None = None,
    options: Sequence[str] = (),
    text: str | None = None,
) -> str:
    """Proves a program, and returns the summary. Arguments and errors are those of `compile`. A value of `params` may
    also be a range or list of values, as in `-P ranks=2..16`."""
    return run_tool(Program.of(source, params, algorithm, options, text), "--verify").strip()


def estimate(
    source: Path,
    sizes: int | Sequence[int],
    *,
    machine: str = "h100x8",
    params: Params | None = None,
    algorithm: str | None = None,
    options: Sequence[str] = (),
    text: str | None = None,
) -> list[Estimate]:
    """Returns the estimated time of a program at one or several message sizes (in bytes) on a machine: a name or a
    file, as in `mscclc --estimate`. A program that says only what moves is scheduled for each size, unless `options`
    name one (--message-size). Other arguments and errors are those of `compile`."""
    return _estimate(Program.of(source, params, algorithm, options, text), sizes, machine)

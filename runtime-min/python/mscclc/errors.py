"""The exceptions of this package."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


class Error(Exception):
    """The base class of all exceptions of this package."""


class ToolError(Error):
    """The tool mscclc is missing, was called with wrong arguments, or failed by its own fault."""


class UsageError(ToolError):
    """The tool refuses its arguments, or a file or machine that they name. The text is what the tool printed."""


class BuildError(Error):
    """The C++ compiler or nvcc, which makes a library of a kernel, is missing or failed."""


class LibraryError(Error):
    """The runtime, or a library of kernels, is missing or cannot be loaded."""


class CallError(Error):
    """A call of the runtime failed. `code` is its number, `name` as in runtime.h: "MSCCLC_ERROR_TIMEOUT"."""

    def __init__(self, code: int, name: str, text: str):
        super().__init__(f"{name}: {text}")
        self.code = code
        self.name = name


class NoKernelError(CallError):
    """No registered kernel fits a call. The text gives the reason for each kernel."""


@dataclass
class Diagnostic:
    """A message of the tool about a place in a source. `line` and `column` count from 1; 0: the message is about the
    file. `name` is what `mscclc --explain-error` takes; notes have none."""

    file: str
    line: int
    column: int
    severity: str
    text: str
    notes: list["Diagnostic"] = field(default_factory=list)
    name: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.severity}: {self.text}" + (f" [{self.name}]" if self.name else "")


class CompileError(Error):
    """The program is wrong, or not proven. `diagnostics` has its errors; `output` is everything that the tool
    printed."""

    def __init__(self, diagnostics: list[Diagnostic], output: str):
        super().__init__(output.strip())
        self.diagnostics = diagnostics
        self.output = output


_PLACE = re.compile(
    r"^(?P<file>.+?):(?:(?P<line>\d+):(?P<column>\d+):)? (?P<severity>error|warning|note): (?P<text>.*?)"
    r"(?: \[(?P<name>[a-z][a-z0-9-]*)\])?$"
)


def parse_diagnostics(output: str) -> list[Diagnostic]:
    """Returns the errors and warnings in the tool's output, each with the notes that follow it."""
    found: list[Diagnostic] = []
    for line in output.splitlines():
        match = _PLACE.match(line)
        if not match:
            continue
        one = Diagnostic(
            match["file"], int(match["line"] or 0), int(match["column"] or 0), match["severity"], match["text"]
        )
        one.name = match["name"] or ""
        if one.severity == "note" and found:
            found[-1].notes.append(one)
        elif one.severity != "note":
            found.append(one)
    return found

"""Queries to the selector, and the kernels that it picks from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterable, Sequence, TypedDict, Unpack

from . import abi
from .kernels import Kernel
from .sizes import Size, bytes_of


@dataclass(frozen=True)
class Query:
    """A query for a kernel. `bytes` is the size of the message: of the output of an allgather, or of the input of any
    other collective. `elements` is the type of the elements if the kernel has to move them as elements of `dtype`."""

    collective: str
    ranks: int
    dtype: str
    op: str
    in_place: bool
    bytes: int
    root: int = 0
    tags: tuple[str, ...] = ()
    elements: str = ""


#: Picks one of the kernels that fit, of which the best is first; None: none of them.
Choice = Callable[[Query, Sequence[Kernel]], "Kernel | None"]


class Rule(TypedDict, total=False):
    """The calls that a kernel is for. Among the kernels that fit a call, the highest priority wins, then the
    narrowest range, then the first added."""

    #: The size of messages in bytes (1048576 or "1M"), both ends included, within the kernel's own range.
    min_bytes: Size
    max_bytes: Size | None
    tags: Iterable[str]
    priority: int
    #: The only element types that it is used for, even if it could handle others.
    types: Iterable[str]


class Entry:
    """A kernel with its rule, after checks. Raises ValueError and TypeError."""

    def __init__(self, kernel: Kernel, **rule: Unpack[Rule]):
        unknown = rule.keys() - Rule.__annotations__.keys()
        if unknown:
            raise TypeError(f"a kernel's rule has no {unknown.pop()!r}; it has {', '.join(Rule.__annotations__)}")
        most = rule.get("max_bytes")
        self.kernel = kernel
        self.min_bytes = bytes_of(rule.get("min_bytes", 0))
        self.max_bytes = abi.NO_LIMIT if most is None else bytes_of(most)
        self.priority = rule.get("priority", 0)
        self.tags, self.types = _names("tags", rule.get("tags", ())), _names("types", rule.get("types", ()))
        if not 0 <= self.min_bytes <= self.max_bytes:
            raise ValueError(f"messages of {rule.get('min_bytes', 0)} to {most} bytes")
        for name in self.types:
            code_of(abi.DTYPES, "element type", name)


def _names(what: str, given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise TypeError(f"{what} are a list of names, as in [{given!r}], not a text")
    return tuple(given)


def code_of(table: dict[str, int], what: str, name: str) -> int:
    """Returns the number of an element type, operation or platform. Raises ValueError."""
    if name not in table:
        raise ValueError(f"no {what} {name!r}; there are {', '.join(table)}")
    return table[name]

"""What a call asks of the selector, and what it picks from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Sequence

from .kernels import Kernel


@dataclass(frozen=True)
class Query:
    """What is asked for. `bytes` is the message: of an allgather the output, of any other collective the input.
    `elements` is the type of the elements where a kernel is to move them as those of `dtype`."""

    collective: str
    ranks: int
    dtype: str
    op: str
    in_place: bool
    bytes: int
    root: int = 0
    tags: tuple[str, ...] = ()
    elements: str = ""


#: Picks one of the kernels that fit, best first; None: none of them.
Choice = Callable[[Query, Sequence[Kernel]], "Kernel | None"]


@dataclass(frozen=True)
class Entry:
    """A kernel with the sizes (bytes, both included), tags, priority and element types that it was added with."""

    kernel: Kernel
    tags: tuple[str, ...]
    min_bytes: int
    max_bytes: int
    priority: int
    types: tuple[str, ...] = ()

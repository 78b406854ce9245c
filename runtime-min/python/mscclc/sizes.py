"""Sizes in bytes, in the notation for people."""

from __future__ import annotations

import re
from typing import Union

#: A size in bytes: a number, or a text such as "4096", "64K", "1M", "2G".
Size = Union[int, str]

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def bytes_of(size: Size) -> int:
    """Returns the number of bytes. Raises ValueError and TypeError."""
    if isinstance(size, str):
        found = re.fullmatch(r"(\d{1,12})([KMG]?)", size)
        if not found:
            raise ValueError(f"{size!r} is no number of bytes; it is one such as 4096 or '64K'")
        return int(found[1]) * _UNITS[found[2]]
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        raise TypeError(f"{size!r} is no number of bytes; it is one such as 4096 or '64K'")
    return int(size.__index__())

"""NCCL's published times. A kernel is only worth a place in a library where it takes less."""

from __future__ import annotations

import bisect
import csv
import math
from dataclasses import dataclass
from typing import ClassVar, Sequence

from .tool import Estimate, Path

#: Nine of ten estimates are that close to the measured time, as a factor.
OFF = 1.26


def copies(estimate: Estimate) -> float:
    """Returns the microseconds of copying a message to a window and back, which the library in NCCL's place may have to
    do: twice read and written. They are infinite for a program that moves nothing, because its estimate names no rate of
    memory."""
    rates = [link["GBps"] for link in estimate.details["traffic"] if link["kind"] == "memory"]
    return 4 * estimate.bytes / max(rates) / 1000 if rates else math.inf


def wins(kernel: float, copies: float, nccl: float) -> bool:
    """True if a kernel takes less than NCCL, though it take OFF times its estimate, and the copies. All in
    microseconds."""
    return OFF * kernel + copies < nccl


@dataclass(frozen=True)
class Baseline:
    """NCCL's times (microseconds) for one call at some sizes (bytes), which ascend. Beyond the largest no time is known,
    and each counts as 0."""

    sizes: Sequence[int]
    times: Sequence[float]
    unknown: ClassVar["Baseline"]

    @property
    def largest(self) -> int:
        return self.sizes[-1]

    def at(self, size: int) -> float:
        """Returns the time at any size: between two sizes on the line through their logarithms, and below the least that
        of the least."""
        after = bisect.bisect_left(self.sizes, size)
        if after == len(self.sizes):
            return 0
        if after == 0 or self.sizes[after] == size:
            return self.times[after]
        low, high = self.sizes[after - 1], self.sizes[after]
        share = math.log(size / low) / math.log(high / low)
        return self.times[after - 1] * math.exp(share * math.log(self.times[after] / self.times[after - 1]))


Baseline.unknown = Baseline((), ())


def baselines(file: Path) -> dict[tuple[str, int, str], Baseline]:
    """Reads a table with the columns collective, ranks, machine, message_bytes and us. Returns the baseline for each
    (collective, ranks, machine). Raises ValueError if it is no such table, and OSError."""
    points: dict[tuple[str, int, str], dict[int, float]] = {}
    try:
        with open(file, newline="", encoding="utf-8") as text:
            for row in csv.DictReader(text):
                call = row["collective"], int(row["ranks"]), row["machine"]
                points.setdefault(call, {})[int(row["message_bytes"])] = float(row["us"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file}: no table of times: {error}") from None
    return {call: Baseline(*zip(*sorted(times.items()))) for call, times in points.items()}

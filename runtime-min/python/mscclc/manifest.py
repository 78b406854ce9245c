"""The kernels of a folder with a list, manifest.json. The library in NCCL's place defines its format."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

from . import abi, selector
from .kernels import Kernel, order_of_sums
from .tool import Path

#: The keys of an entry, with their types. Those with True are required.
_ENTRY: dict[str, tuple[type, bool]] = {
    "min": (int, True),
    "max": (int, True),
    "kernel": (str, False),
    "nccl": (bool, False),
    "name": (str, False),
    "root": (int, False),
    "in_place": (bool, False),
    "types": (list, False),
    "sums": (str, False),
}


def _checked(where: str, entry: Any, keys: dict[str, tuple[type, bool]]) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise ValueError(f"{where} is no object")
    for key, (kind, wanted) in keys.items():
        if key not in entry and not wanted:
            continue
        value = entry.get(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise ValueError(f"{where}: {key!r} is {value!r}; it must be {kind.__name__}")
    return entry


def _kernel(where: str, folder: pathlib.Path, collective: dict[str, Any], entry: dict[str, Any]) -> Kernel:
    path = folder / entry["kernel"]
    if folder.resolve() not in path.resolve().parents:
        raise ValueError(f"{where}: the kernel {entry['kernel']!r} is not within the folder")
    found = [kernel for kernel in Kernel.load(path) if kernel.name == entry.get("name", kernel.name)]
    if len(found) != 1:
        raise ValueError(f"{where}: {path} has {len(found)} kernels {entry.get('name', '')!r}; one is wanted")
    kernel = found[0]
    is_listed = (collective["collective"], collective["ranks"], entry.get("root", 0))
    if (kernel.collective, kernel.ranks, kernel.root or 0) != is_listed:
        raise ValueError(f"{where}: {path} has {kernel}, root {kernel.root or 0}; it is listed for another call")
    kernel.sums = order_of_sums(entry.get("sums"))
    return kernel


def register_folder(folder: Path | None = None, *, ranks: int | None = None) -> list[Kernel]:
    """Registers the kernels that FOLDER/manifest.json lists, for `ranks` ranks or for any number, each for its sizes.
    The default folder is MSCCLC_KERNELS. Calls by the name of a collective then pick among them. Returns the kernels.
    Leaves out kernels for several nodes. Raises OSError, CallError, and ValueError for a wrong list."""
    named = os.environ.get("MSCCLC_KERNELS") if folder is None else folder
    if not named:
        raise ValueError("no folder of kernels is given, and MSCCLC_KERNELS names none")
    place = pathlib.Path(named)
    path = place / "manifest.json"
    try:
        top = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: {error}") from None
    _checked(str(path), top, {"version": (int, True)})
    if top["version"] != 1 or top.get("size", "message") != "message":
        raise ValueError(f"{path}: version {top['version']}, sizes of {top.get('size')!r}: neither is known here")
    made = []
    for collective in top.get("collectives", [top]):
        _checked(str(path), collective, {"collective": (str, True), "ranks": (int, True), "entries": (list, True)})
        count = collective["ranks"]
        if (ranks is not None and count != ranks) or collective.get("ranks_per_node", count) != count:
            continue
        for number, entry in enumerate(collective["entries"], 1):
            where = f"{path}: {collective['collective']} of {count} ranks, entry {number}"
            _checked(where, entry, _ENTRY)
            unknown = [name for name in entry.get("types", []) if not isinstance(name, str) or name not in abi.SHORT_NAMES]
            if unknown or entry.get("types") == []:
                names = ", ".join(abi.SHORT_NAMES)
                raise ValueError(f"{where}: 'types' is {entry['types']!r}; it must be a list of {names}")
            if not 0 <= entry["min"] <= entry["max"]:
                raise ValueError(f"{where}: sizes from {entry['min']} to {entry['max']}")
            if ("kernel" in entry) == entry.get("nccl", False):
                raise ValueError(f"{where}: it must have either a kernel or NCCL")
            if "kernel" not in entry:
                continue
            made.append((_kernel(where, place, collective, entry), entry))
    return [
        selector.register(
            kernel,
            min_bytes=entry["min"],
            max_bytes=entry["max"],
            types=[abi.SHORT_NAMES[name] for name in entry.get("types", [])],
        )
        for kernel, entry in made
    ]

"""Where the tool, the runtime and its headers are.

Each is looked for where its own variable says (MSCCLC_TOOL, MSCCLC_RUNTIME, MSCCLC_INCLUDE); then in a tree that
`cmake --install` wrote: the one that MSCCLC_PREFIX names, the one that this package carries, the one of the `mscclc` on
the PATH."""

from __future__ import annotations

import os
import pathlib
import shutil
from typing import Iterator

from .errors import Error, LibraryError, ToolError

_ADVICE = "set MSCCLC_PREFIX to a tree that `cmake --install` wrote, or install a wheel that carries it"


def prefixes() -> Iterator[pathlib.Path]:
    """Installed trees, in the order in which they are looked at."""
    named = os.environ.get("MSCCLC_PREFIX")
    if named:
        yield pathlib.Path(named)
    yield pathlib.Path(__file__).with_name("prefix")
    on_path = shutil.which("mscclc")
    if on_path:
        yield pathlib.Path(on_path).resolve().parent.parent


def _find(variable: str, what: str, patterns: tuple[str, ...], error: type[Error]) -> pathlib.Path:
    named = os.environ.get(variable)
    if named:
        if not pathlib.Path(named).exists():
            raise error(f"{variable}={named}: there is no such file")
        return pathlib.Path(named)
    for prefix in prefixes():
        for pattern in patterns:
            for path in sorted(prefix.glob(pattern)):
                return path
    looked = ", ".join(str(prefix) for prefix in prefixes())
    raise error(f"{what} is not found in {looked}; {_ADVICE}")


def tool() -> pathlib.Path:
    """The compiler mscclc. Raises ToolError."""
    return _find("MSCCLC_TOOL", "the tool mscclc", ("bin/mscclc",), ToolError)


def runtime_library() -> pathlib.Path:
    """The library of the runtime. Raises LibraryError."""
    return _find(
        "MSCCLC_RUNTIME",
        "the runtime, libmscclc_runtime.so,",
        ("lib*/libmscclc_runtime.so.?", "lib/*/libmscclc_runtime.so.?"),
        LibraryError,
    )


def include_folder() -> pathlib.Path:
    """The folder that <mscclc/device.cuh> is in. Raises LibraryError."""
    found = _find("MSCCLC_INCLUDE", "the header <mscclc/device.cuh>", ("include/mscclc/device.cuh",), LibraryError)
    return found if found.is_dir() else found.parent.parent

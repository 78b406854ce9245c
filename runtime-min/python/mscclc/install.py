"""Where the tool, the runtime and its headers are.

Each is looked for where its own variable says (MSCCLC_TOOL, MSCCLC_RUNTIME, MSCCLC_INCLUDE, MSCCLC_NCCL,
MSCCLC_SAMPLES);
then in these trees:

- the one that MSCCLC_PREFIX names
- the one that this package carries, or lies in
- the one of the `mscclc` on the PATH
- build/release of the checkout that this package lies in

A tree is what `cmake --install` wrote, or a build folder."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
from typing import Iterator

from .errors import Error, LibraryError, ToolError

_ADVICE = (
    "set {} to its file, or MSCCLC_PREFIX to an installed tree or a build folder, or install a wheel that carries it"
)


def prefixes() -> Iterator[pathlib.Path]:
    """Yields the trees, in the order of the search."""
    named = os.environ.get("MSCCLC_PREFIX")
    if named:
        yield pathlib.Path(named)
    here = pathlib.Path(__file__).resolve()
    yield here.with_name("prefix")
    on_path = shutil.which("mscclc")
    if on_path:
        yield pathlib.Path(on_path).resolve().parent.parent
    for folder in here.parents:
        for package, tree in ("share/mscclc/python/mscclc", "."), ("runtime-min/python/mscclc", "build/release"):
            if folder / package == here.parent:
                yield folder / tree


def _sources(build: pathlib.Path) -> pathlib.Path | None:
    """Returns the checkout of a build folder; None if `build` is not a build folder."""
    try:
        cache = (build / "CMakeCache.txt").read_text(errors="replace")
    except OSError:
        return None
    found = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.+)$", cache, re.M)
    return pathlib.Path(found[1]) if found else None


def _find(variable: str, what: str, patterns: tuple[str, ...], error: type[Error]) -> pathlib.Path:
    """Finds a file by `patterns` in each tree. Patterns that begin with a dot are searched in the sources of a build
    folder."""
    named = os.environ.get(variable)
    if named:
        if not pathlib.Path(named).exists():
            raise error(f"{variable}={named}: there is no such file")
        return pathlib.Path(named)
    for prefix in prefixes():
        for pattern in patterns:
            tree = _sources(prefix) if pattern.startswith("./") else prefix
            for path in sorted(tree.glob(pattern.removeprefix("./"))) if tree else []:
                return path
    looked = ", ".join(str(prefix) for prefix in prefixes())
    raise error(f"{what} is not found in {looked}; {_ADVICE.format(variable)}")


def tool() -> pathlib.Path:
    """Returns the compiler mscclc. Raises ToolError."""
    return _find("MSCCLC_TOOL", "the tool mscclc", ("bin/mscclc", "compiler/mscclc"), ToolError)


def runtime_library() -> pathlib.Path:
    """Returns the library of the runtime. Raises LibraryError."""
    name = "libmscclc_runtime.so.?"
    return _find(
        "MSCCLC_RUNTIME",
        "the runtime, libmscclc_runtime.so,",
        (f"lib*/{name}", f"lib/*/{name}", f"runtime-min/{name}"),
        LibraryError,
    )


def nccl_library() -> pathlib.Path:
    """Returns the library in NCCL's place, for LD_PRELOAD. Raises LibraryError, also if the build has no CUDA."""
    patterns = ("lib*/**/libmscclc_nccl.so", "runtime-min/nccl/libmscclc_nccl.so")
    return _find("MSCCLC_NCCL", "the library in NCCL's place, libmscclc_nccl.so,", patterns, LibraryError)


def include_folder() -> pathlib.Path:
    """Returns the folder that contains <mscclc/device.cuh>. Raises LibraryError."""
    header = "include/mscclc/device.cuh"
    found = _find("MSCCLC_INCLUDE", "the header <mscclc/device.cuh>", (header, f"./runtime-min/{header}"), LibraryError)
    return found if found.is_dir() else found.parent.parent


def samples_folder() -> pathlib.Path:
    """Returns the folder of the samples. Raises LibraryError."""
    return _find("MSCCLC_SAMPLES", "the folder of samples", ("share/mscclc/samples", "./samples"), LibraryError)

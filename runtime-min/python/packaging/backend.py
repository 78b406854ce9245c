"""Builds the wheel of the package, by the hooks of PEP 517.

A wheel carries the tool and the runtime that the package calls. They come from a tree that `cmake --install` wrote,
which MSCCLC_PREFIX names; else from the build folder of this checkout, build/release, if all of it is built. Without
either the wheel has Python alone, and the package looks for an installed tree when it is used.

setuptools needs the package `wheel` for this before its version 70, and a new environment has neither. This needs
nothing, so that the package installs without a network."""

from __future__ import annotations

import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile
from typing import Any, Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The parts of an installed tree that the package uses. Libraries are named by their SONAME, because a wheel holds no
# links.
CARRIED = (
    "bin/mscclc",
    "include/mscclc/**/*",
    "lib*/mscclc/*",
    "lib*/mscclc/clang/**/*",
    "lib*/libmscclc_runtime.so.[0-9]",
    "lib*/**/libmscclc_nccl.so",
    "share/mscclc/samples/**/*",
)


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def carried(prefix: pathlib.Path) -> Iterator[tuple[str, pathlib.Path]]:
    """Yields the files of an installed tree, with their names in the wheel."""
    for pattern in CARRIED:
        for path in sorted(prefix.glob(pattern)):
            if path.is_file():
                yield f"mscclc/prefix/{path.relative_to(prefix).as_posix()}", path


def installed_tree(scratch: pathlib.Path) -> pathlib.Path | None:
    """Returns the tree that has the tool and the runtime; `scratch` is an empty folder to install into."""
    named = os.environ.get("MSCCLC_PREFIX")
    if named:
        prefix = pathlib.Path(named)
        if not (prefix / "bin/mscclc").is_file():
            raise SystemExit(f"MSCCLC_PREFIX={named}: there is no bin/mscclc; it names what `cmake --install` wrote")
        return prefix
    build = ROOT.parent.parent / "build/release"
    if not (build / "compiler/mscclc").is_file() or not list(build.glob("runtime-min/libmscclc_runtime.so.?")):
        return None
    subprocess.run(["cmake", "--install", str(build), "--prefix", str(scratch)], check=True, stdout=subprocess.DEVNULL)
    return scratch


class Wheel:
    """A wheel that is being written: its files, and then the list of them with their hashes."""

    def __init__(self, folder: str, native: bool):
        facts = project()
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        self.tag = f"py3-none-{platform if native else 'any'}"
        self.info = f"{facts['name']}-{facts['version']}.dist-info"
        self.name = f"{facts['name']}-{facts['version']}-{self.tag}.whl"
        self.archive = zipfile.ZipFile(pathlib.Path(folder, self.name), "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self.record: list[str] = []

    def add(self, name: str, data: bytes, executable: bool = False) -> None:
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same input gives the same wheel
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def finish(self, native: bool) -> str:
        for name, text in metadata(self.tag, native).items():
            self.add(f"{self.info}/{name}", text.encode())
        listed = "\n".join([*self.record, f"{self.info}/RECORD,,", ""])
        self.archive.writestr(zipfile.ZipInfo(f"{self.info}/RECORD", (1980, 1, 1, 0, 0, 0)), listed)
        self.archive.close()
        return self.name


def metadata(tag: str, native: bool) -> dict[str, str]:
    facts = project()
    return {
        "METADATA": f"Metadata-Version: 2.1\nName: {facts['name']}\nVersion: {facts['version']}\n"
        f"Summary: {facts['description']}\nRequires-Python: {facts['requires-python']}\n",
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: mscclc\nRoot-Is-Purelib: {'false' if native else 'true'}\n"
        f"Tag: {tag}\n",
    }


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        tree = installed_tree(pathlib.Path(scratch))
        wheel = Wheel(wheel_directory, tree is not None)
        for path in sorted((ROOT / "mscclc").rglob("*")):
            if path.is_file() and (path.suffix in (".py", ".csv") or path.name == "py.typed"):
                wheel.add(path.relative_to(ROOT).as_posix(), path.read_bytes())
        for name, path in carried(tree) if tree else ():
            wheel.add(name, path.read_bytes(), os.access(path, os.X_OK))
        return wheel.finish(tree is not None)


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    wheel = Wheel(wheel_directory, native=False)
    wheel.add("mscclc.pth", f"{ROOT}\n".encode())
    return wheel.finish(native=False)


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    import tarfile

    facts = project()
    base = f"{facts['name']}-{facts['version']}"
    with tarfile.open(pathlib.Path(sdist_directory, base + ".tar.gz"), "w:gz") as archive:
        for path in [
            ROOT / "pyproject.toml",
            ROOT / "README.md",
            *sorted(ROOT.glob("packaging/*.py")),
            *sorted((ROOT / "mscclc").rglob("*.py")),
            ROOT / "mscclc/py.typed",
            ROOT / "mscclc/published.csv",
        ]:
            archive.add(path, f"{base}/{path.relative_to(ROOT).as_posix()}")
        description = tempfile.NamedTemporaryFile("w", suffix=".txt")
        description.write(metadata("py3-none-any", False)["METADATA"])
        description.flush()
        archive.add(description.name, f"{base}/PKG-INFO")
    return base + ".tar.gz"


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel

if __name__ == "__main__":
    print(build_wheel(sys.argv[1]))

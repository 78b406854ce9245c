"""The package in a new environment, without a network."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "runtime-min/python"
USES = """
import mscclc, sys
kernel = mscclc.Kernel.compile(sys.argv[1], params={"ranks": 2, "threadBlocks": 1}, platform="host")
with mscclc.Communicator(2, platform="host") as ranks:
    data = ranks.allocate(64)
    ranks.launch(kernel, data, message_bytes=64, dtype="float32")
    ranks.synchronize()
print(mscclc.install.tool(), mscclc.install.runtime_library(), kernel.library)
"""


def call(*command, **variables):
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MSCCLC_", "PYTHON", "PIP_")) and name not in ("CXX", "VIRTUAL_ENV")
    }
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        env=environment | variables,
        cwd="/",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Returns the installed build."""
    prefix = tmp_path_factory.mktemp("tree") / "prefix"
    subprocess.run(
        ["cmake", "--install", os.environ["MSCCLC_BUILD"], "--prefix", str(prefix)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return prefix


def test_the_folder_installs_with_the_tool_and_the_runtime(tree, tmp_path):
    """pip's own isolation stays on, because there is nothing to fetch."""
    call(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    call(python, "-m", "pip", "install", "--no-index", PACKAGE, MSCCLC_PREFIX=str(tree))
    sample = next(
        (tmp_path / "venv").glob(
            "lib*/python3*/site-packages/mscclc/prefix/share/mscclc/samples/allreduce_allpairs.cpp"
        )
    )
    found = call(python, "-c", USES, sample, MSCCLC_CACHE=str(tmp_path / "cache"), PATH="/usr/bin:/bin").split()
    assert all("site-packages/mscclc/prefix/" in path for path in found[:2]), found
    assert found[2].startswith(str(tmp_path / "cache"))
    in_tree = sorted(tree.glob("lib*/**/libmscclc_nccl.so"))
    if in_tree:  # of a build with CUDA
        carried = call(python, "-c", "import mscclc; print(mscclc.install.nccl_library())").strip()
        assert "site-packages/mscclc/prefix/" in carried
        assert pathlib.Path(carried).read_bytes() == in_tree[0].read_bytes()
    call(python, "-m", "pip", "uninstall", "-y", "mscclc")
    assert not sample.exists()


def test_a_wheel_needs_no_llvm(tree, tmp_path):
    """The wheel of scripts/package has Clang's own headers, which the tool finds beside itself, and fits other systems."""
    headers = ["--prefix", tree, "--component", "clang-headers"]
    call("cmake", "--install", os.environ["MSCCLC_BUILD"], *headers)
    call(sys.executable, PACKAGE / "packaging/backend.py", tmp_path, MSCCLC_PREFIX=str(tree))
    [wheel] = tmp_path.glob("*.whl")
    listed = call(sys.executable, "-m", "zipfile", "-l", wheel)
    assert "mscclc/prefix/lib/mscclc/clang/include/stddef.h" in listed
    assert "mscclc/prefix/share/mscclc/samples/tutorial/first_allgather.cpp" in listed
    if importlib.util.find_spec("auditwheel"):
        shown = call(sys.executable, "-m", "auditwheel", "show", wheel)
        assert "manylinux_2_" in shown, shown


def test_a_wheel_of_python_alone(tree, tmp_path):
    """A package installed from a folder outside of a checkout, without a tree, finds an installed tree when it is used.
    """
    (tmp_path / "copy").mkdir()
    call("cp", "-r", PACKAGE, tmp_path / "copy/package")
    call(sys.executable, tmp_path / "copy/package/packaging/backend.py", tmp_path)
    [wheel] = tmp_path.glob("*.whl")
    assert wheel.name == "mscclc-0.1.0-py3-none-any.whl"
    call(sys.executable, "-m", "zipfile", "-e", wheel, tmp_path / "there")
    found = call(
        sys.executable,
        "-c",
        USES,
        tree / "share/mscclc/samples/allreduce_allpairs.cpp",
        MSCCLC_PREFIX=str(tree),
        MSCCLC_CACHE=str(tmp_path / "cache"),
        PYTHONPATH=str(tmp_path / "there"),
    ).split()
    assert found[0] == str(tree / "bin/mscclc")


def test_the_same_input_gives_the_same_wheel(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        call("cp", "-r", PACKAGE, tmp_path / name / "package")
        call(sys.executable, tmp_path / name / "package/packaging/backend.py", tmp_path / name)
    one, two = ([*(tmp_path / name).glob("*.whl")][0].read_bytes() for name in ("one", "two"))
    assert one == two


WHERE = "import mscclc; print(mscclc.install.tool(), mscclc.install.runtime_library(), mscclc.install.include_folder())"


def test_a_build_folder_is_a_tree(tmp_path):
    """The tool is found by the `mscclc` on the PATH, and by the checkout that contains the package."""
    build, sources = pathlib.Path(os.environ["MSCCLC_BUILD"]).resolve(), PACKAGE.parent.parent
    wanted = [build / "compiler/mscclc", build / "runtime-min/libmscclc_runtime.so.0", sources / "runtime-min/include"]
    wanted = [path.resolve() for path in wanted]
    (tmp_path / "checkout/runtime-min").mkdir(parents=True)
    (tmp_path / "checkout/build").mkdir()
    call("cp", "-r", PACKAGE, tmp_path / "checkout/runtime-min/python")
    (tmp_path / "checkout/build/release").symlink_to(build)
    (tmp_path / "alone").mkdir()
    call("cp", "-r", PACKAGE / "mscclc", tmp_path / "alone/mscclc")
    for place, path in (("checkout/runtime-min/python", "/usr/bin:/bin"), ("alone", f"{build}/compiler:/usr/bin:/bin")):
        found = call(sys.executable, "-c", WHERE, PYTHONPATH=str(tmp_path / place), PATH=path).split()
        assert [pathlib.Path(one).resolve() for one in found] == wanted, found
    failed = subprocess.run(
        [sys.executable, "-c", "import mscclc; mscclc.install.tool()"],
        env={"PYTHONPATH": str(tmp_path / "alone"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "set MSCCLC_TOOL to its file, or MSCCLC_PREFIX to an installed tree or a build folder" in failed.stderr

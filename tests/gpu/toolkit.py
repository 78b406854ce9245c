"""Compilers, and what they compile for."""
import concurrent.futures
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys

# Oldest device whose memory model the kernels are written for, as nvcc names it.
OLDEST = 70
# First toolkit with multicast objects.
OLDEST_TOOLKIT = (12, 1)
WARNINGS = "-Wall,-Wextra"
# Of mscclc-perf and the runtime, for nvcc or the C++ compiler. CXXFLAGS can have flags that nvcc does not take.
HOST_FLAGS = (os.environ.get("MSCCLC_CHECK_FLAGS") or "-O2").split()
# Sources of mscclc-perf that need the rest of mscclc.
NOT_ALONE = ("calibrate", "experiments")
# Where a pack has the headers of others, beside the runtime.
OTHERS = "others"


def run(command, timeout=None, **variables):
    """Returns the finished process, with output and errors together. Its code is 124 after a time-out, and 127 if the
    command does not exist. `variables`: more of its environment."""
    words = [str(part) for part in command]
    try:
        return subprocess.run(words, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=timeout, env={**os.environ, **variables})
    except OSError as error:
        return subprocess.CompletedProcess(words, 127, f"{words[0]}: {error.strerror}")
    except subprocess.TimeoutExpired as late:
        text = late.stdout.decode(errors="replace") if isinstance(late.stdout, bytes) else late.stdout or ""
        return subprocess.CompletedProcess(words, 124, text + f"\nended after {timeout} s")


def must(command, what):
    result = run(command)
    if result.returncode != 0:
        sys.exit(f"{result.stdout}\n{what} failed ({result.returncode})")
    return result.stdout


def include_flags(folders):
    return [word for folder in folders for word in ("-I", folder)]


def json_headers():
    """Returns nlohmann_json's headers, each with its path as includes write it."""
    rules = must([os.environ.get("CXX", "g++"), "-std=c++17", "-M", "-include", "nlohmann/json.hpp", "-x", "c++",
                  os.devnull], "finding nlohmann/json.hpp")
    files = [pathlib.Path(word) for word in rules.split() if "/nlohmann/" in word]
    return [(file, pathlib.PurePosixPath(*file.parts[file.parts.index("nlohmann"):])) for file in files]


class HostCompilers:
    """For the CPU stand-in."""
    description = "CPU stand-in"
    flags = []

    def __init__(self):
        self.command = [os.environ.get("CXX", "g++"), "-std=c++17", "-pthread"]

    def compile_kernel(self, source, library, include, *flags):
        return run([*self.command, "-O1", *WARNINGS.split(","), "-shared", "-fPIC", "-I", include, *flags, "-x", "c++",
                    source, "-o", library])

    def object(self, source, target, includes):
        must([*self.command, *HOST_FLAGS, "-fPIC", *self.flags, *include_flags(includes), "-c", source, "-o", target],
             f"compiling {source}")

    def link(self, objects, target, shared, *libraries):
        must([*self.command, *(["-shared"] if shared else []), *objects, "-o", target, *libraries, "-ldl"],
             f"linking {target}")

    def wants(self, source):
        """Returns whether a source file of the runtime is for this machine."""
        return source.stem not in NOT_ALONE and not re.fullmatch("cuda_[a-z]+|(platform|device)_cuda", source.stem)

    def folder_sources(self, top, work):
        """Writes one source for each folder, which includes all sources there, because most of the time is spent on
        headers."""
        written = []
        for folder in sorted({path.parent for path in top.rglob("*.cpp") if self.wants(path)}):
            written.append(work / ("-".join(folder.relative_to(top.parent).parts) + ".cpp"))
            written[-1].write_text("".join(f'#include "{path}"\n' for path in sorted(folder.glob("*.cpp"))
                                           if self.wants(path)))
        return written

    def build_tool(self, runtime, work):
        """Builds mscclc-perf and its library, without a build tool."""
        version = re.search(r"project\([^)]*VERSION ([0-9.]+)", (runtime / "CMakeLists.txt").read_text()).group(1)
        self.flags = [*self.flags, f'-DMSCCLC_RUNTIME_VERSION="{version}"']
        folders = [runtime / part for part in ("src", "hangs", "rendezvous", "mscclc-perf")]
        includes = [runtime / "include", runtime / "src", *filter(pathlib.Path.is_dir, [runtime.parent / OTHERS])]
        objects = [self.folder_sources(folder, work) for folder in folders]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(lambda source: self.object(source, source.with_suffix(".o"), includes), sum(objects, [])))
        objects = [[source.with_suffix(".o") for source in sources] for sources in objects]
        library, tool = work / "libmscclc_runtime.so", work / "mscclc-perf"
        self.link(sum(objects[:-1], []), library, True)
        self.link(objects[-1], tool, False, "-L", work, "-lmscclc_runtime")
        return use_tool(work)

    def build_client(self, source, include, runtime, program):
        """Builds a program that launches kernels. `runtime`: the folder of the runtime's library."""
        use_libraries(runtime)
        must([*self.command, *HOST_FLAGS, *include_flags([include]), source, "-o", program, "-L", runtime,
              "-lmscclc_runtime", "-ldl"], f"building {source}")


def use_libraries(folder):
    """Lets the loader find the libraries of a folder."""
    folders = [str(folder), os.environ.get("LD_LIBRARY_PATH", "")]
    os.environ["LD_LIBRARY_PATH"] = os.pathsep.join(folder for folder in folders if folder)


def use_tool(work):
    """Returns the mscclc-perf that build_tool has left there, ready to run."""
    use_libraries(work)
    tool = work / "mscclc-perf"
    if not tool.is_file():
        sys.exit(f"there is no {tool}: run without --no-build")
    return tool


class CudaCompilers(HostCompilers):
    """nvcc, which finds its own headers and libraries. `target`: its flag for the device."""
    flags = ["-DMSCCLC_WITH_CUDA"]

    def __init__(self, nvcc, target, device):
        self.nvcc, self.target = nvcc, target
        self.command = [nvcc, "-std=c++17", "-cudart=shared", "-Xcompiler=-pthread,-fPIC"]
        version = run([nvcc, "--version"]).stdout.strip().splitlines()
        self.description = f"{device}; {version[-1] if version else nvcc}"
        # Where programs find libcudart, which need not be known to the loader.
        folders = re.findall(r"-L([^\"\s]+)", run([nvcc, "-dryrun", "-x", "cu", os.devnull]).stdout)
        folders = [folder for folder in folders if not folder.endswith("stubs")]
        old = os.environ.get("LD_LIBRARY_PATH")
        os.environ["LD_LIBRARY_PATH"] = os.pathsep.join(folders + ([old] if old else []))

    def compile_kernel(self, source, library, include, *flags):
        return run([*self.command, "-O3", self.target, f"-Xcompiler={WARNINGS}", "-shared", "-I", include, *flags,
                    source, "-o", library])

    def object(self, source, target, includes):
        must([*self.command, *HOST_FLAGS, *self.flags, *include_flags(includes), "-c", source, "-o", target],
             f"compiling {source}")

    def wants(self, source):
        return source.stem not in ("device_none", *NOT_ALONE)


def find_nvcc():
    for folder in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        nvcc = folder and pathlib.Path(folder, "bin", "nvcc")
        if nvcc and nvcc.exists() and not shutil.which("nvcc"):
            return str(nvcc)
    return shutil.which("nvcc")


def find_device():
    """Returns compute capability (90 for 9.0) and description of the first device; None if there is none."""
    # The driver itself is asked: there may be no other tool, and it knows which devices are visible.
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    count, device, major, minor, driver = (ctypes.c_int() for _ in range(5))
    memory, name = ctypes.c_size_t(), ctypes.create_string_buffer(256)
    if cuda.cuInit(0) != 0 or cuda.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return None
    cuda.cuDeviceGet(ctypes.byref(device), 0)
    cuda.cuDeviceGetName(name, len(name), device)
    cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
    cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
    cuda.cuDriverGetVersion(ctypes.byref(driver))
    return (10 * major.value + minor.value,
            f"{name.value.decode()}, {memory.value >> 20} MiB, {count.value} visible, sm_{major.value}{minor.value}, "
            f"driver for CUDA {driver.value // 1000}.{driver.value % 1000 // 10}")


def target_for(capability, known):
    """Returns nvcc's flag for a device. `known`: the capabilities for which it compiles."""
    if capability in known or not known:
        return f"-arch=sm_{capability}"
    older = [k for k in known if k < capability]
    # A device that is newer than nvcc compiles what is written for the newest it knows.
    return f"-gencode=arch=compute_{max(older)},code=compute_{max(older)}" if older else None


def find_cuda(arch):
    """Returns the compilers for `arch` or the device; None if there is no device to run on. Exits if a compiler cannot
    be used."""
    device = (None, f"compiled for {arch}") if arch else find_device()
    if device is None:
        return None
    nvcc = find_nvcc()
    if nvcc is None:
        sys.exit(f"[SKIP] {device[1]}: there is no nvcc to compile for it; put it into PATH, or set CUDA_HOME")
    release = re.search(r"release (\d+)\.(\d+)", run([nvcc, "--version"]).stdout)
    if release and (int(release.group(1)), int(release.group(2))) < OLDEST_TOOLKIT:
        sys.exit(f"[SKIP] {device[1]}: {nvcc} is older than CUDA {'.'.join(map(str, OLDEST_TOOLKIT))}")
    if arch:
        return CudaCompilers(nvcc, f"-arch={arch}", device[1])
    if device[0] < OLDEST:
        sys.exit(f"[SKIP] {device[1]}: kernels need sm_{OLDEST} or newer")
    known = [int(text) for text in re.findall(r"sm_(\d+)\b", run([nvcc, "--list-gpu-code"]).stdout)]
    target = target_for(device[0], known)
    if target is None:
        sys.exit(f"[SKIP] {device[1]}: {nvcc} compiles for sm_{min(known)} and newer; an older toolkit is needed")
    return CudaCompilers(nvcc, target, device[1])

"""Compiles kernels to PTX, and runs them on the PTX machine: what `run`, kernels.py and mutants.py share.

The client is a program of the product's runtime, on its CUDA platform, so that launches, graphs, staging and counters are
those of the product. Preloaded are the library mscclc-ptx, whose device is the machine, and the fake of CUDA of
tests/runtime."""
import dataclasses
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cuda"))
import kernel_text

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ROOT / "runtime-min" / "include"
TYPES = re.findall(r"^MSCCLC_DTYPE\(.*, (\w+)\)", (HEADERS / "mscclc" / "dtypes.def").read_text(), re.MULTILINE)


# The types of --types=all for clients that have no use for others: hooks_client has definitions of hooks for three
# types, counts_client launches kernels that move rows as bytes, and the rows of experts_client have 20 bytes.
TYPES_OF_CLIENTS = {"hooks_client": "float,Half,Bfloat16", "counts_client": "float",
                    "experts_client": "float,Half,Bfloat16"}
# Programs that clients of their own launch and compare with their definition: the parameters of each, the message size
# that its kernel is for, and the client with its arguments. They have hooks, counts of rows, or an index of experts.
COUNTS = ["counts_client", "--capacities", "3", "--row-bytes", "16,20"]
EXPERTS = ["experts_client", "--capacities", "2", "--row-bytes", "16,20"]
OWN_CLIENTS = {"allreduce_norm": (["ranks=4", "quantize=true"], "2560", ["hooks_client", "--shapes", "5x128,10x128"]),
               "hooks": (["ranks=3", "function=quantize_rows", "groups=true"], None,
                         ["hooks_client", "--shapes", "4x32,3x264"]),
               "element_hooks": (["ranks=4", "function=cast"], "2560", ["hooks_client", "--shapes", "5x128,10x128,3x41"]),
               "packet_hooks": (["ranks=3"], "2560", ["hooks_client", "--shapes", "5x128,10x128"]),
               "bf16_wire": (["ranks=4"], "5120", ["hooks_client", "--shapes", "5x128,10x128"]),
               "wire_packets": (["ranks=3"], "2560", ["hooks_client", "--shapes", "5x128,10x128"]),
               "allreduce_quantized": (["ranks=4", "protocol=Simple"], "2560", ["hooks_client", "--shapes", "5x128,10x128"]),
               "alltoallv_padded": (["ranks=3"], None, COUNTS),
               "alltoallv_packed": (["ranks=3"], None, COUNTS),
               "alltoallv_twolevel": (["nodes=2", "gpus=2"], None, COUNTS),
               "moe_dispatch": (["ranks=2", "experts=2"], None, EXPERTS),
               "moe_combine": (["ranks=2", "experts=2"], None, EXPERTS),
               "split_dispatch": (["ranks=2"], None, EXPERTS),
               "ready_dispatch": (["ranks=2"], None, EXPERTS),
               "ready_combine": (["ranks=2"], None, EXPERTS),
               "once_dispatch": (["ranks=2"], None, EXPERTS),
               "moe_dispatch_twolevel": (["nodes=2", "gpus=2", "experts=2"], None, EXPERTS),
               "moe_combine_twolevel": (["nodes=2", "gpus=2", "experts=2"], None, EXPERTS)}


def own_client_of(program):
    """The client of a program and its arguments; None if any client will do."""
    return OWN_CLIENTS[program.stem][2] if program.stem in OWN_CLIENTS else None


def types_of(program, kernel, types):
    """The types that a program's kernel is compiled with: `types`, or where these are all, those that its client
    launches. `kernel`: its file. Values that travel as bf16 are floats in the message."""
    if types != "all" or program.stem not in OWN_CLIENTS:
        return types
    if "hooks/wire_bf16.cuh" in kernel.read_text():
        return "float"
    return TYPES_OF_CLIENTS.get(own_client_of(program)[0], types)


# Of launches, by the size of a message: BYTES:NUMBER,…
INSTANCES = "0:1,600:2,2000:4"


class DoesNotCompile(Exception):
    pass


def add_options(parser):
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="build folder")
    parser.add_argument("--nvcc", default="nvcc", help="the CUDA compiler [nvcc]")
    parser.add_argument("--arch", default="90", help="virtual architecture that PTX is for: 80, 90 or 100 [90]")
    parser.add_argument("--types", default="float", help="element types, with commas between them, or all [float]")
    parser.add_argument("--threads", type=int, default=32, help="threads of a block, at most [32]")
    # Their number is no multiple of 2 or 3, parts of scratch: else each part would have the same data again and again.
    parser.add_argument("--sizes", default="1024,260,5120,272,640",
                        help="of the launches in a row, in bytes [1024,260,5120,272,640]")
    parser.add_argument("--staging", action="store_true", help="the kernel copies its user's memory")
    parser.add_argument("--graph", action="store_true", help="launches are captured, and replayed")
    parser.add_argument("--timeout", type=float, default=1200, help="seconds that a schedule may take [1200]")


@dataclasses.dataclass
class Result:
    summary: str
    findings: list
    launches: int = 0
    races: int = 0
    instructions: int = 0
    forms: int = 0  # types, operations and packets


class Machine:
    def __init__(self, options):
        self.options = options
        self.folder = tempfile.TemporaryDirectory(prefix="mscclc-ptx-")
        self.libraries = itertools.count()
        found = {name: [path for path in options.build.rglob(name) if path.is_file()] for name in
                 ("libmscclc-ptx.so", "libcuda_fake.so", "on_fake/libmscclc_runtime.so.*", "mscclc-ptx-client",
                  "cuda/hooks_client", "cuda/counts_client", "cuda/experts_client")}
        missing = [name for name, paths in found.items() if not paths]
        if missing:
            raise SystemExit(f"{options.build} has no {', '.join(missing)}: build all first")
        *self.preloaded, self.client = (paths[0] for paths in list(found.values())[:4])
        self.own_clients = {paths[0].name: paths[0] for name, paths in found.items() if name.endswith("_client")}

    def compile(self, kernel, headers=HEADERS, types=None):
        """A library with the kernel's PTX as text. `types`: instead of those of --types."""
        library = pathlib.Path(self.folder.name, f"kernel{next(self.libraries)}.so")
        types = types or self.options.types
        types = "\\,".join(TYPES) if types == "all" else types.replace(",", "\\,")
        arch = self.options.arch
        run = subprocess.run([self.options.nvcc, "-std=c++17", "-gencode", f"arch=compute_{arch},code=compute_{arch}",
                              "-lineinfo", "--no-compress", "-cudart", "none", "-shared", "-Xcompiler", "-fPIC",
                              "-I", str(headers), "-I", str(ROOT / "tests" / "cuda"), f"-DMSCCLC_DTYPES={types}",
                              str(kernel), "-o", str(library)], capture_output=True, text=True)
        if run.returncode != 0:
            raise DoesNotCompile(run.stderr)
        return library

    def run(self, library, seed, threads=None, staging=None, graph=None, bits=None, own_client=None, sizes=None,
            first=False):
        """Launches in a row, twice, of each type and packet, on all ranks, with results checked. `bits`: the order
        of sums whose bits they must have. `own_client`: that of the kernel's program, with its arguments. `sizes`:
        instead of those of --sizes. `first`: the run ends at the first race."""
        options = self.options
        if own_client:
            command = [str(self.own_clients[own_client[0]]), "--threads", str(threads or options.threads), *own_client[1:]]
        else:
            command = [str(self.client), "--threads", str(threads or options.threads), "--sizes", sizes or options.sizes]
            command += ["--staging"] if (options.staging if staging is None else staging) else []
            command += ["--graph"] if (options.graph if graph is None else graph) else []
            command += ["--bits", bits] if bits else []
        command.append(str(library))
        environment = {**os.environ, "LD_PRELOAD": ":".join(map(str, self.preloaded)), "MSCCLC_PTX_SEED": str(seed),
                       "CUDA_FAKE_DEVICES": "16", "CUDA_FAKE_MULTICAST": "1", **({"MSCCLC_PTX_FIRST": "1"} if first else {})}
        try:
            run = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=self.options.timeout)
        except subprocess.TimeoutExpired:
            return Result(f"seed {seed}: no end", [f"seed {seed}: no end within {self.options.timeout} seconds"])
        lines = run.stderr.splitlines()
        findings = [line for line in lines if line.startswith("ptx: ") and " races" not in line]
        findings += [line for line in lines if line.startswith("  ")]
        summary = next((line for line in lines if re.match(r"ptx: seed \d+: \d+ launches", line)), None)
        if run.returncode != 0 and not findings:
            findings = [f"ptx: seed {seed}: exit code {run.returncode}", *lines, *run.stdout.splitlines()[-3:]]
        if summary is None:
            return Result(f"ptx: seed {seed}: no summary", findings or lines or ["nothing ran"])
        launches, races, instructions = (int(re.search(rf"(\d+) {what}", summary).group(1))
                                         for what in ("launches", "races", "instructions"))
        return Result(summary, findings, launches, races, instructions, run.stdout.count(" wrong\n"))


def give_instances(kernel, rows, sizes):
    """Lets launches of an emitted kernel take instances by size. Each row has to be that of one of `sizes` (bytes, with
    commas between them), as some faults show only where all numbers of instances have been launched."""
    begins = sorted(int(row.split(":")[0]) for row in rows.split(","))
    taken = {max((begin for begin in begins if begin <= int(size)), default=None) for size in sizes.split(",")}
    if taken != set(begins):
        raise SystemExit(f"instances {rows}: no launch of {sizes} bytes takes those of some row")
    kernel.write_text(kernel_text.with_instances(kernel.read_text(), rows))


def emit(options, program, output, ranks=4, given=(), isProven=True):
    """Writes the kernel of a sample, or of a plan. Samples have `ranks` ranks, and message sizes, or a machine, for which
    the compiler takes few blocks. `given`: parameters, NAME=VALUE, that replace those of the same names. Programs that are
    not proven have no parameters, and are compiled as they stand."""
    parameters, size, _ = OWN_CLIENTS.get(program.stem, ([], None, None))
    few_blocks = bool(parameters) and not size and "twolevel" not in program.stem  # which has few on any machine
    if not parameters and program.suffix == ".cpp" and isProven:
        isAuto, isHierarchical = program.parent.name == "auto", "hierarchical" in program.name
        parameters = ([["gpusPerNode=2"], ["nodes=2", f"gpus={ranks // 2}"]][isAuto] if isHierarchical
                      else [f"ranks={ranks}"])
        size = "4K" if isAuto else None
    names = {word.partition("=")[0] for word in given}
    parameters = [word for word in parameters if word.partition("=")[0] not in names] + [*given]
    mscclc = str(options.build / "compiler" / "mscclc")
    output.write_text(kernel_text.for_client(mscclc, str(program), parameters, size,
                                             [] if isProven else ["--no-verify", "-O0"], few_blocks))

#include "options.h"

#include "mscclc/runtime.h"
#include "values.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <getopt.h>

namespace mscclc::perf {
namespace {

constexpr uint32_t maxRepeats = 100000, maxProcesses = 1024;

constexpr const char *usage = R"(Usage: mscclc-perf [options] KERNEL.so
       mscclc-perf --manifest FOLDER/manifest.json [options]
       mscclc-perf --calibrate -o MACHINE.json [options] [EXPERIMENTS.so]

Runs a kernel that mscclc emitted over a range of message sizes, checks every result against the collective's
definition, and prints time, algorithm bandwidth and bus bandwidth as nccl-tests do.

  -b, --minbytes SIZE    smallest message (1K)
  -e, --maxbytes SIZE    largest message (1G, or what fits in memory)
  -f, --factor N         next size = size * N (2)
  -k, --kernel NAME      which kernel of the library
  -d, --dtype TYPE       f32, f16, bf16, f64, f8e4m3, f8e5m2, i8, i32, i64, u8, u32, u64 or all; more than one with commas
                         (the kernel's first)
  -o, --op OP            sum, min, max, prod or all (the kernel's first)
  -p, --packet KIND      LL8, LL16, Lamport or all (the kernel's first)
  -n, --iters N          launches that are timed (20)
  -w, --warmup N         launches before (5)
  -r, --repeats N        timings, of which the median is printed (1)
  -t, --threads N        threads of a block (as many as the kernel takes and the device holds)
  -c, --check 0|1        check results (1)
  -G, --graph            time launches replayed from a CUDA graph, and check a replay
  -L, --pdl              let each launch begin before the earlier one has ended (programmatic dependent launch)
  -D, --devices LIST     device of each rank, repeated if shorter: 0 puts all ranks on device 0 (rank modulo devices)
  -P, --processes N      spread the ranks over N processes
  -E, --nccl LIBRARY     run on NCCL's engine: libnccl.so.2, or a path (2.28.9 or newer)
  -H, --host             kernels built for the CPU stand-in
  -T, --timeout MS       report a wait that takes longer (60000; 0: never)
  -J, --json FILE        write the rows as JSON
  -M, --manifest FILE    run all kernels of a folder that `mscclc library` made, each at the sizes for which it is listed,
                         and write their times into its list
  -h, --help             this text

CALIBRATION  Times small programs on this machine's GPUs, a rank on each, and fits the time model to them. The result is
a machine file for mscclc --estimate --machine MACHINE.json. Parameters that no experiment measures are those of another
machine, and the file says so: experiments for two GPUs and more are left out where there are fewer.
  -C, --calibrate        measure the experiments (-b 1K -e 256M -f 8 -n 100 -r 5 --graph), and write a machine file
  -o, --output FILE      the machine file
  -l, --like MACHINE     the machine to begin with: a name or a file, as mscclc --machine takes it (h100x8)
  -N, --name NAME        the machine's name (that of the file)
  EXPERIMENTS.so         made by `cmake --build BUILD --target mscclc-experiments`, which needs nvcc
                         (mscclc-experiments.so beside this program, or in ../lib/mscclc)

EXIT CODES  0 all right   1 wrong results, or a run that failed   2 the command line is wrong
)";

const option longOptions[] = {{"minbytes", required_argument, nullptr, 'b'},
                              {"maxbytes", required_argument, nullptr, 'e'},
                              {"factor", required_argument, nullptr, 'f'},
                              {"kernel", required_argument, nullptr, 'k'},
                              {"dtype", required_argument, nullptr, 'd'},
                              {"op", required_argument, nullptr, 'o'},
                              {"packet", required_argument, nullptr, 'p'},
                              {"iters", required_argument, nullptr, 'n'},
                              {"warmup", required_argument, nullptr, 'w'},
                              {"repeats", required_argument, nullptr, 'r'},
                              {"threads", required_argument, nullptr, 't'},
                              {"check", required_argument, nullptr, 'c'},
                              {"pdl", no_argument, nullptr, 'L'},
                              {"graph", no_argument, nullptr, 'G'},
                              {"devices", required_argument, nullptr, 'D'},
                              {"processes", required_argument, nullptr, 'P'},
                              {"nccl", required_argument, nullptr, 'E'},
                              {"host", no_argument, nullptr, 'H'},
                              {"timeout", required_argument, nullptr, 'T'},
                              {"json", required_argument, nullptr, 'J'},
                              {"manifest", required_argument, nullptr, 'M'},
                              {"calibrate", no_argument, nullptr, 'C'},
                              {"output", required_argument, nullptr, 'O'},
                              {"like", required_argument, nullptr, 'l'},
                              {"name", required_argument, nullptr, 'N'},
                              {"help", no_argument, nullptr, 'h'},
                              {nullptr, 0, nullptr, 0}};

std::vector<std::string> split(const std::string &list) {
  std::vector<std::string> parts(1);
  for (const char c : list)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

bool parseNumber(const std::string &text, uint64_t &number) {
  char *end = nullptr;
  errno = 0;
  number = std::strtoull(text.c_str(), &end, 10);
  return !text.empty() && text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

/// Parses a number from `least` to `most`.
bool parseCount(const std::string &text, uint32_t least, uint32_t most, uint32_t &count) {
  uint64_t number = 0;
  if (!parseNumber(text, number) || number < least || number > most)
    return false;
  count = static_cast<uint32_t>(number);
  return true;
}

struct Name {
  const char *name;
  uint32_t value;
};
constexpr Name ops[] = {
#define MSCCLC_REDUCE_OP(id, number, name, type) {name, MSCCLC_##id},
#include "mscclc/reduce_ops.def"
};
constexpr Name packetKinds[] = {{"LL8", MSCCLC_LL8}, {"LL16", MSCCLC_LL16}, {"Lamport", MSCCLC_LAMPORT}};

template <size_t N> bool parseNames(const Name (&names)[N], const std::string &list, std::vector<uint32_t> &values) {
  for (const std::string &part : split(list)) {
    bool known = part == "all";
    for (const Name &entry : names)
      if (part == "all" || part == entry.name) {
        values.push_back(entry.value);
        known = true;
      }
    if (!known)
      return false;
  }
  return true;
}

bool parseTypes(const std::string &list, std::vector<uint32_t> &values) {
  for (const std::string &part : split(list)) {
    bool known = part == "all";
    for (uint32_t type = 0; type < typeCount; ++type)
      if (part == "all" || part == typeName(type)) {
        values.push_back(type);
        known = true;
      }
    if (!known)
      return false;
  }
  return true;
}

bool parseDevices(const std::string &list, std::vector<int32_t> &devices) {
  for (const std::string &part : split(list)) {
    uint32_t number = 0;
    if (!parseCount(part, 0, INT32_MAX, number))
      return false;
    devices.push_back(static_cast<int32_t>(number));
  }
  return true;
}

/// Applies one option with its value. Returns false if the value is wrong.
bool apply(int letter, const std::string &value, Options &o) {
  switch (letter) {
  case 'b':
    if (!parseBytes(value, o.minBytes) || o.minBytes == 0)
      return false;
    o.maxBytes = o.givenMax ? o.maxBytes : std::max(o.maxBytes, o.minBytes);
    return o.givenMin = true;
  case 'e':
    if (!parseBytes(value, o.maxBytes))
      return false;
    o.minBytes = o.givenMin ? o.minBytes : std::min(o.minBytes, o.maxBytes);
    return o.givenMax = true;
  case 'f':
    return parseNumber(value, o.factor) && o.factor >= 2;
  case 'k':
    o.kernel = value;
    return true;
  case 'd':
    return parseTypes(value, o.dtypes);
  case 'o': // the output with --calibrate, whose programs have no choice of operation
    return o.calibrate ? !(o.output = value).empty() : parseNames(ops, value, o.reduceOps);
  case 'O':
    return !(o.output = value).empty();
  case 'l':
    return !(o.like = value).empty();
  case 'N':
    return !(o.machineName = value).empty();
  case 'p':
    if (value == "all")
      o.packets.push_back(MSCCLC_NO_PACKET); // for a kernel without packets
    return parseNames(packetKinds, value, o.packets);
  case 'n':
    return parseCount(value, 1, UINT32_MAX, o.iterations);
  case 'w':
    return parseCount(value, 0, UINT32_MAX, o.warmUp);
  case 'r':
    return parseCount(value, 1, maxRepeats, o.repeats);
  case 't':
    return parseCount(value, 1, UINT32_MAX, o.threads);
  case 'c':
    o.check = value != "0";
    return value == "0" || value == "1";
  case 'D':
    return parseDevices(value, o.devices);
  case 'P':
    return parseCount(value, 1, maxProcesses, o.processes);
  case 'E':
    return !(o.nccl = value).empty();
  case 'T':
    return parseNumber(value, o.timeoutMs);
  case 'J':
    o.json = value;
    return true;
  case 'M':
    return !(o.manifest = value).empty();
  case 'G':
    o.graph = true;
    return true;
  case 'L':
    o.pdl = true;
    return true;
  case 'H':
    o.host = true;
    return true;
  case 'C':
    return true;
  default:
    return false;
  }
}

/// Sets sizes that cover latencies as well as bandwidths. Each size is timed often enough that the start of a graph and
/// single disturbances do not matter.
void setCalibrationDefaults(Options &options) {
  options.maxBytes = 256 << 20;
  options.factor = 8;
  options.iterations = 100;
  options.repeats = 5;
}

/// Prints an error about the command line, and returns the exit code for it.
int wrong(const char *why) {
  std::fprintf(stderr, "mscclc-perf: %s\n", why);
  return 2;
}

} // namespace

bool parseBytes(const std::string &text, uint64_t &bytes) {
  char *end = nullptr;
  bytes = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] < '0' || text[0] > '9')
    return false;
  const std::string unit = end;
  if (unit.empty() || unit == "B")
    return true;
  const char *const letters = "KMG";
  const char *const found = std::strchr(letters, unit[0]);
  if (found == nullptr || (unit.size() > 1 && unit.substr(1) != "B" && unit.substr(1) != "iB"))
    return false;
  const auto shift = static_cast<unsigned>(10 * (found - letters + 1));
  if (bytes > UINT64_MAX >> shift)
    return false;
  bytes <<= shift;
  return true;
}

int parseOptions(int argc, char **argv, Options &options) {
  constexpr const char *letters = "b:e:f:k:d:o:p:n:w:r:t:c:GLD:P:E:HT:J:M:CO:l:N:h";
  // A first pass looks for --calibrate, because the meaning of -o and the defaults depend on it. --calibrate may come
  // behind other options.
  for (int letter = 0; (letter = getopt_long(argc, argv, letters, longOptions, nullptr)) != -1;) {
    if (letter == '?')
      return 2;
    options.calibrate |= letter == 'C';
  }
  if (options.calibrate)
    setCalibrationDefaults(options);
  optind = 0;
  for (int letter = 0; (letter = getopt_long(argc, argv, letters, longOptions, nullptr)) != -1;) {
    if (letter == 'h') {
      std::fputs(usage, stdout);
      return 0;
    }
    if (!apply(letter, optarg == nullptr ? "" : optarg, options)) {
      std::fprintf(stderr, "mscclc-perf: '%s' is no value for -%c\n", optarg, letter);
      return 2;
    }
  }
  const int libraries = argc - optind;
  if (!options.manifest.empty() &&
      (libraries != 0 || options.calibrate || !options.json.empty() || !options.kernel.empty()))
    return wrong("--manifest names the kernels, and gets their times: leave out a library, -k, --json and --calibrate");
  if (libraries > 1 || (libraries == 0 && !options.calibrate && options.manifest.empty()))
    return wrong("give one library of kernels (--help shows more)");
  options.library = libraries == 0 ? "" : argv[optind];
  if (options.minBytes > options.maxBytes)
    return wrong("the smallest message is larger than the largest");
  if (options.calibrate && options.output.empty())
    return wrong("--calibrate needs the machine file to write: -o MACHINE.json");
  if (options.calibrate && options.processes != 1)
    return wrong("--calibrate runs in one process: leave out -P");
  if (!options.calibrate && !options.output.empty())
    return wrong("--output is of --calibrate; --json FILE writes the rows");
  return -1;
}

} // namespace mscclc::perf

// The command line of mscclc-perf.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mscclc::perf {

struct Options {
  std::string library; ///< empty: the library of experiments with --calibrate; otherwise no library
  std::string kernel;  ///< name; empty: the only kernel of the library
  uint64_t minBytes = 1 << 10;
  uint64_t maxBytes = 1 << 30;
  bool givenMin = false, givenMax = false; ///< whether the user has given `minBytes`, and `maxBytes`
  uint64_t factor = 2;
  std::vector<uint32_t> dtypes;    ///< empty: the first type that the kernel has
  std::vector<uint32_t> reduceOps; ///< empty: the first operation that the kernel has
  std::vector<uint32_t> packets;   ///< empty: the first kind that the kernel has
  uint32_t iterations = 20;
  uint32_t warmUp = 5;
  uint32_t repeats = 1; ///< number of timings of a row, of which the median is taken
  uint32_t threads = 0; ///< threads of a block; 0: the runtime's choice
  bool check = true;
  bool graph = false;
  bool pdl = false; ///< programmatic dependent launch
  bool host = false;
  std::vector<int32_t> devices; ///< by rank; repeated if there are more ranks
  uint32_t processes = 1;
  std::string nccl; ///< the NCCL library to run on; empty: the runtime's own engine
  uint64_t timeoutMs = 60000;
  std::string json;     ///< the file to which rows are written; empty: none
  std::string manifest; ///< the list of kernels to measure; empty: `library` is measured
  bool calibrate = false;
  std::string output;          ///< the machine file that --calibrate writes
  std::string like = "h100x8"; ///< the machine with which the fit begins, as for --machine of mscclc
  std::string machineName;     ///< name of the machine; empty: derived from `output`
};

/// Fills `options` from the command line. Returns -1 to continue. Otherwise it has printed help or an error, and
/// returns the exit code.
int parseOptions(int argc, char **argv, Options &options);

/// Parses "1K", "256MB" or "1GiB" into bytes. Returns false if `text` is not such a size.
bool parseBytes(const std::string &text, uint64_t &bytes);

} // namespace mscclc::perf

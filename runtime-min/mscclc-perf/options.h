// The command line of mscclc-perf.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mscclc::perf {

struct Options {
  std::string library; ///< empty: that of the experiments, with --calibrate, or none
  std::string kernel;  ///< name; empty: the library's only one
  uint64_t minBytes = 1 << 10;
  uint64_t maxBytes = 1 << 30;
  bool givenMin = false, givenMax = false; ///< set by the user
  uint64_t factor = 2;
  std::vector<uint32_t> dtypes;    ///< empty: the kernel's first
  std::vector<uint32_t> reduceOps; ///< empty: the kernel's first
  std::vector<uint32_t> packets;   ///< empty: the kernel's first
  uint32_t iterations = 20;
  uint32_t warmUp = 5;
  uint32_t repeats = 1; ///< number of timings of a row; the median counts
  uint32_t threads = 0; ///< threads of a block; 0: the runtime's choice
  bool check = true;
  bool graph = false;
  bool pdl = false; ///< programmatic dependent launch
  bool host = false;
  std::vector<int32_t> devices; ///< by rank; repeated if shorter than the ranks
  uint32_t processes = 1;
  std::string nccl; ///< the NCCL library to run on; empty: the runtime's own engine
  uint64_t timeoutMs = 60000;
  std::string json;     ///< file for the rows
  std::string manifest; ///< the list of kernels to measure; empty: `library` is measured
  bool calibrate = false;
  std::string output;          ///< the machine file that --calibrate writes
  std::string like = "h100x8"; ///< a machine, in the form of mscclc's --machine
  std::string machineName;     ///< empty: derived from the name of the output
};

/// Fills `options`. Prints help or an error, and returns the exit code; or returns -1 to continue.
int parseOptions(int argc, char **argv, Options &options);

/// Parses "1K", "256MB" or "1GiB" into bytes. Returns false if `text` is not such a size.
bool parseBytes(const std::string &text, uint64_t &bytes);

} // namespace mscclc::perf

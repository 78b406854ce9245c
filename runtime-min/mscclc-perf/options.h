// The command line of mscclc-perf.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mscclc::perf {

struct Options {
  std::string library; ///< empty: that of the experiments, of --calibrate
  std::string kernel;  ///< name; empty: the library's only one
  uint64_t minBytes = 1 << 10;
  uint64_t maxBytes = 1 << 30;
  bool givenMin = false, givenMax = false; ///< not the defaults
  uint64_t factor = 2;
  std::vector<uint32_t> dtypes;    ///< empty: the kernel's first
  std::vector<uint32_t> reduceOps; ///< empty: the kernel's first
  std::vector<uint32_t> packets;   ///< empty: the kernel's first
  uint32_t iterations = 20;
  uint32_t warmUp = 5;
  uint32_t repeats = 1; ///< timings of a row, of which the median is taken
  uint32_t threads = 0; ///< a block; 0: the runtime's choice
  bool check = true;
  bool graph = false;
  bool host = false;
  std::vector<int32_t> devices; ///< by rank; repeated if shorter than the ranks
  uint32_t processes = 1;
  std::string nccl; ///< NCCL's library, to run on; empty: on the runtime's own engine
  uint64_t timeoutMs = 60000;
  std::string json; ///< file for the rows
  bool calibrate = false;
  std::string output;          ///< the machine file that --calibrate writes
  std::string like = "h100x8"; ///< a machine, as --machine of mscclc takes it
  std::string machineName;     ///< empty: the output's name
};

/// Fills `options`; prints help or what is wrong, and returns the exit code to end with, or -1 to go on.
int parseOptions(int argc, char **argv, Options &options);

/// "1K", "256MB", "1GiB" in bytes; false if it is none of them.
bool parseBytes(const std::string &text, uint64_t &bytes);

} // namespace mscclc::perf

// The list of kernels in a folder, with the sizes and the collective of each.
//
//   {"version": 1, "machine": "h100x8", "size": "message", "architectures": [90],
//    "collectives": [
//      {"collective": "allreduce", "ranks": 8, "ranks_per_node": 8,
//       "entries": [{"min": 1, "max": 65536, "kernel": "liballreduce_packets.so", "name": "allreduce_packets",
//                    "in_place": true, "types": ["f32"], "root": 0, "sha256": "…", "sums": "0+1+2+3"}, …]}]}
//
// "size" says what min and max (in bytes, both included) count: "message" means the message in the sense of
// MscclcKernel. A file with one collective may have the fields of that collective at the top instead of "collectives".
// "kernel" is a library, relative to the folder. "architectures" lists the GPUs of the kernels (sm_90), for readers.
// "name" is a kernel of the library; it may be left out if there is only one. Without "types" an entry is for all
// types. "sha256" is the digest of the library in 64 hexadecimal digits; a file with another digest is not loaded.
// "sums" is the order in which the kernel adds, as the compiler writes it. An entry with "nccl": true and no "kernel"
// leaves its sizes to NCCL. "in_place" and "types" say which calls an entry is for: calls in place, and those of each
// type, have sizes of their own. "measured_us" and "predicted_us" are microseconds by message bytes, {"1024": 3.2}.
// Other fields are ignored; "candidates" are further kernels for mscclc-perf --manifest.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mscclc::nccl {

struct ManifestEntry {
  std::string collective;
  uint32_t ranks = 0;
  uint32_t ranksPerNode = 0;
  uint32_t root = 0;
  bool inPlace = false;
  uint64_t min = 0;
  uint64_t max = 0;
  bool isOfNccl = false;          ///< calls of these sizes go to NCCL, and `kernel` is empty
  std::vector<std::string> types; ///< empty: all
  std::string kernel;             ///< path of the library
  std::string name;               ///< empty: the library's only kernel
  std::string sha256;             ///< digest of the library; empty: not given
  std::string sums;               ///< order of the kernel's sums; empty: not given, or not the same for all elements
  /// Microseconds by message bytes: measured times, or else predicted times. Empty: not given.
  std::map<uint64_t, double> times;
};

struct Manifest {
  std::vector<ManifestEntry> entries; ///< the entries with kernels
  uint64_t digest = 0;                ///< digest of the text; the same on all ranks that read the same text
};

/// Reads FOLDER/manifest.json. Returns an empty text, or the fault: the file is missing or not JSON, a field has
/// another type or is out of range, or some sizes have no kernel or have two kernels.
std::string readManifest(const std::string &folder, Manifest &manifest);

/// Returns the microseconds that an entry's kernel takes for a message of `bytes` bytes. It is the time given for the
/// least size that is not smaller, or else for the largest size. Infinite if no time is given.
double timeOf(const ManifestEntry &entry, uint64_t bytes);

/// Returns the order of sums for the calls of `entry`: the one that all entries for such calls name. Entries without an
/// order do not count. Empty if there is no such order.
std::string orderOfCalls(const Manifest &manifest, const ManifestEntry &entry);

} // namespace mscclc::nccl

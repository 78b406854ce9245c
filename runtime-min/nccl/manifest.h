// The list of kernels in a folder: which kernel is for which sizes of which collective.
//
//   {"version": 1, "machine": "h100x8", "size": "message", "architectures": [90],
//    "collectives": [
//      {"collective": "allreduce", "ranks": 8, "ranks_per_node": 8,
//       "entries": [{"min": 1, "max": 65536, "kernel": "liballreduce_packets.so", "name": "allreduce_packets",
//                    "in_place": true, "types": ["f32"], "root": 0, "sha256": "…"}, …]}]}
//
// "size" says what min and max (bytes, both included) are of: "message", as MscclcKernel means it. A file with one
// collective may have the fields of that collective at the top instead of "collectives". "kernel" is a library,
// relative to the folder; "architectures" says, for people, which GPUs they are compiled for (sm_90); "name" is a
// kernel in it, which may be left out if it is the only one. Without "types" an entry is for all. "sha256" is that of
// the library, in 64 hexadecimal digits; a file with another one is not loaded. Fields that are not named here are not
// read.
#pragma once

#include <cstdint>
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
  std::vector<std::string> types; ///< empty: all
  std::string kernel;             ///< path of the library
  std::string name;               ///< empty: its only kernel
  std::string sha256;             ///< of the library; empty: not said
};

struct Manifest {
  std::vector<ManifestEntry> entries;
  uint64_t digest = 0; ///< of its text; the same on all ranks that read the same
};

/// Reads FOLDER/manifest.json. Returns what is wrong with it: not there, no JSON, a field of another type or beyond its
/// range, sizes with a gap, sizes for which there are two. Empty if all is well.
std::string readManifest(const std::string &folder, Manifest &manifest);

} // namespace mscclc::nccl

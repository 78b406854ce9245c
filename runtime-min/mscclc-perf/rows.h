// The measurements of a run of mscclc-perf: one row for each size, type, operation and kind of packet.
#pragma once

#include "options.h"

#include "mscclc/runtime_abi.h"

#include <string>
#include <vector>

namespace mscclc::perf {

struct Row {
  uint64_t bytes, count;
  uint32_t dtype, reduceOp, packet;
  double seconds;
  double algorithmBandwidth, busBandwidth; ///< in GB/s
  double ofCopyLimit;                      ///< fraction of the copy limit; 0 if the limit is not known
  int64_t wrong;                           ///< number of wrong elements; -1: not checked
};

/// A kernel and its rows.
struct Measured {
  const MscclcKernel *kernel = nullptr;
  std::vector<Row> rows;
  bool hasMulticast = false; ///< true: switch channels of the kernel use the switch
  /// True if no wrong result was seen.
  bool isRight() const;
};

/// Returns the rows that the options select and the kernel can run. They are not measured yet. If the options leave a
/// choice open, the kernel's first possibility is taken.
std::vector<Row> rowsOf(const Options &options, const MscclcKernel &kernel);
/// Describes the types, operations, packets and sizes that a kernel accepts.
std::string offerOf(const MscclcKernel &kernel);

const char *packetName(uint32_t packet); ///< name of the kind of packet; "-" for none

/// Writes all rows as one JSON array. Returns false if the file cannot be written.
bool writeJson(const std::string &path, const std::vector<Measured> &measured);

} // namespace mscclc::perf

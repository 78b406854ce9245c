// What a run of mscclc-perf measures: one row for each size, type, operation and kind of packet.
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
  double algorithmBandwidth, busBandwidth; ///< GB/s
  double ofCopyLimit;                      ///< 0 to 1; 0 where the limit is not known
  int64_t wrong;                           ///< elements; -1: not checked
};

/// A kernel and its rows.
struct Measured {
  const MscclcKernel *kernel = nullptr;
  std::vector<Row> rows;
  bool hasMulticast = false; ///< its switch channels go through the switch
  /// No result was seen to be wrong.
  bool isRight() const;
};

/// The rows that the options ask for and the kernel can run, not measured yet. What the options leave open is the
/// kernel's first.
std::vector<Row> rowsOf(const Options &options, const MscclcKernel &kernel);
/// The types, operations, packets and sizes that a kernel takes, in words.
std::string offerOf(const MscclcKernel &kernel);

const char *packetName(uint32_t packet); ///< "-" for none

/// Writes all rows as one JSON array. False if the file cannot be written.
bool writeJson(const std::string &path, const std::vector<Measured> &measured);

} // namespace mscclc::perf

#include "rows.h"

#include "values.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace mscclc::perf {
namespace {

/// Returns the sizes to run for a type, in bytes: the sizes of the options, rounded up to whole shares of whole
/// elements, as far as they are in the kernel's range. For a kernel of a single size, returns that size.
std::vector<uint64_t> sizesOf(const Options &options, const MscclcKernel &kernel, uint32_t dtype) {
  if (kernel.min_message_bytes == kernel.max_message_bytes)
    return {kernel.max_message_bytes};
  const uint64_t step = std::max<uint64_t>(kernel.message_shares, 1) * typeBytes(dtype);
  std::vector<uint64_t> sizes;
  for (uint64_t bytes = options.minBytes; bytes <= options.maxBytes && bytes != 0; bytes *= options.factor) {
    const uint64_t whole = (bytes + step - 1) / step * step;
    if (whole >= kernel.min_message_bytes && whole <= kernel.max_message_bytes &&
        (sizes.empty() || sizes.back() != whole))
      sizes.push_back(whole);
  }
  return sizes;
}

bool reduces(const MscclcVariant &variant) {
  return variant.reduce_op < operationCount;
}

void append(std::string &list, const char *name) {
  if (list.find(name) != std::string::npos)
    return;
  if (!list.empty())
    list += ' ';
  list += name;
}

/// Rounds to a multiple of 1 / `parts`.
double rounded(double value, double parts) {
  return std::round(value * parts) / parts;
}

std::string sizeText(uint64_t bytes) {
  return bytes == UINT64_MAX ? "any number of" : std::to_string(bytes);
}

} // namespace

std::vector<Row> rowsOf(const Options &options, const MscclcKernel &kernel) {
  std::vector<Row> rows;
  if (kernel.num_variants == 0)
    return rows;
  const MscclcVariant &first = kernel.variants[0];
  const auto wanted = [](const std::vector<uint32_t> &list, uint32_t value, uint32_t otherwise) {
    return list.empty() ? value == otherwise : std::find(list.begin(), list.end(), value) != list.end();
  };
  for (uint32_t i = 0; i < kernel.num_variants; ++i) {
    const MscclcVariant &variant = kernel.variants[i];
    if ((reduces(variant) && !wanted(options.reduceOps, variant.reduce_op, first.reduce_op)) ||
        !wanted(options.packets, variant.packet, first.packet))
      continue;
    for (uint32_t type = 0; type < typeCount; ++type)
      if ((variant.dtype == type || variant.dtype == MSCCLC_ANY_DTYPE) &&
          wanted(options.dtypes, type, first.dtype == MSCCLC_ANY_DTYPE ? uint32_t{MSCCLC_F32} : first.dtype))
        for (const uint64_t bytes : sizesOf(options, kernel, type))
          rows.push_back({bytes, 0, type, reduces(variant) ? variant.reduce_op : uint32_t{MSCCLC_SUM}, variant.packet,
                          0, 0, 0, 0, 0});
  }
  return rows;
}

std::string offerOf(const MscclcKernel &kernel) {
  std::string types, ops, packets;
  for (uint32_t i = 0; i < kernel.num_variants; ++i) {
    const MscclcVariant &variant = kernel.variants[i];
    append(types, variant.dtype == MSCCLC_ANY_DTYPE ? "all types" : typeName(variant.dtype));
    append(ops, reduces(variant) ? reduceName(variant.reduce_op) : "no choice of operation");
    append(packets, variant.packet == MSCCLC_NO_PACKET ? "no packets" : packetName(variant.packet));
  }
  return "kernel '" + std::string(kernel.name) + "' has " + types + "; " + ops + "; " + packets + "; messages of " +
         std::to_string(kernel.min_message_bytes) + " to " + sizeText(kernel.max_message_bytes) + " bytes, in " +
         std::to_string(kernel.message_shares) + " shares of whole elements";
}

const char *packetName(uint32_t packet) {
  return packet == MSCCLC_LL8 ? "LL8" : packet == MSCCLC_LL16 ? "LL16" : packet == MSCCLC_LAMPORT ? "Lamport" : "-";
}

bool Measured::isRight() const {
  return std::all_of(rows.begin(), rows.end(), [](const Row &row) { return row.wrong <= 0; });
}

bool writeJson(const std::string &path, const std::vector<Measured> &measured) {
  auto rows = nlohmann::ordered_json::array();
  for (const Measured &part : measured)
    for (const Row &row : part.rows)
      rows.push_back({{"kernel", part.kernel->name},
                      {"bytes", row.bytes},
                      {"type", typeName(row.dtype)},
                      {"op", reduceName(row.reduceOp)},
                      {"packet", packetName(row.packet)},
                      {"microseconds", rounded(row.seconds * 1e6, 1e3)},
                      {"algbw", rounded(row.algorithmBandwidth, 1e3)},
                      {"busbw", rounded(row.busBandwidth, 1e3)},
                      {"of_copy", rounded(row.ofCopyLimit, 1e4)},
                      {"wrong", row.wrong}});
  std::ofstream file(path);
  file << rows.dump(2) << '\n';
  return file.flush().good();
}

} // namespace mscclc::perf

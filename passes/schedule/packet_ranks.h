// Finds the ranks that can receive packets, before statements are placed.
#pragma once

#include "ir/program.h"

#include <string_view>
#include <vector>

namespace mscclc::passes::schedule {

/// Decides which data between ranks travels in packets.
///
/// Packets lie in scratch of the rank that receives them. Packets for another node are first made in scratch of the
/// sender. A rank with plain data in scratch cannot receive packets, because at another message size plain chunks have
/// the places from which packets are read. The data of a Buffer may be packets if another rank sends it as packets,
/// only once, and only the Buffer's own rank reads it.
///
/// With a wire format (wire_hops.h), either all values in scratch are packets, or none is. An operation on packets
/// encodes the rank's own operand itself. If its sum is sent, the operation stores the same bits in packets and in the
/// message.
class PacketRanks {
public:
  /// `given`: the statements of `program` and their places, whose sizes and offsets are multiples of `piece` chunks.
  /// These statements are not placed. Statements in `program` itself are ignored. `onExecutor`: the program is for an
  /// executor, not for a separate kernel. An executor does not switch halves of double scratch for plain data that
  /// another rank, a port or a switch touches. So if there are such data, no rank receives packets.
  PacketRanks(const ir::Program &program, const ir::Movement &given, std::uint32_t piece, bool onExecutor);

  /// True if some of the rank's scratch is for plain data.
  bool keepsPlainData(std::uint32_t rank) const { return keepsPlainData_[rank]; }
  /// Returns the reason why no rank at all receives packets; empty if there is no such reason.
  std::string_view whyNone() const { return whyNone_; }
  /// True if the data that `statement` moves from rank `from` to rank `to` travels in packets; false within a rank.
  bool travelsInPackets(const ir::Move &statement, std::uint32_t from, std::uint32_t to) const;

  /// True if `statement`, one of `given`, makes a sum of packets in a wire format, and this sum is sent on. The next
  /// statement copies the sum to the message of its rank.
  bool isSentSum(const ir::Movement &given, const ir::Move &statement) const;

private:
  bool isAskedFor(const ir::Move &statement, std::uint32_t from, std::uint32_t to) const;
  void findPlainScratch(const ir::Movement &given, std::uint32_t piece);
  bool findPlainOperands(const ir::Movement &given);
  bool mixesScratch(const ir::Movement &given) const;

  const ir::Program &program_;
  std::vector<bool> keepsPlainData_; ///< [rank]
  bool wireIsPackets_ = false;       ///< there is a wire format, and all values in it are packets
  std::string_view whyNone_;
};

} // namespace mscclc::passes::schedule

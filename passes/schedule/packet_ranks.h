// Which ranks can be sent packets, before statements are placed.
#pragma once

#include "ir/program.h"

#include <string_view>
#include <vector>

namespace mscclc::passes::schedule {

/// Says what of the data that crosses ranks travels in packets.
///
/// Packets lie in scratch of the rank that gets them, and those for another node in scratch of the sender first. A rank
/// that keeps plain data in scratch holds no packets: at another message size, plain chunks lie where packets are read.
/// What a Buffer is to keep may be packets if it comes from another rank as such, once, and is read at home alone.
class PacketRanks {
public:
  /// `given`: the statements of `program` and their places, which are multiples of `piece` chunks in size and from
  /// their buffer's beginning. None is placed. The program's own statements are not looked at.
  /// `onExecutor`: the program is for an executor, and not for a kernel of its own. An executor does not switch halves
  /// of double scratch for plain data that another rank, a port or a switch touches, so where there are such data, no
  /// rank is sent packets.
  PacketRanks(const ir::Program &program, const ir::Movement &given, std::uint32_t piece, bool onExecutor);

  /// True if some of the rank's scratch is for plain data.
  bool keepsPlainData(std::uint32_t rank) const { return keepsPlainData_[rank]; }
  /// Why no rank at all is sent packets; empty if that has no reason of its own.
  std::string_view whyNone() const { return whyNone_; }
  /// True if what `statement` moves from rank `from` to rank `to` travels in packets; false within a rank.
  bool travelsInPackets(const ir::Move &statement, std::uint32_t from, std::uint32_t to) const;

private:
  bool becomesPackets(const ir::Movement &given, const ir::Move &statement, const ir::RankChunk &dst) const;
  bool isAskedFor(const ir::Move &statement, std::uint32_t from, std::uint32_t to) const;
  void findPlainScratch(const ir::Movement &given, std::uint32_t piece);
  bool findPlainOperands(const ir::Movement &given);
  bool mixesScratch(const ir::Movement &given) const;

  const ir::Program &program_;
  std::vector<bool> keepsPlainData_; ///< [rank]
  std::string_view whyNone_;
};

} // namespace mscclc::passes::schedule

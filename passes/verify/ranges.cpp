// Checks the ranges of operands, because no order can repair their faults. Also checks the counters that several blocks
// share.
#include "passes/verify/premises.h"
#include "passes/verify/replay.h"

#include "ir/chunk_cells.h"
#include "ir/memory_map.h"

#include <algorithm>

namespace mscclc::passes::proof {

namespace {

/// Records how pipelines divide the chunks of all ranks. For each chunk, the first operand that covers it counts.
class Cuts {
public:
  struct Mark {
    std::uint32_t first = 0, end = 0; ///< range of the operand
    ir::OpRef place;
  };
  explicit Cuts(std::uint32_t numRanks) : markOf_(std::size_t{numRanks} * 3) {}
  /// Adds `mark`. Returns an earlier mark that overlaps it and begins at another chunk; null if there is none.
  const Mark *add(std::uint32_t rank, ir::BufferKind buffer, const Mark &mark) {
    auto &markOf = markOf_[rank * std::size_t{3} + static_cast<std::size_t>(buffer)];
    if (markOf.size() < mark.end)
      markOf.resize(mark.end, none);
    std::uint32_t number = none;
    for (std::uint32_t c = mark.first; c < mark.end; ++c) {
      if (markOf[c] == none) {
        if (number == none) {
          number = static_cast<std::uint32_t>(marks_.size());
          marks_.push_back(mark);
        }
        markOf[c] = number;
      } else if (const Mark &had = marks_[markOf[c]]; had.first != mark.first) {
        return &had;
      }
    }
    return nullptr;
  }

private:
  std::vector<std::vector<std::uint32_t>> markOf_; ///< [rank, buffer][chunk]: index into marks_, or `none`
  std::vector<Mark> marks_;
};

class RangeCheck {
public:
  RangeCheck(const ProgramIndex &index, bool sizesChange, Findings &findings)
      : index_(index), sizesChange_(sizesChange), findings_(findings) {}

  void run() {
    const ir::Program &program = index_.program;
    for (std::uint32_t b = 0; b < index_.numBlocks(); ++b) {
      const ir::ThreadBlock &code = index_.ops(b);
      ir::forEachOp(code, [&](std::uint32_t o, std::uint32_t header) {
        const ir::Op &op = code.ops[o];
        hasPackets_ |= ir::isPacketOp(op.kind);
        if (header != none)
          ir::forEachMemory(program, index_.rankOf(b), code, op, [&](const ir::MemoryPiece &piece) {
            const auto at = ir::canonicalPlace(program, piece);
            checkPiped(piece.rank, at.buffer, {at.index, at.index + piece.size, index_.place(b, o)});
          });
      });
    }
    if (hasPackets_)
      checkPackets();
  }

private:
  void checkPiped(std::uint32_t rank, ir::BufferKind buffer, const Cuts::Mark &mark) {
    if (!piped_)
      piped_.emplace(index_.numRanks());
    if (const Cuts::Mark *had = piped_->add(rank, buffer, mark))
      if (auto *f = findings_.add(diag::pipeline_ranges_shifted, mark.place, had->place))
        f->args = {ir::toString(buffer), had->first, had->end, mark.first, mark.end, rank};
  }

  template <typename Visit> void forScratch(Visit &&visit) {
    ir::forEachOp(index_, [&](std::uint32_t b, std::uint32_t o) {
      const ir::ThreadBlock &code = index_.ops(b);
      ir::forEachMemory(index_.program, index_.rankOf(b), code, code.ops[o], [&](const ir::MemoryPiece &piece) {
        if (piece.inScratch())
          visit(piece, index_.place(b, o));
      });
    });
  }

  void checkPackets() {
    enum : std::uint8_t { plain = 1, packet = 2 };
    auto forms = ir::forScratch(index_.program, std::uint8_t{0});
    bool anyPlain = false;
    forScratch([&](const ir::MemoryPiece &piece, ir::OpRef at) {
      anyPlain |= !piece.isPacket();
      for (std::uint32_t c = piece.index; c < piece.index + piece.size; ++c)
        forms[piece.rank][c] |= piece.isPacket() ? packet : plain;
      const std::uint32_t room = index_.program.ranks[piece.rank].scratchChunks;
      if (piece.isPacket() && index_.program.protocol == ir::Protocol::Simple && 2 * (piece.index + piece.size) > room)
        findings_.report(diag::packet_out_of_scratch, at,
                         {piece.index + piece.size - 1, piece.rank, ir::plural(room, "chunk")});
    });
    if (!anyPlain)
      return;
    std::vector<bool> hasPackets; // [rank]
    for (const auto &ofRank : forms)
      hasPackets.push_back(std::ranges::any_of(ofRank, [](std::uint8_t form) { return form & packet; }));
    forScratch([&](const ir::MemoryPiece &piece, ir::OpRef at) {
      if (piece.isPacket())
        return;
      bool overlaps = false;
      for (std::uint32_t c = piece.index; c < piece.index + piece.size; ++c)
        if ((forms[piece.rank][c / 2] & packet) != 0) {
          overlaps = true;
          findings_.report(diag::packet_plain_overlap, at,
                           {c / 2, piece.rank, c, piece.access == ir::Access::Read ? "read" : "written"});
        }
      if (sizesChange_ && hasPackets[piece.rank] && !overlaps && piece.access == ir::Access::Write)
        findings_.report(diag::size_change_packets, at, {piece.rank, piece.index});
    });
  }

  const ProgramIndex &index_;
  const bool sizesChange_;
  Findings &findings_;
  std::optional<Cuts> piped_;
  bool hasPackets_ = false;
};

ir::OpRef firstUse(const ProgramIndex &index, std::uint32_t block, std::uint32_t queue, bool waits) {
  const ir::ThreadBlock &code = index.ops(block);
  const std::uint32_t rank = index.rankOf(block);
  for (std::uint32_t o = 0; o < code.ops.size(); ++o) {
    const ir::Op &op = code.ops[o];
    for (const std::uint32_t id : code.idsOf(op))
      if (waits && ir::takes(op.kind) && index.queue(rank, op, id) == queue)
        return index.place(block, o);
  }
  return index.place(block, 0);
}

} // namespace

/// Reports ranges that pipelines divide differently, packets that do not fit into scratch, and packets that overlap
/// plain data. If `sizesChange`, packets of one message size must not overlap plain data of another size either.
void checkRanges(const ProgramIndex &index, bool sizesChange, Findings &findings) {
  RangeCheck(index, sizesChange, findings).run();
}

/// Checks semaphores that several blocks acquire: all their releases must come even if none of these blocks continues.
/// Returns false if it reports any. Channels on which several blocks wait are left out, because the run checks that
/// their blocks take turns.
bool checkShared(const ProgramIndex &index, const Geometry &geometry, const Premises &premises, const Memory &memory,
                 Findings &findings) {
  std::vector<std::uint32_t> open;
  for (const auto &[queue, parties] : premises.allShared())
    if (queue >= index.numChannels() && parties.waiters.size() > 1)
      open.push_back(queue);
  const auto lacking = [&](std::span<const std::uint32_t> held) {
    Replay replay(index, geometry, memory);
    for (const std::uint32_t queue : held)
      replay.hold(queue);
    replay.run(1);
    std::vector<std::pair<std::uint32_t, std::uint64_t>> lacks; // (queue, number of its missing releases)
    for (const std::uint32_t queue : held) {
      std::uint64_t wanted = 0;
      for (const SharedSync::Party &p : premises.shared(queue)->waiters)
        wanted += p.count;
      if (replay.sent(queue) < wanted)
        lacks.emplace_back(queue, wanted - replay.sent(queue));
    }
    return lacks;
  };
  if (open.empty())
    return true;
  bool good = true;
  // First, all these semaphores are held back at once. Then fewer releases come than if only one is held back. So a
  // semaphore that gets enough releases need not be held back alone.
  for (const auto &[queue, all] : lacking(open))
    for (const auto &[_, lacks] : lacking(std::span(&queue, 1))) {
      good = false;
      const SharedSync &parties = *premises.shared(queue);
      std::uint64_t wanted = 0;
      for (const SharedSync::Party &p : parties.waiters)
        wanted += p.count;
      findings.report(diag::order_not_fixed, firstUse(index, parties.waiters[0].block, queue, true),
                      {index.describeSemaphore(queue - index.numChannels()), index.idOf(parties.waiters[0].block),
                       index.idOf(parties.waiters[1].block), lacks, wanted});
    }
  return good;
}

} // namespace mscclc::passes::proof

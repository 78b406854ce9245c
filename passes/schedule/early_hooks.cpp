#include "passes/schedule/early_hooks.h"

#include "ir/chunk_cells.h"
#include "passes/schedule/placement.h"
#include "passes/schedule/statement_rewrite.h"

#include <algorithm>
#include <map>
#include <set>

namespace mscclc::passes::schedule {
namespace {

using ir::Move;
using ir::MoveKind;
using ir::RankChunk;

/// Moves applications of hooks before copies. Each call of step() moves an application over one copy of its value.
class EarlyHooks {
public:
  explicit EarlyHooks(ir::Program &program) : program_(program), movement_(program.movement), cells_(program) {}

  /// Makes one step. Returns the number of chunks to which a hook is no longer applied.
  std::uint64_t step() {
    findAccesses();
    const std::uint64_t before = dropped_.size();
    for (std::size_t cell = 0; cell < accesses_.size(); ++cell)
      lookAt(cell);
    if (dropped_.size() != before)
      rewrite();
    return dropped_.size() - moved_;
  }

private:
  enum class Kind : std::uint8_t { Read, Write, Apply };
  /// An access of a statement to a cell. The cell belongs to chunk number `chunk` of a place of the statement.
  struct Access {
    Kind kind;
    std::uint32_t statement, chunk;
    friend bool operator==(const Access &, const Access &) = default;
  };
  /// A statement, and the number of a chunk in its places.
  using Part = std::pair<std::uint32_t, std::uint32_t>;

  void findAccesses() {
    accesses_.assign(cells_.size(), {});
    dropped_.clear();
    early_.clear();
    moved_ = 0;
    for (std::uint32_t s = 0; s < movement_.statements.size(); ++s) {
      const Move &move = movement_.statements[s];
      const auto note = [&](const RankChunk &place, Kind kind) {
        for (std::uint32_t i = 0; i < place.size; ++i)
          accesses_[cells_.firstOf(place) + i].push_back({kind, s, i});
      };
      if (move.kind == MoveKind::Apply) {
        note(movement_.dsts(move)[0], Kind::Apply);
        continue;
      }
      for (const RankChunk &src : movement_.srcs(move))
        note(src, Kind::Read);
      for (const RankChunk &dst : movement_.dsts(move))
        note(dst, Kind::Write);
    }
  }

  /// Looks for a value that is copied from `cell`, and to which the same hook is then applied in `cell` and at each
  /// destination.
  void lookAt(std::size_t cell) {
    const std::vector<Access> &all = accesses_[cell];
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].kind != Kind::Read || (i != 0 && all[i - 1].kind == Kind::Read))
        continue;
      std::size_t apply = i;
      while (apply < all.size() && all[apply].kind == Kind::Read)
        ++apply;
      if (apply < all.size() && all[apply].kind == Kind::Apply)
        applyBefore({all.begin() + static_cast<std::ptrdiff_t>(i), all.begin() + static_cast<std::ptrdiff_t>(apply)},
                    all[apply]);
    }
  }

  /// Moves the application `apply` before the first of `reads`, all reads of the value in the cell before `apply`. Does
  /// nothing if this would change a result.
  void applyBefore(std::span<const Access> reads, const Access &apply) {
    const Move &own = movement_.statements[apply.statement];
    if (program_.hooks[own.hook].isOfRank())
      return;
    std::vector<Part> others;
    for (const Access &read : reads) {
      const Move &copy = movement_.statements[read.statement];
      if (copy.kind != MoveKind::Copy)
        return;
      for (const RankChunk &dst : movement_.dsts(copy)) {
        const std::optional<Access> there = appliedNext(dst, read);
        if (!there || movement_.statements[there->statement].hook != own.hook || unitOf(*there) != unitOf(apply))
          return;
        others.emplace_back(there->statement, there->chunk);
      }
    }
    dropped_.insert(others.begin(), others.end());
    dropped_.emplace(apply.statement, apply.chunk);
    early_[reads.front().statement].emplace(apply.statement, apply.chunk);
    ++moved_;
  }

  /// Returns the application of a hook to the chunk that `copy` writes at `dst`, if it is the next access to that
  /// chunk.
  std::optional<Access> appliedNext(const RankChunk &dst, const Access &copy) const {
    const std::vector<Access> &all = accesses_[cells_.firstOf(dst) + copy.chunk];
    const auto write = std::ranges::find(all, Access{Kind::Write, copy.statement, copy.chunk});
    if (write == all.end() || write + 1 == all.end() || (write + 1)->kind != Kind::Apply)
      return std::nullopt;
    return *(write + 1);
  }

  /// Returns the number of the output chunk to which the hook is applied.
  std::size_t unitOf(const Access &apply) const {
    const RankChunk &place = movement_.dsts(movement_.statements[apply.statement])[0];
    return cells_.firstOf(place) + apply.chunk - cells_.firstOf(place.rank, ir::BufferKind::Output);
  }

  void rewrite() {
    ir::Movement made;
    const auto appendPart = [&](const Move &move, std::uint32_t begin, std::uint32_t size) {
      const RankChunk place = pieceOf(movement_.dsts(move)[0], begin, size);
      made.append(move, {&place, 1}, {&place, 1});
    };
    for (std::uint32_t s = 0; s < movement_.statements.size(); ++s) {
      if (const auto early = early_.find(s); early != early_.end())
        for (const auto &[statement, chunk] : early->second)
          appendPart(movement_.statements[statement], chunk, 1);
      const Move &move = movement_.statements[s];
      if (move.kind != MoveKind::Apply) {
        made.append(move, movement_.srcs(move), movement_.dsts(move));
        continue;
      }
      eachRun(
          movement_.dsts(move)[0].size, [&](std::uint32_t chunk) { return dropped_.contains({s, chunk}); },
          [&](std::uint32_t begin, std::uint32_t end, bool isDropped) {
            if (!isDropped)
              appendPart(move, begin, end - begin);
          });
    }
    movement_.putStatements(std::move(made));
  }

  ir::Program &program_;
  ir::Movement &movement_;
  const ir::ChunkCells cells_;
  std::vector<std::vector<Access>> accesses_;     ///< [cell], in the order of statements
  std::set<Part> dropped_;                        ///< chunks of applications that are moved or left out
  std::map<std::uint32_t, std::set<Part>> early_; ///< [statement]: the applications that move before it
  std::uint64_t moved_ = 0;
};

} // namespace

std::uint64_t applyEarly(ir::Program &program) {
  const bool any = !ir::wireOf(program) && program.protocol != ir::Protocol::Lamport &&
                   std::ranges::any_of(program.hooks, [](const ir::Hook &hook) { return !hook.isOfRank(); });
  std::uint64_t all = 0;
  for (std::uint64_t fewer = any ? 1 : 0; fewer != 0; all += fewer)
    fewer = EarlyHooks(program).step();
  return all;
}

} // namespace mscclc::passes::schedule

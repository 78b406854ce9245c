#include "passes/transform/name_in_place.h"

#include "ir/collectives.h"
#include "ir/memory_map.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace mscclc::passes {
namespace {

using ir::BufferKind;

/// The new name of one of a rank's remote buffers.
struct Renamed {
  std::uint32_t id = 0;               ///< new number of the remote buffer
  std::optional<std::uint32_t> share; ///< index in the larger buffer where a share begins; else nothing
};

class Renaming {
public:
  explicit Renaming(ir::Program &program) : program_(program), share_(ir::shareInPlace(program.collective.kind)) {}

  std::uint64_t run() {
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r) {
      ir::Rank &rank = program_.ranks[r];
      const std::vector<Renamed> remotes = renameRemotes(rank);
      for (ir::ThreadBlock &block : rank.blocks) {
        for (const ir::Op &op : block.ops)
          renameChunks(r, block, op, remotes);
        renameTable(block.remoteBuffers, remotes);
      }
    }
    return renamed_;
  }

private:
  ir::CanonicalPlace placeOf(std::uint32_t rank, std::uint32_t index) const {
    return ir::canonicalPlace(program_, rank, share_, index);
  }

  /// Returns the new name for each old number; empty if no name changes.
  std::vector<Renamed> renameRemotes(ir::Rank &rank) const {
    std::vector<Renamed> result;
    if (std::ranges::none_of(rank.remoteBuffers, [&](const ir::RemoteBuffer &b) { return b.buffer == share_; }))
      return result;
    std::vector<ir::RemoteBuffer> kept;
    for (ir::RemoteBuffer buffer : rank.remoteBuffers) {
      Renamed &renamed = result.emplace_back();
      if (buffer.buffer == share_) {
        const ir::CanonicalPlace place = placeOf(buffer.rank, 0);
        renamed.share = place.index;
        buffer.buffer = place.buffer;
      }
      const auto same = std::ranges::find_if(
          kept, [&](const ir::RemoteBuffer &b) { return b.rank == buffer.rank && b.buffer == buffer.buffer; });
      renamed.id = static_cast<std::uint32_t>(same - kept.begin());
      if (same == kept.end()) {
        kept.push_back(buffer);
      } else {
        same->viaMemory |= buffer.viaMemory;
        same->viaPort |= buffer.viaPort;
      }
    }
    rank.remoteBuffers = std::move(kept);
    return result;
  }

  void renameChunks(std::uint32_t rank, ir::ThreadBlock &block, const ir::Op &op, std::span<const Renamed> remotes) {
    const bool port = op.channelType == ir::ChannelType::Port;
    for (ir::Chunk &chunk : block.operands(op)) {
      if (chunk.space == ir::ChunkSpace::Remote && !remotes.empty()) {
        const Renamed &renamed = remotes[chunk.id];
        renamed_ += renamed.share.has_value();
        chunk.index += renamed.share.value_or(0);
        chunk.id = renamed.id;
      } else if (port && chunk.space == ir::spaceOf(share_)) {
        const ir::CanonicalPlace place = placeOf(rank, chunk.index);
        chunk.space = ir::spaceOf(place.buffer);
        chunk.index = place.index;
        ++renamed_;
      }
    }
  }

  /// Renames the entries of a table. Entries that become equal are listed once.
  static void renameTable(std::vector<ir::ResourceUse> &table, std::span<const Renamed> remotes) {
    if (remotes.empty())
      return;
    std::vector<ir::ResourceUse> kept;
    for (ir::ResourceUse use : table) {
      use.id = remotes[use.id].id;
      if (std::ranges::find(kept, use) == kept.end())
        kept.push_back(use);
    }
    table = std::move(kept);
  }

  ir::Program &program_;
  const BufferKind share_; ///< the buffer that is a share of the other buffer
  std::uint64_t renamed_ = 0;
};

} // namespace

std::uint64_t nameInPlace(ir::Program &program) {
  const bool hasShare = ir::info(program.collective.kind).inPlace == ir::InPlace::OwnShare;
  return program.collective.inplace && hasShare ? Renaming(program).run() : 0;
}

} // namespace mscclc::passes

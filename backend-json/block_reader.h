// Reads thread blocks: their operations, and their tables, through which operations name channels and remote buffers.
#pragma once

#include "backend-json/check_ids.h"
#include "backend-json/op_reader.h"

#include <vector>

namespace mscclc::json {

/// Reads an entry of one of a block's tables: the ids of one type of channel.
class TableEntryReader final : public ObjectReader {
public:
  /// The first field of `schema` must be one of `types`. The second field must be the ids.
  TableEntryReader(PlanContext &plan, ObjectSchema schema, std::span<const std::string_view> types)
      : ObjectReader(schema), plan_(plan), types_(types) {}
  /// Expects a list of entries, and appends them to `table`.
  Expected several(std::vector<ir::ResourceUse> &table);

  void begin(std::size_t at) override;
  Expected field(std::size_t k) override;
  void end(const ReadObject &object) override;

private:
  PlanContext &plan_;
  const std::span<const std::string_view> types_;
  std::vector<ir::ResourceUse> *table_ = nullptr;
  ir::ChannelType type_{};
  std::vector<std::uint32_t> ids_;
};

class BlockReader final : public ObjectReader {
public:
  explicit BlockReader(PlanContext &plan);
  /// Expects a list of blocks, and appends them to `blocks`.
  Expected several(std::vector<ir::ThreadBlock> &blocks);

  void begin(std::size_t at) override;
  Expected field(std::size_t k) override;
  void end(const ReadObject &object) override;

  /// Returns the ids of the blocks in the list that was read last, in the order of the list.
  const std::vector<std::uint32_t> &ids() const { return ids_; }

private:
  PlanContext &plan_;
  std::vector<ir::ThreadBlock> *blocks_ = nullptr;
  std::vector<std::uint32_t> ids_;
  GivenIds given_;
  ir::LocId loc_ = ir::noLoc;
  ir::ThreadBlock block_; ///< the block that is being read; the next block reuses its capacity
  OpReader bodyOps_, ops_;
  TableEntryReader channels_, remoteBuffers_;
};

} // namespace mscclc::json

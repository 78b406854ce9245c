// Reads thread blocks: operations, and the tables through which these name channels and remote buffers.
#pragma once

#include "backend-json/check_ids.h"
#include "backend-json/op_reader.h"

#include <vector>

namespace mscclc::json {

/// An entry of one of a block's tables: ids of one type of channel.
class TableEntryReader final : public ObjectReader {
public:
  /// The first field of `schema` is one of `types`, the second one is the ids.
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

  /// Returns the ids of the blocks in the list that was read last, in its order.
  const std::vector<std::uint32_t> &ids() const { return ids_; }

private:
  PlanContext &plan_;
  std::vector<ir::ThreadBlock> *blocks_ = nullptr;
  std::vector<std::uint32_t> ids_;
  GivenIds given_;
  ir::LocId loc_ = ir::noLoc;
  ir::ThreadBlock block_; ///< the one being read; its capacity is reused by the next block
  OpReader bodyOps_, ops_;
  TableEntryReader channels_, remoteBuffers_;
};

} // namespace mscclc::json

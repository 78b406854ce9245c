// Reads gpus: their channels, remote buffers, semaphores and thread blocks. Indices are resolved when a gpu is
// complete, because in a plan, thread blocks come before the channels and buffers that their operations name.
#pragma once

#include "backend-json/block_reader.h"

#include <optional>
#include <vector>

namespace mscclc::json {

/// Reads an entry of a list of channels: all channels of one type, or one switch channel.
class ChannelReader final : public ObjectReader {
public:
  explicit ChannelReader(PlanContext &plan);
  /// Expects a list of channels of `rank`.
  Expected several(ir::Rank &rank);

  void begin(std::size_t at) override;
  Expected field(std::size_t k) override;
  void end(const ReadObject &object) override;

private:
  bool fieldsFit(const ReadObject &object);

  PlanContext &plan_;
  ir::Rank *rank_ = nullptr;
  std::optional<ir::ChannelType> type_;
  std::vector<std::uint32_t> peers_;
  ir::SwitchChannel channel_;
  std::size_t numGroups_ = 0;

  /// Reads a rank group of a switch channel.
  class GroupReader final : public ObjectReader {
  public:
    explicit GroupReader(ChannelReader &channel);
    void begin(std::size_t at) override;
    Expected field(std::size_t k) override;
    void end(const ReadObject &object) override;

  private:
    ChannelReader &channel_;
    std::uint32_t size_ = 0;
  };
  GroupReader group_;
};

class RemoteBufferReader final : public ObjectReader {
public:
  explicit RemoteBufferReader(PlanContext &plan);
  Expected several(ir::Rank &rank);

  void begin(std::size_t at) override;
  Expected field(std::size_t k) override;
  void end(const ReadObject &object) override;

private:
  void addAccess(ir::ChannelType type);

  PlanContext &plan_;
  ir::Rank *rank_ = nullptr;
  ir::RemoteBuffer remote_;
};

class GpuReader final : public ObjectReader {
public:
  explicit GpuReader(PlanContext &plan);
  /// Expects a list of gpus, and appends them to `ranks`.
  Expected several(std::vector<ir::Rank> &ranks);

  void begin(std::size_t at) override;
  Expected field(std::size_t k) override;
  void end(const ReadObject &object) override;

  /// Returns the ids of the gpus, and the bytes at which they begin, in the order of the list.
  const std::vector<std::uint32_t> &ids() const { return ids_; }
  const std::vector<std::size_t> &places() const { return places_; }

private:
  PlanContext &plan_;
  std::vector<ir::Rank> *ranks_ = nullptr;
  std::vector<std::uint32_t> ids_;
  GivenIds given_;
  std::vector<std::size_t> places_;
  ir::Rank rank_; ///< being read
  BlockReader blocks_;
  ChannelReader channels_;
  RemoteBufferReader remoteBuffers_;
  PlainObject semaphore_;
};

} // namespace mscclc::json

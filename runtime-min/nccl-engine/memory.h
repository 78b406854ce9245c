// Memory in symmetric windows of NCCL.
#pragma once

#include "engine.h"

namespace mscclc::rt {

class NcclMemory : public Memory {
public:
  NcclMemory(NcclEngine &engine, uint64_t bytes) : Memory(bytes), engine_(engine) {}
  ~NcclMemory() override;
  Status allocate(const std::string &what, bool multicast) override;
  Status adopt(const std::string &what, void *const *pointers) override;
  void *multicast(uint32_t localIndex) const override;
  Window window(uint32_t localIndex) const override;
  void disconnect() override;

private:
  void *address(uint32_t localIndex, uint32_t rank) const override;
  Status connect(const std::string &what, Status mine);
  Status registerWindows(const std::string &what);
  Status findPeers(uint32_t localIndex);
  /// Writes `offsets_` into the device's memory, if ports need them.
  Status writeBegins(uint32_t localIndex);
  Status findMulticast();
  /// Returns the offset of the memory in its page. Windows begin at a page, but memory may begin later, at a different
  /// offset on each rank.
  uint64_t withinPage(uint32_t localIndex) const;

  NcclEngine &engine_;
  bool owned_ = false;
  std::vector<void *> local_;       ///< by local rank
  std::vector<uint64_t> offsets_;   ///< by rank: offset of its memory in its window
  std::vector<NcclWindow> windows_; ///< by local rank
  std::vector<void *> peers_;       ///< by local rank, then rank of the team
  std::vector<void *> multicast_;   ///< by local rank, or empty
  std::vector<uint64_t *> begins_;  ///< by local rank: `offsets_` in the memory of its device; or empty, if all are 0
};

} // namespace mscclc::rt

// Memory in symmetric windows of NCCL.
#pragma once

#include "engine/nccl_library.h"
#include "engine/table.h"

namespace mscclc::rt {

class NcclEngine;

class NcclMemory : public MscclcMemory {
public:
  /// The functions of EngineTable.
  static Status allocate(NcclEngine &engine, const std::string &what, uint64_t bytes, bool multicast,
                         std::unique_ptr<NcclMemory> &result);
  static Status adopt(NcclEngine &engine, const std::string &what, void *const *pointers, uint64_t bytes,
                      std::unique_ptr<NcclMemory> &result);
  ~NcclMemory();
  void *address(uint32_t localIndex, uint32_t rank) const;
  void *multicast(uint32_t localIndex) const;
  MscclcWindow window(uint32_t localIndex) const;
  void disconnect();

private:
  NcclMemory(NcclEngine &engine, uint64_t bytes) : engine_(engine), bytes_(bytes) {}
  Status connect(const std::string &what, Status mine);
  Status registerWindows(const std::string &what);
  Status findPeers(uint32_t localIndex);
  /// Writes `offsets_` into the device's memory, where ports need them.
  Status writeBegins(uint32_t localIndex);
  Status findMulticast();
  /// Windows begin at a page; the memory may begin after it, on each rank at another place.
  uint64_t withinPage(uint32_t localIndex) const;

  NcclEngine &engine_;
  const uint64_t bytes_;
  bool owned_ = false;
  std::vector<void *> local_;       ///< by local rank
  std::vector<uint64_t> offsets_;   ///< by rank: where its memory begins in its window
  std::vector<NcclWindow> windows_; ///< by local rank
  std::vector<void *> peers_;       ///< by local rank, then rank of the team
  std::vector<void *> multicast_;   ///< by local rank, or empty
  std::vector<uint64_t *> begins_;  ///< by local rank: `offsets_` in its device's memory; or empty, if all are 0
};

} // namespace mscclc::rt

// Memory of the local engine: of the same size on every rank, mapped into every process for each of its devices.
#pragma once

#include "bootstrap/rendezvous.h"
#include "engine/table.h"
#include "platform/platform.h"

namespace mscclc::rt {

class LocalEngine;

class LocalMemory : public MscclcMemory {
public:
  /// Zeroed memory. `what` names it in messages. `kind`: Multicast makes a multicast mapping; without it where that
  /// fails. Collective.
  static Status allocate(LocalEngine &engine, uint64_t bytes, MemoryKind kind, const std::string &what,
                         std::unique_ptr<LocalMemory> &result);
  /// Memory of the caller's, one pointer for each local rank. Collective.
  static Status adopt(LocalEngine &engine, void *const *pointers, uint64_t bytes, const std::string &what,
                      std::unique_ptr<LocalMemory> &result);
  ~LocalMemory();

  void *address(uint32_t localIndex, uint32_t rank) const;
  /// One mapping serves all devices of the process.
  void *multicast(uint32_t) const { return multicastAddress_; }
  void disconnect();

private:
  LocalMemory(LocalEngine &engine, uint64_t bytes) : engine_(engine), bytes_(bytes) {}
  Status connect(const std::string &what, Status mine);
  Status makeMulticast(const std::string &what);
  Status mapRemote(const std::string &what, const std::vector<Message> &all);
  Status tell(const std::string &what, const Status &mine, bool &allWell);

  LocalEngine &engine_;
  const uint64_t bytes_;
  bool owned_ = false;
  std::vector<void *> local_; ///< by local rank
  struct Remote {
    int32_t device;
    uint32_t rank;
    ShareHandle handle;
    void *memory;
  };
  std::vector<Remote> remote_; ///< sorted by device, then rank
  void *multicastObject_ = nullptr;
  void *multicastAddress_ = nullptr;
};

} // namespace mscclc::rt

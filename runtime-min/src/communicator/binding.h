// Where one kind of launch of an instance finds its data: tables of buffer addresses for every local rank, made once
// for each place (buffers, offsets) and kept, so that a launch and a captured graph only name them.
#pragma once

#include "communicator/proxy.h"
#include "communicator/region.h"

#include <tuple>

namespace mscclc::rt {

/// Offset of a buffer of rank r: offset + r * rankStep.
struct BufferOffsets {
  const Region *region = nullptr;
  uint64_t offset = 0;
  uint64_t rankStep = 0;

  friend bool operator<(const BufferOffsets &a, const BufferOffsets &b) {
    return std::tie(a.region, a.offset, a.rankStep) < std::tie(b.region, b.offset, b.rankStep);
  }
};

/// Input and output of a launch.
struct LaunchBuffers {
  BufferOffsets input;
  BufferOffsets output;

  friend bool operator<(const LaunchBuffers &a, const LaunchBuffers &b) {
    return std::tie(a.input, a.output) < std::tie(b.input, b.output);
  }
};

/// Where input and output of a call lie, for a kernel that works in place too. Checks sizes and overlaps.
Status resolvePlace(const MscclcKernel &kernel, const MscclcCall &call, const Region *input, const Region *output,
                    LaunchBuffers &place);

class Binding {
public:
  /// Addresses for the local ranks; `proxies` by local rank, null where there is none.
  static Status create(Communicator &communicator, const MscclcKernel &kernel, const LaunchBuffers &place,
                       const Region &scratch, const std::vector<Proxy *> &proxies, std::unique_ptr<Binding> &result);
  ~Binding();

  const MscclcBuffers *buffers(uint32_t localIndex) const { return tables_[localIndex].buffers; }
  void *const *multicast(uint32_t localIndex) const { return tables_[localIndex].multicast; }
  MscclcTrigger *slots(uint32_t localIndex) const { return tables_[localIndex].slots; }
  /// Whether all addresses are multiples of `bytes`, 16 or a smaller power of two.
  bool isAligned(uint32_t bytes) const { return (lowBits_ & (bytes - 1)) == 0; }

private:
  explicit Binding(Communicator &communicator) : communicator_(communicator) {}
  Status fill(uint32_t localIndex, const MscclcKernel &kernel, const LaunchBuffers &place, const Region &scratch,
              Proxy *proxy);

  struct Table {
    void *memory = nullptr; ///< on the device; holds the two below
    const MscclcBuffers *buffers = nullptr;
    void *const *multicast = nullptr;
    MscclcTrigger *slots = nullptr;
    Proxy *proxy = nullptr;
  };
  Communicator &communicator_;
  std::vector<Table> tables_;
  uintptr_t lowBits_ = 0; ///< of all addresses, together
};

} // namespace mscclc::rt

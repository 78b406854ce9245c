// All ranks of a kernel in this process, on the CPU stand-in: what a launcher has to provide, and nothing more.
#pragma once

#include "mscclc/cpu_standin.h"

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace mscclc::test {

/// Memory with guard bytes around it; an access past its end changes them.
class Buffer {
public:
  /// The memory begins `shift` bytes after a multiple of 64.
  explicit Buffer(std::size_t bytes, std::uint8_t fill = 0, std::size_t shift = 0);
  std::uint8_t *data() { return memory_.data() + offset_; }
  std::size_t size() const { return bytes_; }
  bool intact() const;

private:
  static constexpr std::size_t guard = 256;
  std::vector<std::uint8_t> memory_;
  std::size_t offset_, bytes_;
};

/// Inputs and outputs of one message on all ranks. If the collective works in place, they overlap as it defines.
struct Message {
  Message(const MscclcKernel &kernel, std::uint64_t bytes, std::size_t shift = 0);
  std::uint64_t bytes;
  std::vector<std::unique_ptr<Buffer>> storage;
  std::vector<std::uint8_t *> input, output; ///< [rank]
  std::vector<std::uint64_t> inputBytes, outputBytes;
  bool intact() const;
};

/// The state that is kept between launches, and a proxy for each rank that has port channels.
class AllRanks {
public:
  /// `largest`: size of the largest message of all launches. A wait of more than `timeout` seconds is an error.
  AllRanks(const MscclcKernel &kernel, std::uint64_t largest, std::uint64_t timeout);
  ~AllRanks();
  /// Starts `variant` on every rank. Launches of a rank run one after another. `staging`: data that the ranks copy
  /// themselves.
  void launch(const MscclcVariant &variant, const Message &message, unsigned threads,
              const std::vector<MscclcStaging> &staging = {});
  /// Waits for the launches of one rank.
  void synchronize(std::uint32_t rank);
  /// Waits for all launches. Returns an empty string, or what went wrong.
  std::string synchronize();

private:
  struct Rank;
  void proxy(Rank &rank);

  const MscclcKernel &kernel_;
  std::uint64_t stride_, timeout_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::atomic<bool> stop_{false};
  std::string error_;
};

} // namespace mscclc::test

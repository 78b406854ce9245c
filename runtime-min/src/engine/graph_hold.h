// What captured graphs hold. A graph launches again whatever was captured, so that must outlive it.
#pragma once

#include <chrono>
#include <memory>
#include <thread>

namespace mscclc::rt {

/// Of an object that captured launches use.
class GraphHold {
public:
  /// Kept by a graph for as long as it is there. From any thread; so is its end.
  std::shared_ptr<const void> keep() const { return token_; }
  /// Whether some graph is still there after `patience`: CUDA tells of a graph's end some time after its destruction
  /// returns, and only when its replays are over.
  bool lasts(std::chrono::milliseconds patience) const {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (token_.use_count() > 1 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    return token_.use_count() > 1;
  }

private:
  const std::shared_ptr<const char> token_ = std::make_shared<const char>();
};

} // namespace mscclc::rt

// The objects that captured graphs hold. A graph repeats its captured launches, so everything that they use must exist
// as long as the graph.
#pragma once

#include <chrono>
#include <memory>
#include <thread>

namespace mscclc::rt {

/// The graphs that hold an object, because captured launches use it.
class GraphHold {
public:
  /// Returns a reference that a graph keeps while it exists. From any thread; so is its end.
  std::shared_ptr<const void> keep() const { return token_; }
  /// True if some graph still exists after `patience`. CUDA reports the end of a graph some time after its destruction
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

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
  /// Returns a reference. A graph keeps it while the graph exists. References may be made and released on any thread.
  std::shared_ptr<const void> keep() const { return token_; }
  /// True if some graph still holds the object after the time `patience`. CUDA reports the end of a graph only when its
  /// replays are over, and some time after its destruction has returned.
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

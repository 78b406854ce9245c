// Data in motion as fluid: flows share resources (links, memory, switches) max-min fairly.
//
// All flows grow at one rate until a resource is full or a flow is as fast as its source can issue; these keep their
// rate, and the others grow on (progressive filling: Bertsekas and Gallager, Data Networks, section 6.5.2). Rates
// change only when a flow begins or ends, so between two such moments everything is linear.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace mscclc::passes::time {

/// Nanoseconds since the launch; bytes a nanosecond are GB/s.
using Time = double;

class FluidNetwork {
public:
  using Resource = std::uint32_t;
  using Flow = std::uint32_t;
  static constexpr Resource noResource = std::numeric_limits<Resource>::max();
  /// `weight` bytes pass through the resource for each byte of the flow.
  struct Use {
    Resource resource = noResource;
    double weight = 1;
  };

  /// A resource of this many bytes a nanosecond; infinity is one that never bounds anything.
  Resource addResource(double capacity);

  /// Begins a flow of `bytes` that is never faster than `cap` bytes a nanosecond. `tag` is handed back when it ends.
  Flow start(Time now, double bytes, double cap, std::span<const Use> uses, std::uint64_t tag);

  /// When the next flow ends if no other begins before; infinity if there is none. Shares resources out anew.
  Time nextEnd(Time now);

  /// What ended by `now` (its tag), and which resource it spent most time waiting for (noResource: its own cap).
  struct Ended {
    std::uint64_t tag = 0;
    Resource bound = noResource;
  };
  void takeEnded(Time now, std::vector<Ended> &ended);

  /// What a resource carries from a moment on.
  struct Load {
    Time at = 0;
    Resource resource = noResource;
    double rate = 0; ///< bytes a nanosecond
  };
  /// Keeps all changes of load from now on.
  void record() { recording_ = true; }
  const std::vector<Load> &recorded() const { return recorded_; }

  /// Bytes that have begun to pass through a resource.
  double traffic(Resource resource) const { return resources_[resource].traffic; }
  double capacity(Resource resource) const { return resources_[resource].capacity; }
  std::size_t numResources() const { return resources_.size(); }

private:
  struct ResourceState {
    double capacity = 0, traffic = 0;
    double load = 0, weight = 0; ///< while sharing: of flows that are settled; of those that are not
    bool listed = false, full = false;
    std::size_t firstUser = 0, numUsers = 0; ///< in users_
    double shown = 0;                        ///< the load last recorded
  };
  /// A moment of a flow's life, by what bounded it.
  struct Bound {
    Resource resource = noResource;
    double time = 0;
  };
  struct State {
    double left = 0, rate = 0, cap = 0;
    std::uint64_t tag = 0;
    std::vector<Use> uses;
    std::vector<Bound> bounds;
    Resource bound = noResource;
    bool settled = false, ended = false;
  };

  void progress(Time now);
  void share();
  void listUsers();
  std::size_t fill(std::span<const Resource> full, double rate);
  void recordLoads();
  void settle(State &flow, double rate, Resource bound);

  std::vector<ResourceState> resources_;
  std::vector<State> flows_;        ///< slots, some free
  std::vector<Flow> active_, free_; ///< slots of flows_
  std::vector<Flow> byCap_;         ///< as active_, slowest first
  std::vector<Resource> touched_;   ///< while sharing
  std::vector<Flow> users_;         ///< while sharing: by resource
  Time since_ = 0;                  ///< of the last progress
  bool changed_ = false;
  bool recording_ = false;
  std::vector<Load> recorded_;
  std::vector<Resource> loaded_; ///< while recording: what carried something since the last change
};

} // namespace mscclc::passes::time

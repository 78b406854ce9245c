// Models data in motion as fluid: flows share resources (links, memory, switches) max-min fairly.
//
// All flows grow at one rate until a resource is full, or a flow is as fast as its source can issue. These flows keep
// their rate, and the others continue to grow (progressive filling: Bertsekas and Gallager, Data Networks, section
// 6.5.2). Rates change only when a flow begins or ends, so between two such times everything is linear.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace mscclc::passes::time {

/// Nanoseconds since the launch. Bytes a nanosecond are GB/s.
using Time = double;

class FluidNetwork {
public:
  using Resource = std::uint32_t;
  using Flow = std::uint32_t;
  static constexpr Resource noResource = std::numeric_limits<Resource>::max();
  /// For each byte of the flow, `weight` bytes pass through the resource.
  struct Use {
    Resource resource = noResource;
    double weight = 1;
  };

  /// Adds a resource of this many bytes a nanosecond; infinity means that it is never a limit.
  Resource addResource(double capacity);

  /// Begins a flow of `bytes` that is never faster than `cap` bytes a nanosecond. `tag` is returned when it ends.
  Flow start(Time now, double bytes, double cap, std::span<const Use> uses, std::uint64_t tag);

  /// Returns when the next flow ends if no other begins before; infinity if there is none. Computes rates again.
  Time nextEnd(Time now);

  /// A flow that has ended: its tag, and the resource that limited it for most of the time (noResource: its own cap).
  struct Ended {
    std::uint64_t tag = 0;
    Resource bound = noResource;
  };
  void takeEnded(Time now, std::vector<Ended> &ended);

  /// The load of a resource from some time on.
  struct Load {
    Time at = 0;
    Resource resource = noResource;
    double rate = 0; ///< bytes a nanosecond
  };
  /// Records all changes of load from now on.
  void record() { recording_ = true; }
  const std::vector<Load> &recorded() const { return recorded_; }

  /// Returns the bytes that have begun to pass through a resource.
  double traffic(Resource resource) const { return resources_[resource].traffic; }
  double capacity(Resource resource) const { return resources_[resource].capacity; }
  std::size_t numResources() const { return resources_.size(); }

private:
  struct ResourceState {
    double capacity = 0, traffic = 0;
    double load = 0, weight = 0; ///< while sharing: of fixed flows; of flows that are not fixed yet
    bool listed = false, full = false;
    std::vector<Flow> users = {}; ///< while sharing
    double shown = 0;             ///< the load that was recorded last
  };
  /// The limit of a flow from some time on.
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
  std::vector<State> flows_;        ///< entries, some of them free
  std::vector<Flow> active_, free_; ///< indices into flows_
  std::vector<Flow> byCap_;         ///< active flows, slowest first
  std::vector<Resource> touched_;   ///< while sharing
  Time since_ = 0;                  ///< time of the last progress
  bool changed_ = false;
  bool recording_ = false;
  std::vector<Load> recorded_;
  std::vector<Resource> loaded_; ///< while recording: resources with a load since the last change
};

} // namespace mscclc::passes::time

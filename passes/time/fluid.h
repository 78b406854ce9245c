// Models data in motion as fluid: flows share resources (links, memory, switches) max-min fairly.
//
// All flows grow at one rate until a resource is full, or a flow reaches the rate at which its source can issue. The
// flows that are limited in this way keep their rate, and the others continue to grow (progressive filling: Bertsekas
// and Gallager, Data Networks, section 6.5.2). Rates change only when a flow begins or ends, so between two such times
// everything is linear.
//
// Flows of one class use the same resources by the same weights, and have the same cap. So they always have the same
// rate, and rates are computed for classes. The thread blocks and instances that move data between the same two ranks
// are often in one class. With classes, an all-gather of 256M by trees on 2 x 8 GPUs is scheduled in a third of the
// time.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace mscclc::passes::time {

/// Time in nanoseconds since the launch. Rates in bytes a nanosecond are in GB/s.
using Time = double;

class FluidNetwork {
public:
  using Resource = std::uint32_t;
  static constexpr Resource noResource = std::numeric_limits<Resource>::max();
  /// A flow's use of a resource: for each byte of the flow, `weight` bytes pass through the resource.
  struct Use {
    Resource resource = noResource;
    double weight = 1;
    auto operator<=>(const Use &) const = default;
  };

  FluidNetwork() = default;
  FluidNetwork(const FluidNetwork &) = delete; // not copied, because ClassState::kind refers into classOf_

  /// Adds a resource that carries `capacity` bytes a nanosecond. If that is infinity, it never limits a flow.
  Resource addResource(double capacity);

  /// Begins a flow of `bytes` that is never faster than `cap` bytes a nanosecond. When it ends, takeEnded() returns its
  /// `tag`.
  void start(Time now, double bytes, double cap, std::span<const Use> uses, std::uint64_t tag);

  /// Returns the time at which the next flow ends, unless another flow begins before; infinity if there is no flow.
  /// Updates the rates.
  Time nextEnd(Time now);

  /// A flow that has ended: its tag, and the resource that limited it for most of the time (noResource: its own cap).
  struct Ended {
    std::uint64_t tag = 0;
    Resource bound = noResource;
  };
  /// Adds the flows that have ended to `ended`, in the order in which they began.
  void takeEnded(Time now, std::vector<Ended> &ended);

  /// A change of the load of a resource: from time `at` on, the load is `rate`.
  struct Load {
    Time at = 0;
    Resource resource = noResource;
    double rate = 0; ///< bytes a nanosecond
  };
  /// Records all changes of load from now on.
  void record() { recording_ = true; }
  const std::vector<Load> &recorded() const { return recorded_; }

  /// Returns the bytes that all flows which have begun move through a resource.
  double traffic(Resource resource) const { return resources_[resource].traffic; }
  double capacity(Resource resource) const { return resources_[resource].capacity; }
  std::size_t numResources() const { return resources_.size(); }

private:
  using Class = std::uint32_t; ///< index into classes_
  struct ResourceState {
    double capacity = 0, traffic = 0;
    double load = 0, weight = 0; ///< used by share(): load by flows with fixed rates; weight of the other flows
    bool listed = false, full = false;
    std::vector<Class> users = {}; ///< while sharing
    double shown = 0;              ///< the load that was recorded last
  };
  /// The time for which a resource limited the flows of a class.
  struct Bound {
    Resource resource = noResource;
    double time = 0;
  };
  struct Flow {
    double end = 0;           ///< the flow ends when ClassState::moved reaches this
    std::uint64_t number = 0; ///< number of the flow, in the order of beginning
    std::uint64_t tag = 0;
    std::vector<Bound> before; ///< bounds of the class when the flow began
  };
  /// The common properties of the flows of a class.
  struct Kind {
    double cap = 0;
    std::vector<Use> uses;
    auto operator<=>(const Kind &) const = default;
  };
  struct ClassState {
    const Kind &kind;               ///< in classOf_
    std::vector<Flow> flows = {};   ///< a heap: the first flow ends first
    double moved = 0;               ///< bytes moved by a flow that began when the class was last empty
    double rate = 0;                ///< rate of each flow, in bytes a nanosecond
    std::vector<Bound> bounds = {}; ///< bounds since the class was last empty
    Resource bound = noResource;
    bool settled = false;
    double left() const { return flows.front().end - moved; }
    double size() const { return static_cast<double>(flows.size()); }
    Resource longest(std::span<const Bound> before) const;
  };

  void progress(Time now);
  void share();
  void listUsers();
  std::size_t fill(std::span<const Resource> full, double rate);
  void recordLoads();
  void settle(ClassState &flows, double rate, Resource bound);

  std::vector<ResourceState> resources_;
  std::vector<ClassState> classes_;
  std::map<Kind, Class> classOf_;
  std::vector<Class> byCap_;      ///< classes with flows, those with the lowest cap first
  std::uint64_t begun_ = 0;       ///< number of flows that have begun
  std::vector<Resource> touched_; ///< while sharing
  Time since_ = 0;                ///< time of the last call of progress()
  bool changed_ = false;
  bool recording_ = false;
  std::vector<Load> recorded_;
  /// Used by recordLoads(): the resources with a load since the last change.
  std::vector<Resource> loaded_;
};

} // namespace mscclc::passes::time

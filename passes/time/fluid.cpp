#include "passes/time/fluid.h"

#include <algorithm>
#include <cmath>

namespace mscclc::passes::time {

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
/// Rates within this factor count as equal, so that rounding does not distinguish symmetric flows.
constexpr double nearly = 1 + 1e-9;
/// A flow with fewer bytes left has ended.
constexpr double nothing = 1e-6;
} // namespace

FluidNetwork::Resource FluidNetwork::addResource(double capacity) {
  resources_.push_back({.capacity = capacity});
  return static_cast<Resource>(resources_.size() - 1);
}

FluidNetwork::Flow FluidNetwork::start(Time now, double bytes, double cap, std::span<const Use> uses,
                                       std::uint64_t tag) {
  progress(now);
  Flow slot = static_cast<Flow>(flows_.size());
  if (free_.empty()) {
    flows_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  State &flow = flows_[slot];
  flow.left = bytes;
  flow.cap = cap;
  flow.rate = 0;
  flow.tag = tag;
  flow.ended = false;
  flow.uses.assign(uses.begin(), uses.end());
  flow.bounds.clear();
  for (const Use &use : uses)
    resources_[use.resource].traffic += use.weight * bytes;
  active_.push_back(slot);
  byCap_.insert(std::ranges::upper_bound(byCap_, cap, {}, [&](Flow other) { return flows_[other].cap; }), slot);
  changed_ = true;
  return slot;
}

void FluidNetwork::progress(Time now) {
  const double passed = now - since_;
  if (passed <= 0)
    return;
  if (changed_)
    share();
  since_ = now;
  for (const Flow slot : active_) {
    State &flow = flows_[slot];
    flow.left -= flow.rate * passed;
    const auto known = std::find_if(flow.bounds.begin(), flow.bounds.end(),
                                    [&](const Bound &bound) { return bound.resource == flow.bound; });
    if (known != flow.bounds.end())
      known->time += passed;
    else
      flow.bounds.push_back({flow.bound, passed});
  }
}

void FluidNetwork::settle(State &flow, double rate, Resource bound) {
  flow.settled = true;
  flow.rate = rate;
  flow.bound = bound;
  for (const Use &use : flow.uses) {
    ResourceState &resource = resources_[use.resource];
    resource.load += use.weight * rate;
    resource.weight -= use.weight;
  }
}

/// Lists the resources that active flows use, with the flows of each and their total weight.
void FluidNetwork::listUsers() {
  touched_.clear();
  for (const Flow slot : active_) {
    flows_[slot].settled = false;
    for (const Use &use : flows_[slot].uses) {
      ResourceState &resource = resources_[use.resource];
      if (!resource.listed) {
        resource.listed = true;
        resource.load = resource.weight = 0;
        resource.users.clear();
        touched_.push_back(use.resource);
      }
      resource.weight += use.weight;
      resource.users.push_back(slot);
    }
  }
}

/// Fixes the flows of `full` resources at `rate`. Returns their number.
std::size_t FluidNetwork::fill(std::span<const Resource> full, double rate) {
  std::size_t settled = 0;
  for (const Resource r : full)
    resources_[r].full = true;
  for (const Resource r : full)
    for (const Flow slot : resources_[r].users) {
      State &flow = flows_[slot];
      if (flow.settled)
        continue;
      const auto at = std::ranges::find_if(
          flow.uses, [&](const Use &use) { return use.weight > 0 && resources_[use.resource].full; });
      if (at == flow.uses.end())
        continue;
      settle(flow, rate, at->resource);
      ++settled;
    }
  for (const Resource r : full)
    resources_[r].full = false;
  return settled;
}

/// Each round fixes some flows. It visits the resources and those flows, but not all flows.
void FluidNetwork::share() {
  listUsers();
  const auto level = [&](Resource r) {
    const ResourceState &resource = resources_[r];
    // A weight that is left by rounding counts as 0.
    return resource.weight <= 1e-9 ? infinity : std::max(0.0, resource.capacity - resource.load) / resource.weight;
  };
  std::vector<Resource> full;
  auto slow = byCap_.begin();
  for (std::size_t open = active_.size(); open != 0;) {
    double least = infinity;
    for (const Resource r : touched_)
      least = std::min(least, level(r));
    while (flows_[*slow].settled)
      ++slow;
    const double slowest = flows_[*slow].cap;
    if (least < slowest) {
      full.clear();
      for (const Resource r : touched_)
        if (level(r) <= least * nearly)
          full.push_back(r);
      open -= fill(full, least);
      continue;
    }
    for (auto flow = slow; flow != byCap_.end() && flows_[*flow].cap <= slowest * nearly; ++flow)
      if (!flows_[*flow].settled) {
        settle(flows_[*flow], flows_[*flow].cap, noResource);
        --open;
      }
  }
  if (recording_)
    recordLoads();
  for (const Resource r : touched_)
    resources_[r].listed = false;
  changed_ = false;
}

void FluidNetwork::recordLoads() {
  const auto show = [&](Resource r, double load) {
    ResourceState &resource = resources_[r];
    if (std::abs(load - resource.shown) <= 1e-9 * resource.capacity)
      return;
    resource.shown = load;
    recorded_.push_back({since_, r, load});
  };
  for (const Resource r : loaded_)
    if (!resources_[r].listed)
      show(r, 0);
  loaded_ = touched_;
  for (const Resource r : touched_)
    show(r, resources_[r].load);
}

Time FluidNetwork::nextEnd(Time now) {
  progress(now);
  if (changed_)
    share();
  double least = infinity;
  for (const Flow slot : active_) {
    const State &flow = flows_[slot];
    if (flow.left <= nothing)
      return now;
    if (flow.rate > 0)
      least = std::min(least, flow.left / flow.rate);
  }
  return now + least;
}

void FluidNetwork::takeEnded(Time now, std::vector<Ended> &ended) {
  progress(now);
  // A thousandth of a picosecond counts as 0, and so does a time that the clock's precision cannot represent.
  const Time none = std::max(1e-6, now * std::numeric_limits<Time>::epsilon());
  std::erase_if(active_, [&](Flow slot) {
    State &flow = flows_[slot];
    if (flow.left > nothing && flow.left > flow.rate * none)
      return false;
    Ended end{flow.tag, noResource};
    double longest = 0;
    for (const Bound &bound : flow.bounds)
      if (bound.time > longest) {
        longest = bound.time;
        end.bound = bound.resource;
      }
    ended.push_back(end);
    free_.push_back(slot);
    flow.ended = true;
    changed_ = true;
    return true;
  });
  std::erase_if(byCap_, [&](Flow slot) { return flows_[slot].ended; });
}

} // namespace mscclc::passes::time

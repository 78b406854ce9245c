#include "passes/time/fluid.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace mscclc::passes::time {

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
/// Rates within this factor count as equal, so that rounding does not distinguish symmetric flows.
constexpr double nearly = 1 + 1e-9;
/// A flow has ended if it has at most this many bytes left.
constexpr double nothing = 1e-6;
} // namespace

FluidNetwork::Resource FluidNetwork::addResource(double capacity) {
  resources_.push_back({.capacity = capacity});
  return static_cast<Resource>(resources_.size() - 1);
}

void FluidNetwork::start(Time now, double bytes, double cap, std::span<const Use> uses, std::uint64_t tag) {
  progress(now);
  const auto [at, isNew] = classOf_.try_emplace({cap, {uses.begin(), uses.end()}}, static_cast<Class>(classes_.size()));
  if (isNew)
    classes_.push_back({.kind = at->first});
  const Class c = at->second;
  ClassState &its = classes_[c];
  if (its.flows.empty()) {
    its.moved = 0;
    its.bounds.clear();
    byCap_.insert(std::ranges::upper_bound(byCap_, cap, {}, [&](Class other) { return classes_[other].kind.cap; }), c);
  }
  its.flows.push_back({its.moved + bytes, begun_++, tag, its.bounds});
  std::ranges::push_heap(its.flows, std::greater{}, &Flow::end);
  for (const Use &use : uses)
    resources_[use.resource].traffic += use.weight * bytes;
  changed_ = true;
}

void FluidNetwork::progress(Time now) {
  const double passed = now - since_;
  if (passed <= 0)
    return;
  if (changed_)
    share();
  since_ = now;
  for (const Class c : byCap_) {
    ClassState &its = classes_[c];
    its.moved += its.rate * passed;
    const auto known = std::ranges::find(its.bounds, its.bound, &Bound::resource);
    if (known != its.bounds.end())
      known->time += passed;
    else
      its.bounds.push_back({its.bound, passed});
  }
}

void FluidNetwork::settle(ClassState &flows, double rate, Resource bound) {
  flows.settled = true;
  flows.rate = rate;
  flows.bound = bound;
  for (const Use &use : flows.kind.uses) {
    ResourceState &resource = resources_[use.resource];
    resource.load += use.weight * rate * flows.size();
    resource.weight -= use.weight * flows.size();
  }
}

/// Lists the resources in use. For each of them, lists the classes of flows that use it, and adds up their weights.
void FluidNetwork::listUsers() {
  touched_.clear();
  for (const Class c : byCap_) {
    classes_[c].settled = false;
    for (const Use &use : classes_[c].kind.uses) {
      ResourceState &resource = resources_[use.resource];
      if (!resource.listed) {
        resource.listed = true;
        resource.load = resource.weight = 0;
        resource.users.clear();
        touched_.push_back(use.resource);
      }
      resource.weight += use.weight * classes_[c].size();
      resource.users.push_back(c);
    }
  }
}

/// Fixes the flows through the `full` resources at `rate`. Returns how many classes it has fixed.
std::size_t FluidNetwork::fill(std::span<const Resource> full, double rate) {
  std::size_t settled = 0;
  for (const Resource r : full)
    resources_[r].full = true;
  for (const Resource r : full)
    for (const Class c : resources_[r].users) {
      ClassState &its = classes_[c];
      if (its.settled)
        continue;
      const auto at = std::ranges::find_if(
          its.kind.uses, [&](const Use &use) { return use.weight > 0 && resources_[use.resource].full; });
      if (at == its.kind.uses.end())
        continue;
      settle(its, rate, at->resource);
      ++settled;
    }
  for (const Resource r : full)
    resources_[r].full = false;
  return settled;
}

/// Computes the rates of all classes. Each round fixes some classes. It visits the resources and these classes only.
void FluidNetwork::share() {
  listUsers();
  const auto level = [&](Resource r) {
    const ResourceState &resource = resources_[r];
    // Rounding may leave a tiny weight, which counts as 0.
    return resource.weight <= 1e-9 ? infinity : std::max(0.0, resource.capacity - resource.load) / resource.weight;
  };
  std::vector<Resource> full;
  auto slow = byCap_.begin();
  for (std::size_t open = byCap_.size(); open != 0;) {
    double least = infinity;
    for (const Resource r : touched_)
      least = std::min(least, level(r));
    while (classes_[*slow].settled)
      ++slow;
    const double slowest = classes_[*slow].kind.cap;
    if (least < slowest) {
      full.clear();
      for (const Resource r : touched_)
        if (level(r) <= least * nearly)
          full.push_back(r);
      open -= fill(full, least);
      continue;
    }
    for (auto c = slow; c != byCap_.end() && classes_[*c].kind.cap <= slowest * nearly; ++c)
      if (!classes_[*c].settled) {
        settle(classes_[*c], classes_[*c].kind.cap, noResource);
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
  for (const Class c : byCap_) {
    const ClassState &its = classes_[c];
    if (its.left() <= nothing)
      return now;
    if (its.rate > 0)
      least = std::min(least, its.left() / its.rate);
  }
  return now + least;
}

void FluidNetwork::takeEnded(Time now, std::vector<Ended> &ended) {
  progress(now);
  // A thousandth of a picosecond counts as 0, and so does a time that the clock's precision cannot represent.
  const Time none = std::max(1e-6, now * std::numeric_limits<Time>::epsilon());
  std::vector<std::pair<std::uint64_t, Ended>> found; // each with the number of its flow
  std::erase_if(byCap_, [&](Class c) {
    ClassState &its = classes_[c];
    while (!its.flows.empty() && (its.left() <= nothing || its.left() <= its.rate * none)) {
      std::ranges::pop_heap(its.flows, std::greater{}, &Flow::end);
      const Flow &flow = its.flows.back();
      found.push_back({flow.number, {flow.tag, its.longest(flow.before)}});
      its.flows.pop_back();
      changed_ = true;
    }
    return its.flows.empty();
  });
  std::ranges::sort(found, {}, [](const auto &one) { return one.first; });
  for (const auto &[number, end] : found)
    ended.push_back(end);
}

/// Returns the resource that has limited the flows of the class for the longest time since an earlier moment. `before`:
/// the bounds of the class at that moment.
FluidNetwork::Resource FluidNetwork::ClassState::longest(std::span<const Bound> before) const {
  Bound found;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const double time = bounds[i].time - (i < before.size() ? before[i].time : 0);
    if (time > found.time)
      found = {bounds[i].resource, time};
  }
  return found.resource;
}

} // namespace mscclc::passes::time

#include "memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace mscclc::ptx {
namespace {

void join(View &into, const View &from) {
  if (into.size() < from.size())
    into.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

void join(Past &into, const Past &from) {
  join(into.any, from.any);
  join(into.aliased, from.aliased);
}

SharedPast joinedPasts(const SharedPast &a, const SharedPast &b) {
  if (!a || !b || a == b)
    return a ? a : b;
  Past past = *a;
  join(past, *b);
  return std::make_shared<const Past>(std::move(past));
}

bool contains(const View &view, std::uint32_t thread, Clock clock) {
  return thread < view.size() && clock <= view[thread];
}

std::uint64_t hostBytes(std::uint64_t address, unsigned bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void *>(address), bytes);
  return value;
}

std::string describe(const Access &access) {
  if (access.by == nullptr)
    return "the user's access before or after a launch";
  std::string text = access.by->text;
  const auto place = [](const SourcePlace &p) {
    return p.file.empty() ? std::string("?") : p.file + ":" + std::to_string(p.line);
  };
  text += " at " + place(access.by->place);
  if (access.by->caller.file != access.by->place.file || access.by->caller.line != access.by->place.line)
    text += " (from " + place(access.by->caller) + ")";
  return text + " by thread " + std::to_string(access.thread);
}

} // namespace

Origins joined(const Origins &a, const Origins &b) {
  if (!a || !b || a == b)
    return a ? a : b;
  auto all = std::make_shared<std::vector<std::shared_ptr<PlainRead>>>();
  std::ranges::set_union(*a, *b, std::back_inserter(*all));
  return all;
}

std::uint32_t Memory::addThread(std::uint32_t device, std::uint32_t block) {
  const auto number = static_cast<std::uint32_t>(threads_.size());
  Thread thread;
  thread.device = device;
  thread.block = block;
  thread.now.any.resize(number + 1);
  thread.now.any[number] = 1;
  threads_.push_back(std::move(thread));
  return number;
}

bool Memory::isBefore(const Access &earlier, Clock clock, const Access &now) const {
  const Past &past = threads_[now.thread].now;
  if (earlier.thread == host)
    return true;
  if (earlier.isMulticast != now.isMulticast)
    return contains(past.aliased, earlier.thread, clock);
  return earlier.thread == now.thread || contains(past.any, earlier.thread, clock);
}

/// Whether a strong read of the write happens before `now`.
bool Memory::isObserved(const Write &write, const Access &now) const {
  return std::ranges::any_of(write.readers, [&](const Reader &reader) {
    return isMorallyStrong(write.access, reader.access) && isBefore(reader.access, reader.first, now);
  });
}

/// Whether the scope of `a` includes thread `other`.
bool Memory::includes(const Access &a, std::uint32_t other) const {
  if (a.thread == host || other == host)
    return true;
  const Thread &mine = threads_[a.thread], &its = threads_[other];
  switch (a.scope) {
  case Scope::Cta:
    return mine.device == its.device && mine.block == its.block;
  case Scope::Gpu:
    return mine.device == its.device;
  case Scope::Sys:
    break;
  }
  return true;
}

bool Memory::isMorallyStrong(const Access &a, const Access &b) const {
  return a.isStrong() && b.isStrong() && includes(a, b.thread) && includes(b, a.thread) && a.address == b.address &&
         a.bytes == b.bytes;
}

/// Of different launches: whether the earlier access comes first in time, as strong accesses tell.
bool Memory::isTold(const Access &earlier, Clock clock, const Access &now) const {
  return isMorallyStrong(earlier, now) && contains(threads_[now.thread].told, earlier.thread, clock);
}

/// Whether a packet that was computed from the read has been taken before `now`.
bool Memory::isTaken(const Reader &reader, const Access &now) const {
  return reader.plain && std::ranges::any_of(reader.plain->takers, [&](const PlainRead::Taker &taker) {
           Access taking = reader.access;
           taking.thread = taker.thread;
           return isBefore(taking, taker.clock, now);
         });
}

/// Looks for accesses on record that conflict with `now`, which is about to come. `changes`: it writes something else
/// than is there. Else earlier reads find the same either way. `origins`: of the value that it writes. It does not
/// reach these reads.
void Memory::check(const Segment &segment, const Access &now, bool changes, const Origins &origins) {
  const auto isAllowed = [&](const Access &earlier) {
    return isMorallyStrong(earlier, now) && (earlier.packetLaunch == now.packetLaunch || earlier.packetLaunch == 0);
  };
  for (const Write &write : segment.writes) {
    if (!isAllowed(write.access) && !isBefore(write.access, write.clock, now) && !isObserved(write, now) &&
        !isTold(write.access, write.clock, now))
      report(write.access, now);
    if (!now.writes || !changes)
      continue;
    for (const Reader &reader : write.readers)
      if (!isAllowed(reader.access) && !isBefore(reader.access, reader.last, now) &&
          !isTold(reader.access, reader.last, now) && !isTaken(reader, now) &&
          !(reader.plain && origins && std::ranges::find(*origins, reader.plain) != origins->end()))
        report(reader.access, now);
  }
}

void Memory::report(const Access &earlier, const Access &now) {
  if (!reported_.emplace(earlier.by, now.by).second)
    return;
  races_.push_back(
      {earlier.by, now.by,
       describe(earlier) + " and " + describe(now) +
           (isMorallyStrong(earlier, now) ? " access one packet slot in different launches" : " conflict") +
           ", and causality does not order them"});
}

void Memory::reportEarly(const Access &access) {
  if (reported_.emplace(nullptr, access.by).second)
    races_.push_back(
        {nullptr, access.by, describe(access) + " may run before the earlier kernel of the stream has ended"});
}

/// Looks for plain writes to the host's words that `write`, to such words, announces without a release.
void Memory::checkAnnounced(const Access &write) {
  Access &unreleased = threads_[write.thread].unreleased;
  if (!write.isHosts)
    return;
  if (!write.isStrong()) {
    unreleased = write;
    return;
  }
  if (unreleased.by != nullptr && !(write.releases() && write.scope == Scope::Sys) &&
      reported_.emplace(unreleased.by, write.by).second)
    races_.push_back(
        {unreleased.by, write.by,
         describe(unreleased) + " is announced to the host by " + describe(write) + ", which does not release it"});
  unreleased = {};
}

void Memory::split(Cell &cell, std::uint8_t at) {
  for (std::size_t i = 0; i < cell.segments.size(); ++i) {
    Segment &segment = cell.segments[i];
    if (segment.first >= at || at >= segment.end)
      continue;
    Segment upper = segment;
    const unsigned shift = 8u * (at - segment.first);
    for (Write &write : upper.writes)
      write.value >>= shift;
    for (Write &write : segment.writes)
      write.value &= (std::uint64_t{1} << shift) - 1;
    upper.first = at;
    segment.end = at;
    cell.segments.insert(cell.segments.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(upper));
    return;
  }
}

/// The segments that the access covers, from the lowest address.
std::vector<Memory::Segment *> Memory::segmentsOf(const Access &access) {
  Cell &cell = cells_[access.address / 8];
  if (cell.segments.empty())
    cell.segments.push_back({0, 8, {}});
  const auto first = static_cast<std::uint8_t>(access.address % 8),
             end = static_cast<std::uint8_t>(first + access.bytes);
  if (end > 8)
    throw Unknown("an access of " + std::to_string(access.bytes) + " bytes that is not aligned");
  split(cell, first);
  split(cell, end);
  std::vector<Segment *> covered;
  for (Segment &segment : cell.segments)
    if (segment.first >= first && segment.end <= end)
      covered.push_back(&segment);
  return covered;
}

/// Returns the write that is in memory. If the host has changed the bytes, its write replaces all others.
Memory::Write &Memory::newest(Segment &segment, std::uint64_t cellAddress) {
  const std::uint64_t value = hostBytes(cellAddress + segment.first, segment.end - segment.first);
  if (segment.writes.empty() || segment.writes.back().value != value) {
    Write write;
    write.access = {.thread = host,
                    .address = cellAddress + segment.first,
                    .bytes = unsigned{segment.end} - segment.first,
                    .order = Order::Release};
    write.value = value;
    write.release.fill(host_);
    cells_[cellAddress / 8].version += segment.writes.empty() ? 0 : 1;
    segment.writes = {std::move(write)};
  }
  return segment.writes.back();
}

/// The first write, in coherence order, that a strong read may still return.
std::size_t Memory::floorOf(const Segment &segment, const Access &access) const {
  for (std::size_t i = segment.writes.size(); i-- > 1;) {
    const Write &write = segment.writes[i];
    if (!isMorallyStrong(write.access, access) || isBefore(write.access, write.clock, access) ||
        isObserved(write, access))
      return i;
  }
  return 0;
}

/// Records a read of `write`. Joins the view that the write released. Returns the origins of the value.
Origins Memory::read(Write &write, const Access &access) {
  const auto known = std::ranges::find_if(write.readers, [&](const Reader &reader) {
    const Access &other = reader.access;
    return other.thread == access.thread && other.isStrong() == access.isStrong() && other.scope == access.scope &&
           other.isMulticast == access.isMulticast;
  });
  const Clock clock = clockOf(access.thread);
  const auto plain =
      keepsOrigins_ && (!access.isStrong() || access.isMulticast) ? std::make_shared<PlainRead>() : nullptr;
  if (known == write.readers.end())
    write.readers.push_back({access, clock, clock, plain});
  else
    *known = {access, known->first, clock, plain};
  const Origins own = plain ? std::make_shared<const std::vector<std::shared_ptr<PlainRead>>>(1, plain) : nullptr;
  if (!access.isStrong() || !isMorallyStrong(write.access, access))
    return own;
  join(access.thread, write, access);
  if (write.told)
    ptx::join(threads_[access.thread].told, *write.told);
  if (write.origins)
    for (const std::shared_ptr<PlainRead> &origin : *write.origins)
      if (std::ranges::find(origin->takers, access.thread, &PlainRead::Taker::thread) == origin->takers.end())
        origin->takers.push_back({access.thread, clock});
  return joined(own, write.origins);
}

/// The thread acquires what `write` released, or will at its next fence.
void Memory::join(std::uint32_t number, const Write &write, const Access &access) {
  Thread &thread = threads_[number];
  for (unsigned scope = 0; scope < numScopes; ++scope) {
    Access pattern = write.access; // the release, as far as its scope reaches
    pattern.scope = static_cast<Scope>(scope);
    if (!write.release[scope] || !includes(pattern, number))
      continue;
    if (access.acquires()) {
      ptx::join(thread.now, *write.release[scope]);
      continue;
    }
    for (unsigned fence = 0; fence < numScopes; ++fence) {
      pattern = access; // the acquire, as a fence of that scope completes it, or a later acquire of the same place
      pattern.scope = static_cast<Scope>(fence);
      if (!includes(pattern, write.access.thread))
        continue;
      ptx::join(thread.observed[fence], *write.release[scope]);
      SharedPast &here = thread.observedAt[access.address][fence];
      here = joinedPasts(here, write.release[scope]);
    }
  }
  const auto before = thread.observedAt.find(access.address);
  if (access.acquires() && before != thread.observedAt.end())
    if (const SharedPast &past = before->second[static_cast<unsigned>(access.scope)])
      ptx::join(thread.now, *past);
}

std::uint64_t Memory::load(const Access &access, bool *isNewest, Origins *origins) {
  const std::uint64_t base = access.address / 8 * 8;
  const std::vector<Segment *> segments = segmentsOf(access);
  std::uint64_t value = 0;
  if (isNewest != nullptr)
    *isNewest = true;
  for (Segment *segment : segments) {
    Write *chosen = &newest(*segment, base);
    check(*segment, access);
    if (access.isStrong() && segments.size() == 1 && segment->writes.size() > 1 && random_() % 2 == 0) {
      const std::size_t floor = floorOf(*segment, access), candidates = segment->writes.size() - floor;
      Write *older = &segment->writes[floor + random_() % candidates];
      staleReads_ += older != chosen;
      if (isNewest != nullptr)
        *isNewest = older == chosen;
      chosen = older;
    }
    value |= chosen->value << (8 * (segment->first - access.address % 8));
    const Origins found = read(*chosen, access);
    if (origins != nullptr)
      *origins = joined(*origins, found);
  }
  return value;
}

/// Adds a write to a segment. `replaced`: what a read-modify-write read.
void Memory::write(Segment &segment, const Access &access, std::uint64_t value, const Write *replaced) {
  Thread &thread = threads_[access.thread];
  Write next;
  next.access = access;
  next.clock = clockOf(access.thread);
  next.value = value;
  if (access.isStrong()) {
    const unsigned reach = static_cast<unsigned>(access.scope);
    for (unsigned scope = 0; scope <= reach; ++scope)
      next.release[scope] = thread.fenced[scope];
    if (access.releases()) {
      next.release[reach] = std::make_shared<const Past>(thread.now);
      thread.released[access.address][reach] = next.release[reach];
    } else if (const auto before = thread.released.find(access.address); before != thread.released.end()) {
      for (unsigned scope = 0; scope < numScopes; ++scope)
        next.release[scope] = joinedPasts(next.release[scope], before->second[scope]);
    }
    hasPackets_ |= access.packetLaunch != 0;
    if (hasPackets_) {
      ptx::join(thread.told, thread.now.any);
      next.told = std::make_shared<const View>(thread.told);
    }
    if (access.isHosts)
      host_ = joinedPasts(host_, next.release[static_cast<unsigned>(Scope::Sys)]);
    if (replaced != nullptr)
      for (unsigned scope = 0; scope < numScopes; ++scope)
        next.release[scope] = joinedPasts(next.release[scope], replaced->release[scope]);
  }
  // Only a strong write leaves older strong writes readable.
  if (!access.isStrong())
    segment.writes.clear();
  else if (segment.writes.size() == mostWrites)
    segment.writes.erase(segment.writes.begin());
  segment.writes.push_back(std::move(next));
}

void Memory::store(const Access &access, std::uint64_t value, const Origins &origins) {
  const std::uint64_t base = access.address / 8 * 8;
  checkAnnounced(access);
  for (Segment *segment : segmentsOf(access)) {
    const unsigned bytes = segment->end - segment->first;
    const std::uint64_t mask = bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
    const std::uint64_t part = value >> (8 * (segment->first - access.address % 8)) & mask;
    check(*segment, access, newest(*segment, base).value != part, origins);
    write(*segment, access, part, nullptr);
    if (access.packetLaunch != 0)
      segment->writes.back().origins = origins;
  }
  std::memcpy(reinterpret_cast<void *>(access.address), &value, access.bytes);
  ++cells_[access.address / 8].version;
  if (access.releases() || hasPackets_)
    tick(access.thread);
}

std::uint64_t Memory::update(const Access &access, const std::function<std::uint64_t(std::uint64_t)> &next) {
  const std::uint64_t base = access.address / 8 * 8;
  const std::vector<Segment *> segments = segmentsOf(access);
  if (segments.size() != 1)
    throw Unknown("a read-modify-write of bytes that are also accessed apart");
  Write &last = newest(*segments[0], base);
  check(*segments[0], access);
  const std::uint64_t old = last.value, value = next(old);
  read(last, access);
  const Write replaced = last;
  write(*segments[0], access, value, isMorallyStrong(replaced.access, access) ? &replaced : nullptr);
  std::memcpy(reinterpret_cast<void *>(access.address), &value, access.bytes);
  ++cells_[access.address / 8].version;
  if (access.releases() || hasPackets_)
    tick(access.thread);
  return old;
}

void Memory::fence(std::uint32_t number, Scope scope, bool sc) {
  Thread &thread = threads_[number];
  ptx::join(thread.now, thread.observed[static_cast<unsigned>(scope)]);
  if (scope == Scope::Sys) {
    thread.observedAt.clear();
    thread.unreleased = {};
  }
  if (sc) {
    const auto reaches = [](const FenceScGroup &from, const FenceScGroup &to) {
      return from.scope == Scope::Sys ||
             (from.device == to.device && (from.scope == Scope::Gpu || from.block == to.block));
    };
    const FenceScGroup own{scope, thread.device, thread.block};
    for (const auto &[group, past] : sc_)
      if (reaches(group, own) && reaches(own, group))
        ptx::join(thread.now, past);
    ptx::join(sc_[own], thread.now);
  }
  const auto past = std::make_shared<const Past>(thread.now);
  for (unsigned reach = 0; reach <= static_cast<unsigned>(scope); ++reach)
    thread.fenced[reach] = past;
  tick(number);
}

void Memory::fenceAliases(std::uint32_t number) {
  Past &now = threads_[number].now;
  ptx::join(now.aliased, now.any);
  tick(number);
}

void Memory::meet(std::span<const std::uint32_t> threads) {
  follow(threads, threads);
}

Past Memory::pastOf(std::span<const std::uint32_t> threads) {
  Past all;
  for (const std::uint32_t thread : threads)
    ptx::join(all, threads_[thread].now);
  for (const std::uint32_t thread : threads)
    tick(thread);
  return all;
}

void Memory::follow(const Past &before, std::span<const std::uint32_t> after) {
  for (const std::uint32_t thread : after)
    ptx::join(threads_[thread].now, before);
}

void Memory::follow(std::span<const std::uint32_t> before, std::span<const std::uint32_t> after) {
  follow(pastOf(before), after);
}

void Memory::use(std::span<const std::uint32_t> threads, std::uint64_t address, std::uint64_t bytes) {
  meet(threads);
  Access user;
  user.thread = threads.front();
  user.writes = true;
  for (std::uint64_t cell = address / 8; cell * 8 < address + bytes; ++cell) {
    user.address = std::max(cell * 8, address);
    user.bytes = static_cast<unsigned>(std::min(cell * 8 + 8, address + bytes) - user.address);
    for (Segment *segment : segmentsOf(user)) {
      const std::uint64_t value = newest(*segment, cell * 8).value;
      check(*segment, user);
      write(*segment, user, value, nullptr);
    }
  }
  meet(threads);
}

std::uint64_t Memory::version(std::uint64_t address) const {
  const auto found = cells_.find(address / 8);
  return found == cells_.end() ? 0 : found->second.version;
}

bool Memory::changedByHost(std::uint64_t address) const {
  const auto found = cells_.find(address / 8);
  return found != cells_.end() && std::ranges::any_of(found->second.segments, [&](const Segment &segment) {
           return !segment.writes.empty() && segment.writes.back().value != hostBytes(address / 8 * 8 + segment.first,
                                                                                      segment.end - segment.first);
         });
}

} // namespace mscclc::ptx

#include "passes/simulate/machine.h"

#include "ir/op_semantics.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace mscclc::passes::sim {

namespace {
std::unique_ptr<std::byte[]> memory(std::uint64_t bytes) {
  return std::make_unique_for_overwrite<std::byte[]>(bytes + 16);
}
constexpr int unwritten = Machine::unwrittenOutput - 1; ///< initial contents of memory
} // namespace

Machine::Machine(const ir::Program &program, std::vector<Size> sizes, const Inputs &inputs,
                 const SimulateOptions &options)
    : program_(program), sizes_(std::move(sizes)), inputs_(inputs), type_(options.type),
      relaxedShows_(options.relaxedShows), userAwaitsPorts_(options.userAwaitsPorts), index_(program),
      blocks_(index_.numBlocks()), ranks_(program.ranks.size()), queues_(index_), given_(index_.numQueues()),
      met_(index_.numBarriers()), ports_(index_.numChannels()), barriers_(index_.numBarriers()),
      wire_(ir::wireOf(program) ? ir::wireOf(program)->wire : ir::Wire::None),
      wireBlock_(hasWire() ? std::max<std::uint64_t>(program.bufferAlignment, sizeOf(type_)) : 16),
      sum_(hasWire() || sizes_[0].layout->spread() != 1 ? DataType::F32 : options.type) {
  allocate();
  if (options.rows)
    rows_.emplace(program, *options.rows, options.counts, rowBytesOf(program, type_));
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    const ir::Rank &rank = program.ranks[r];
    RankState &s = ranks_[r];
    s.firstLane = static_cast<std::uint32_t>(lanes_.size());
    for (std::uint32_t b = 0; b < rank.blocks.size(); ++b) {
      for (std::uint32_t n = 0; n < lanesPerBlock; ++n) {
        actors_.push_back({Actor::Lane, r, static_cast<std::uint32_t>(lanes_.size())});
        lanes_.push_back({.rank = r, .block = b, .number = n, .at = {}});
      }
    }
    s.numLanes = static_cast<std::uint32_t>(lanes_.size()) - s.firstLane;
    actors_.push_back({Actor::User, r, r});
    if (rows_)
      actors_.push_back({Actor::Counts, r, r});
    for (std::uint32_t c = 0; c < rank.portPeers.size(); ++c) {
      const std::uint32_t end = index_.channel(ir::ChannelType::Port, r, c);
      ports_[end].actor = static_cast<std::uint32_t>(actors_.size());
      actors_.push_back({Actor::Engine, r, end});
    }
  }
}

/// Allocates buffers for the longest message. In place, one buffer holds both input and output.
void Machine::allocate() {
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    RankState &s = ranks_[r];
    for (const ir::BufferKind kind : {ir::BufferKind::Input, ir::BufferKind::Output}) {
      const ir::CanonicalPlace place = ir::canonicalPlace(program_, r, kind, 0);
      const bool inInput = place.buffer == ir::BufferKind::Input;
      (kind == ir::BufferKind::Input ? s.inputPlace : s.outputPlace) = place;
      std::uint64_t &bytes = inInput ? s.inputBytes : s.outputBytes;
      for (const Size &size : sizes_)
        bytes = std::max(bytes, place.index * size.layout->chunkBytes() + size.layout->bytesOf(r, kind));
    }
    for (const Size &size : sizes_)
      s.scratchBytes = std::max(s.scratchBytes, size.layout->scratchBytes(r));
    s.input = memory(s.inputBytes);
    s.output = memory(s.outputBytes);
    s.scratch = memory(s.scratchBytes * 2);
  }
}

std::byte *Machine::bufferOf(std::uint32_t rank, ir::BufferKind buffer, const Layout &layout) const {
  const RankState &s = ranks_[rank];
  if (buffer == ir::BufferKind::Scratch)
    return s.scratch.get();
  const ir::CanonicalPlace &place = buffer == ir::BufferKind::Input ? s.inputPlace : s.outputPlace;
  return (place.buffer == ir::BufferKind::Input ? s.input : s.output).get() + place.index * layout.chunkBytes();
}

void Machine::reset(std::uint64_t seed) {
  random_.seed(seed);
  salt_ = random_();
  policy_ = static_cast<std::uint32_t>(random_() % 4);
  outcome_ = {};
  sizeOf_.clear();
  for (std::uint32_t launch = 0; launch < launches_; ++launch)
    if (const std::size_t draws = sizes_.size() + callsForNothing_; draws == 1)
      sizeOf_.push_back(0);
    else
      sizeOf_.push_back(static_cast<std::uint32_t>(random_() % draws));
  for (std::uint32_t &size : sizeOf_)
    if (size == sizes_.size())
      size = none;
  if (rows_)
    rows_->reset(salt_);
  queues_ = ir::CreditQueues<View>(index_);
  given_.assign(given_.size(), {});
  met_.assign(met_.size(), {});
  std::fill(barriers_.begin(), barriers_.end(), ir::ArrivalCounter());
  for (Port &port : ports_)
    port = {.queue = {}, .actor = port.actor};
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    RankState &s = ranks_[r];
    std::memset(s.input.get(), unwritten, s.inputBytes);
    std::memset(s.output.get(), unwritten, s.outputBytes);
    std::memset(s.scratch.get(), unwritten, s.scratchBytes * 2);
    s.launch = s.call = s.lanesEnded = s.countsSent = 0;
    s.stage = RankState::Start;
    s.waiting = {};
  }
  const std::uint64_t delays = random_() % 2 == 0 ? 0 : 3; // about 3 of 4 blocks delay stores, or no block does
  for (Block &block : blocks_) {
    block = {};
    block.delays = random_() % 4 < delays;
  }
  for (Lane &lane : lanes_)
    lane.ended = true;
  ready_.clear();
  // Chooses which actors are slow: single threads, blocks or whole ranks.
  const std::uint64_t first = random_();
  for (std::uint32_t a = 0; a < actors_.size(); ++a) {
    Actor &actor = actors_[a];
    std::uint64_t unit = a;
    if (policy_ == 2 && actor.kind == Actor::Lane)
      unit = 1'000'000 + actor.index / lanesPerBlock;
    else if (policy_ == 3)
      unit = 2'000'000 + actor.rank;
    std::uint64_t h = (first ^ unit) * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9u;
    actor.priority = static_cast<std::uint32_t>(h >> 34);
    ready_.push_back(a);
  }
}

std::uint32_t Machine::pick() {
  // Compares the priorities of a few actors only, so that the choice is cheap. Slow actors still wait long.
  const auto size = static_cast<std::uint32_t>(ready_.size());
  const auto start = static_cast<std::uint32_t>(random_() % size);
  if (policy_ == 0)
    return start;
  std::uint32_t best = start;
  for (std::uint32_t i = 1; i < std::min(size, 24u); ++i) {
    const std::uint32_t at = start + i < size ? start + i : start + i - size;
    if (actors_[ready_[at]].priority > actors_[ready_[best]].priority)
      best = at;
  }
  if (random_() % 64 == 0)
    actors_[ready_[best]].priority = static_cast<std::uint32_t>(random_() >> 34);
  return best;
}

void Machine::wake(std::uint32_t rank, std::uint64_t firstKey, std::uint64_t endKey) {
  auto &[waiting, keys] = ranks_[rank].waiting;
  for (std::size_t i = 0; i < waiting.size();) {
    if (keys[i] - firstKey >= endKey - firstKey) {
      ++i;
      continue;
    }
    ready_.push_back(waiting[i]);
    waiting[i] = waiting.back();
    waiting.pop_back();
    keys[i] = keys.back();
    keys.pop_back();
  }
}

/// Wakes the actors of `rank` that wait for one of the packets in these `bytes` bytes.
void Machine::wakeReaders(std::uint32_t rank, const std::byte *packets, std::uint64_t bytes) {
  wake(rank, packetKey(packets), packetKey(packets) + bytes);
}

bool Machine::goesOn(const Watch &watch) const {
  double ended = 0; // number of launches that ranks have ended, all ranks together
  for (const RankState &rank : ranks_)
    ended += rank.call + (rank.numLanes == 0 ? 0 : static_cast<double>(rank.lanesEnded) / (rank.numLanes + 1));
  return watch(ended / (static_cast<double>(ranks_.size()) * launches_));
}

Outcome Machine::run(std::uint64_t seed, std::uint32_t launches, const Watch &watch) {
  constexpr std::uint64_t stepsBetween = 1 << 14; // some milliseconds
  launches_ = launches;
  reset(seed);
  for (std::uint64_t steps = 1; !ready_.empty(); ++steps) {
    if (watch && steps % stepsBetween == 0 && !goesOn(watch)) {
      outcome_.kind = Outcome::Stopped;
      return outcome_;
    }
    const std::uint32_t at = pick(), a = ready_[at];
    const Progress progress = step(actors_[a]);
    if (outcome_.kind != Outcome::Right)
      return outcome_;
    if (progress == Progress::Moved)
      continue;
    // The step may have woken other actors. They were appended, so this actor is still at `at`.
    ready_[at] = ready_.back();
    ready_.pop_back();
    if (progress == Progress::Blocked)
      ranks_[actors_[a].rank].waiting.add(a, blockedOn_);
  }
  for (const RankState &s : ranks_) {
    if (s.stage == RankState::Done)
      continue;
    outcome_.kind = Outcome::Hangs;
    for (std::uint32_t l = s.firstLane; l < s.firstLane + s.numLanes; ++l)
      if (!lanes_[l].ended) {
        outcome_.place = {lanes_[l].rank, lanes_[l].block, lanes_[l].at.op()};
        outcome_.launch = s.launch;
        outcome_.size = sizeOf_[s.call];
        outcome_.waitsFor = describeWait(lanes_[l]);
        return outcome_;
      }
  }
  return outcome_;
}

std::string Machine::describeWait(const Lane &lane) const {
  const ir::ThreadBlock &code = codeOf(lane);
  const ir::Op &op = code.ops[lane.at.op()];
  if (ir::isWait(op.kind) || op.kind == ir::OpKind::Flush || op.kind == ir::OpKind::SemAcquire) {
    const std::uint32_t id = code.idsOf(op)[std::min<std::size_t>(lane.id, op.numIds - 1)];
    return op.kind == ir::OpKind::SemAcquire
               ? "semaphore " + std::to_string(id)
               : std::string(ir::toString(op.channelType)) + " channel " + std::to_string(id);
  }
  return ir::isBlockSync(op.kind) ? "other threads" : ir::isPacketOp(op.kind) ? "packets" : "the port";
}

Machine::Progress Machine::step(Actor &actor) {
  switch (actor.kind) {
  case Actor::Lane:
    return stepLane(lanes_[actor.index]);
  case Actor::Engine:
    return stepEngine(actor.index);
  case Actor::Counts:
    return stepCounts(actor.rank);
  case Actor::User:
    break;
  }
  return stepUser(actor.rank);
}

Machine::Progress Machine::stepUser(std::uint32_t rank) {
  RankState &s = ranks_[rank];
  if (s.stage == RankState::Start) {
    if (sizeOf_[s.call] == none)
      return endCall(rank);
    beginLaunch(rank);
    return Progress::Moved;
  }
  if (rows_ && (s.countsSent != ranks_.size() || !rows_->hasAll(rank, s.launch)))
    return blockOn(key(Event::User));
  if (s.lanesEnded != s.numLanes || (userAwaitsPorts_ && !portsDone(rank)))
    return blockOn(key(Event::User));
  for (std::uint32_t b = 0; b < program_.ranks[rank].blocks.size(); ++b)
    publish(blocks_[index_.block(rank, b)], std::numeric_limits<std::uint64_t>::max());
  compare(rank);
  overwrite(rank);
  ++s.launch;
  return endCall(rank);
}

Machine::Progress Machine::endCall(std::uint32_t rank) {
  RankState &s = ranks_[rank];
  if (++s.call == launches_) {
    s.stage = RankState::Done;
    return Progress::Ended;
  }
  s.stage = RankState::Start;
  return Progress::Moved;
}

bool Machine::portsDone(std::uint32_t rank) const {
  for (std::uint32_t c = 0; c < program_.ranks[rank].portPeers.size(); ++c) {
    const Port &port = ports_[index_.channel(ir::ChannelType::Port, rank, c)];
    if (port.finished != port.pushed)
      return false;
  }
  return true;
}

void Machine::beginLaunch(std::uint32_t rank) {
  RankState &s = ranks_[rank];
  overwrite(rank);
  const Layout &layout = layoutOf(rank);
  if (ir::hasUser(program_.collective.kind) || s.launch == 0)
    inputs_.fill(rank, s.launch, 0, bufferOf(rank, ir::BufferKind::Input, layout),
                 layout.bytesOf(rank, ir::BufferKind::Input));
  if (rows_)
    fillRows(rank);
  s.lanesEnded = s.countsSent = 0;
  s.arrays.clear();
  for (std::uint32_t l = s.firstLane; l < s.firstLane + s.numLanes; ++l)
    lanes_[l] = {.rank = rank, .block = lanes_[l].block, .number = lanes_[l].number, .at = {}, .ended = false};
  s.stage = RankState::Running;
  wake(rank, key(Event::Launch));
}

/// Overwrites a rank's input and output, because its user may use both for something else before and after a launch.
/// Does nothing for a Test collective, whose buffers have no user.
void Machine::overwrite(std::uint32_t rank) {
  const RankState &s = ranks_[rank];
  if (!ir::hasUser(program_.collective.kind))
    return;
  std::memset(s.input.get(), unwrittenOutput, s.inputBytes);
  std::memset(s.output.get(), unwrittenOutput, s.outputBytes);
}

Machine::Progress Machine::stepEngine(std::uint32_t end) {
  Port &port = ports_[end];
  if (port.queue.empty())
    return blockOn(key(Event::Port, end));
  Request &r = port.queue.front();
  const std::uint32_t rank = actors_[port.actor].rank;
  if (r.signal) {
    signal(end, r.view);
  } else {
    publish(r.view);
    const std::uint64_t step = std::max<std::uint64_t>(16, (r.bytes / 4 + 15) / 16 * 16);
    const std::uint64_t bytes = std::min(step, r.bytes - r.done);
    const std::uint64_t scale = r.packets ? 2 : 1;
    std::memmove(r.dst + r.done * scale, r.src + r.done * scale, bytes * scale);
    r.done += bytes;
    if (r.packets)
      wakeReaders(r.rank, r.dst + (r.done - bytes) * scale, bytes * scale);
    if (r.done < r.bytes)
      return Progress::Moved;
  }
  port.queue.pop_front();
  ++port.finished;
  wake(rank, key(Event::Port, end));
  if (userAwaitsPorts_)
    wake(rank, key(Event::User));
  return Progress::Moved;
}

void Machine::compare(std::uint32_t rank) {
  if (rows_)
    return compareRows(rank);
  const std::uint32_t launch = ranks_[rank].launch, size = sizeOf_[ranks_[rank].call];
  const Layout &layout = *sizes_[size].layout;
  const std::uint64_t bytes = layout.chunkBytes();
  const std::byte *output = bufferOf(rank, ir::BufferKind::Output, layout);
  for (std::uint32_t chunk = 0; chunk < program_.ranks[rank].outputChunks; ++chunk) {
    const std::byte *wanted = sizes_[size].expected->chunk(rank, launch, chunk), *got = output + chunk * bytes;
    if (!wanted || std::memcmp(wanted, got, bytes) == 0)
      continue;
    for (std::uint64_t e = 0; e < bytes / sizeOf(type_); ++e) {
      const double a = elementAt(type_, got, e), b = elementAt(type_, wanted, e), error = a < b ? b - a : a - b;
      if (a == b && !sizes_[size].expected->isOfBits()) // +0 and -0 differ only if bits are compared
        continue;
      if (std::memcmp(got + e * sizeOf(type_), wanted + e * sizeOf(type_), sizeOf(type_)) == 0)
        continue;
      outcome_.maxError = std::max(outcome_.maxError, error == error ? error : 1e300);
      if (outcome_.kind == Outcome::Right)
        outcome_ = {.kind = Outcome::Wrong,
                    .maxError = outcome_.maxError,
                    .rank = rank,
                    .launch = launch,
                    .chunk = chunk,
                    .element = e,
                    .size = size,
                    .got = a,
                    .wanted = b,
                    .place = {},
                    .waitsFor = {}};
    }
  }
}

} // namespace mscclc::passes::sim

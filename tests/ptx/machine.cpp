// Runs launches, and chooses which thread takes the next step.
#include "machine.h"

#include <algorithm>
#include <utility>

namespace mscclc::ptx {

void Machine::queue(Thread &thread) {
  thread.state = Thread::Ready;
  if (!std::exchange(thread.isQueued, true))
    ready_.push_back(&thread);
}

namespace {

/// Returns the shared memory of a block at the beginning of a launch: it holds nothing that a thread could use.
std::byte *sharedMemory(std::vector<std::uint64_t> &words, const Module &module) {
  words.assign((module.sharedBytes + 7) / 8, 0xcdcdcdcdcdcdcdcd);
  return reinterpret_cast<std::byte *>(words.data());
}

} // namespace

void Machine::begin(Grid &grid) {
  const Launch &launch = grid.launch;
  const Function &entry = launch.module->functions[launch.entry];
  const auto [at, isNew] = streams_.try_emplace(launch.stream);
  Stream &stream = at->second;
  if (isNew) {
    stream.number = static_cast<std::uint32_t>(streams_.size()) - 1;
    constexpr std::uint32_t unnamed = 1u << 16; // behind those that launches name
    stream.device = launch.device < 0 ? unnamed + stream.number : static_cast<std::uint32_t>(launch.device);
  }
  grid.ordinal = ++stream.launches;
  for (const Region &region : launch.packets)
    packets_[region.address] = std::max(packets_[region.address], region.bytes);
  for (const Region &region : launch.hosts)
    hosts_[region.address] = std::max(hosts_[region.address], region.bytes);
  const auto reducesInSwitch = [](const Function &function) {
    return std::ranges::any_of(function.code, [](const Instruction &i) { return i.has(Modifier::LdReduce); });
  };
  if (!packets_.empty() || std::ranges::any_of(launch.module->functions, reducesInSwitch))
    memory_.keepOrigins();
  if (launch.parameters.size() < entry.parameterBytes)
    throw Unknown("a launch of " + entry.name + " with too few bytes of parameters");
  grid.blocks.assign(launch.blocks, {0, launch.threads});
  for (std::uint32_t block = 0; block < launch.blocks && launch.module->sharedBytes != 0; ++block)
    grid.blocks[block].shared = sharedMemory(stream.shared[{block, launch.module->sharedBytes}], *launch.module);
  grid.threads.resize(std::size_t{launch.blocks} * launch.threads);
  for (std::uint32_t i = 0; i < grid.threads.size(); ++i) {
    Thread &thread = grid.threads[i];
    thread.grid = &grid;
    thread.block = i / launch.threads;
    thread.index = i % launch.threads;
    thread.isEarly = launch.isDependent;
    const auto [number, isFirst] = stream.numbers.try_emplace({thread.block, thread.index});
    if (isFirst)
      number->second = memory_.addThread(stream.device, stream.number << 16 | thread.block);
    thread.number = number->second;
    grid.numbers.push_back(thread.number);
    thread.calls.push_back(activationOf(entry));
    thread.priority = random_();
    queue(thread);
  }
  grid.running = static_cast<unsigned>(grid.threads.size());
  memory_.follow(stream.last, grid.numbers);
  for (const auto &[other, its] : streams_)
    if (its.device == stream.device && other != launch.stream)
      memory_.follow(its.waited, grid.numbers);
  useBuffers(grid);
  fenceAll(grid);
  ++counts_.launches;
}

/// What the boundary of a kernel is to its threads.
void Machine::fenceAll(const Grid &grid) {
  for (const std::uint32_t number : grid.numbers)
    memory_.fence(number, Scope::Sys, false);
}

/// The user reads and overwrites inputs and outputs, around the launch.
void Machine::useBuffers(const Grid &grid) {
  for (const Region &buffer : grid.launch.buffers)
    memory_.use(grid.numbers, buffer.address, buffer.bytes);
}

void Machine::end(Grid &grid) {
  fenceAll(grid);
  useBuffers(grid);
  streams_[grid.launch.stream].last = grid.numbers;
}

void Machine::synchronized(int device) {
  const std::unique_lock lock(mutex_);
  for (auto &[handle, stream] : streams_)
    if (stream.device == static_cast<std::uint32_t>(device))
      stream.waited = memory_.pastOf(stream.last);
}

void Machine::run(std::vector<Launch> launches) {
  std::unique_lock lock(mutex_);
  std::vector<Grid *> mine;
  for (Launch &launch : launches) {
    grids_.push_back(std::make_unique<Grid>());
    mine.push_back(grids_.back().get());
    mine.back()->launch = std::move(launch);
    begin(*mine.back());
  }
  changed_.notify_all();
  const auto isRunning = [](const Grid *grid) { return grid->running != 0; };
  while (std::ranges::any_of(mine, isRunning) && !failure_) {
    if (driven_)
      changed_.wait(lock);
    else
      drive(lock);
  }
  if (failure_)
    std::rethrow_exception(failure_);
  std::erase_if(grids_, [&](const auto &grid) { return std::ranges::find(mine, grid.get()) != mine.end(); });
}

/// Takes steps until some launch has ended. Launches of one collective begin at about the same time. A step waits for
/// launches that are on their way, so that the seed decides the schedule and not the host.
void Machine::drive(std::unique_lock<std::mutex> &lock) {
  driven_ = true;
  auto lastChange = std::chrono::steady_clock::now();
  try {
    while (patience_.launches.count() != 0 && changed_.wait_for(lock, patience_.launches) != std::cv_status::timeout) {
    }
    for (bool ended = false; !ended;) {
      if (ready_.empty() && !awaken()) {
        if (std::chrono::steady_clock::now() - lastChange >= patience_.changes)
          hang();
        changed_.wait_for(lock, std::chrono::milliseconds(1));
        continue;
      }
      lastChange = std::chrono::steady_clock::now();
      const std::size_t at = pick();
      Thread &thread = *ready_[at];
      step(thread);
      if (endsAtRace_ && !memory_.races().empty())
        throw std::runtime_error("race: " + memory_.races().front().text);
      if (thread.state != Thread::Ready) {
        thread.isQueued = false;
        ready_[at] = ready_.back();
        ready_.pop_back();
        if (thread.state == Thread::Parked)
          parked_.push_back(&thread);
      }
      if (thread.state == Thread::Done && --thread.grid->running == 0) {
        end(*thread.grid);
        ended = true;
      }
      if (counts_.steps % 64 == 0)
        awaken();
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
  driven_ = false;
  changed_.notify_all();
}

/// Resumes parked threads whose locations have changed.
bool Machine::awaken() {
  const auto isOver = [&](Thread *thread) {
    const bool goesOn = std::ranges::any_of(thread->polls, [&](const Poll &poll) {
      return memory_.version(poll.address) != poll.version || memory_.changedByHost(poll.address);
    });
    if (goesOn) {
      thread->polls.clear();
      queue(*thread);
    }
    return goesOn;
  };
  std::erase_if(parked_, isOver);
  return !ready_.empty();
}

/// Returns the thread with the highest priority of a few random ones. So some threads are slow for a long time.
std::size_t Machine::pick() {
  std::size_t best = random_() % ready_.size();
  for (unsigned i = 0; i < 3; ++i) {
    const std::size_t other = random_() % ready_.size();
    if (ready_[other]->priority > ready_[best]->priority)
      best = other;
  }
  if (random_() % 64 == 0)
    ready_[best]->priority = random_();
  ++counts_.steps;
  return best;
}

void Machine::hang() const {
  std::map<std::string, unsigned> threads; // numbers of threads, by what they wait for
  for (const auto &grid : grids_)
    for (const Thread &thread : grid->threads) {
      if (thread.state == Thread::Done)
        continue;
      const Activation &activation = thread.calls.back();
      const std::vector<Instruction> &code = activation.function->code;
      const Instruction &by = code[std::min<std::size_t>(activation.at, code.size() - 1)];
      const auto text = [](const SourcePlace &place) { return place.file + ":" + std::to_string(place.line); };
      ++threads[text(by.place) + " (from " + text(by.caller) + "), device " +
                std::to_string(streams_.at(grid->launch.stream).device) + ", block " + std::to_string(thread.block) +
                (thread.state == Thread::AtBarrier ? ", at a barrier" : "")];
    }
  std::string text = "no thread can go on:";
  for (const auto &[place, count] : threads)
    text += "\n  " + place + ": " + std::to_string(count) + (count == 1 ? " thread" : " threads");
  throw Hang(text);
}

void Machine::arrive(Thread &thread) {
  thread.state = Thread::AtBarrier;
  ++thread.grid->blocks[thread.block].arrived;
  meetIfComplete(*thread.grid, thread.block);
}

/// Resumes the threads of a block if all that still run have reached the barrier.
void Machine::meetIfComplete(Grid &grid, std::uint32_t number) {
  Block &block = grid.blocks[number];
  if (block.arrived == 0 || block.arrived != block.running)
    return;
  block.arrived = 0;
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = std::size_t{number} * grid.launch.threads; i < std::size_t{number + 1} * grid.launch.threads;
       ++i) {
    Thread &thread = grid.threads[i];
    if (thread.state != Thread::AtBarrier)
      continue;
    numbers.push_back(thread.number);
    queue(thread);
  }
  memory_.meet(numbers);
}

} // namespace mscclc::ptx

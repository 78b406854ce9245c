// Executes the instructions of a thread.
#include "arithmetic.h"
#include "machine.h"

#include <algorithm>
#include <cstring>

namespace mscclc::ptx {

namespace {
constexpr unsigned longestStep = 100'000; ///< instructions without a strong access, until other threads get a turn

std::uint64_t extended(const Type &type, std::uint64_t value) {
  if (type.kind != Type::Signed)
    return value;
  const unsigned unused = 64u - type.bits;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
}
} // namespace

/// How an instruction accesses memory there. Volatile accesses count as relaxed ones of the system, and atomic
/// operations without an order are relaxed.
Access Machine::accessOf(const Thread &thread, const Instruction &i, std::uint64_t address) const {
  Access access;
  access.thread = thread.number;
  access.address = address;
  access.bytes = i.type.bytes();
  access.by = &i;
  access.order = i.order;
  access.scope = i.hasScope ? i.scope : i.order == Order::Volatile ? Scope::Sys : Scope::Gpu;
  const bool isAtomic = i.opcode == Opcode::Atom || i.opcode == Opcode::Red;
  if (i.order == Order::Volatile || (i.order == Order::Weak && isAtomic))
    access.order = Order::Relaxed;
  access.writes = isAtomic || i.opcode == Opcode::St || i.has(Modifier::StMulti);
  access.isMulticast = i.opcode == Opcode::Multimem;
  const auto isWithin = [&](const std::map<std::uint64_t, std::uint64_t> &regions) {
    const auto after = regions.upper_bound(address);
    return after != regions.begin() && address - std::prev(after)->first < std::prev(after)->second;
  };
  access.isHosts = isWithin(hosts_);
  if (access.isStrong() && isWithin(packets_))
    access.packetLaunch = (thread.grid->ordinal - 1) / thread.grid->launch.kernels + 1;
  return access;
}

std::uint64_t Machine::value(const Thread &thread, const Activation &activation, const Operand &operand) const {
  const auto based = [&](Operand::Kind base) -> std::uint64_t {
    switch (base) {
    case Operand::Register:
      return activation.registers[operand.index];
    case Operand::Frame:
      return reinterpret_cast<std::uint64_t>(activation.frame.get());
    case Operand::Argument:
      return reinterpret_cast<std::uint64_t>(thread.grid->launch.parameters.data());
    case Operand::Global:
      return reinterpret_cast<std::uint64_t>(thread.grid->launch.module->data.data());
    default:
      return 0;
    }
  };
  switch (operand.kind) {
  case Operand::Register:
    return activation.registers[operand.index];
  case Operand::Immediate:
    return static_cast<std::uint64_t>(operand.value);
  case Operand::Special:
    switch (static_cast<Special>(operand.index)) {
    case Special::Tid:
      return thread.index;
    case Special::Ntid:
      return thread.grid->launch.threads;
    case Special::Ctaid:
      return thread.block;
    case Special::Nctaid:
      return thread.grid->launch.blocks;
    case Special::LaneId:
      return thread.index % 32;
    case Special::GlobalTimer:
      return counts_.instructions;
    }
    break;
  case Operand::Memory:
    return based(operand.base) + static_cast<std::uint64_t>(operand.value);
  case Operand::Shared:
    return static_cast<std::uint64_t>(operand.value);
  case Operand::Frame:
  case Operand::Argument:
  case Operand::Global:
    return based(operand.kind) + static_cast<std::uint64_t>(operand.value);
  case Operand::Sink:
    break;
  }
  throw Unknown("an operand that has no value");
}

void Machine::assign(Activation &activation, const Operand &operand, std::uint64_t value, const Origins &origins) {
  if (operand.kind == Operand::Register) {
    activation.registers[operand.index] = value;
    if (!activation.origins.empty())
      activation.origins[operand.index] = origins;
  } else if (operand.kind != Operand::Sink) {
    throw Unknown("an operand that takes no value");
  }
}

/// Addresses have none: where a value was read does not order its read.
Origins Machine::originsOf(const Activation &activation, const Operand &operand) {
  return operand.kind == Operand::Register && !activation.origins.empty() ? activation.origins[operand.index] : nullptr;
}

/// An access of memory that others see.
Access Machine::sharedAccess(const Thread &thread, const Instruction &i, std::uint64_t address) {
  const Access access = accessOf(thread, i, address);
  if (thread.isEarly)
    memory_.reportEarly(access);
  return access;
}

Machine::Activation Machine::activationOf(const Function &function) const {
  Activation activation;
  activation.function = &function;
  activation.registers.resize(function.registers);
  if (memory_.keepsOrigins())
    activation.origins.resize(function.registers);
  activation.frame = std::make_unique<std::byte[]>(function.frameBytes + 1);
  return activation;
}

/// Returns the address of the window of the thread's shared memory. In the window, addresses begin with 0.
std::uint64_t Machine::windowOf(const Thread &thread) {
  return reinterpret_cast<std::uint64_t>(thread.grid->blocks[thread.block].shared);
}

/// Returns the activation in whose frame `address` lies, or null.
Machine::Activation *Machine::ownerOf(Thread &thread, std::uint64_t address) {
  const auto owns = [&](const Activation &activation) {
    return address - reinterpret_cast<std::uint64_t>(activation.frame.get()) < activation.function->frameBytes;
  };
  const auto found = std::ranges::find_if(thread.calls, owns);
  return found == thread.calls.end() ? nullptr : &*found;
}

/// Returns whether only this thread writes there, or none: its frames, the parameters of its launch, constants.
bool Machine::isPrivate(const Thread &thread, std::uint64_t address) const {
  const auto within = [&](const std::byte *first, std::uint64_t bytes) {
    return address - reinterpret_cast<std::uint64_t>(first) < bytes;
  };
  const Launch &launch = thread.grid->launch;
  if (within(launch.parameters.data(), launch.parameters.size()) ||
      within(launch.module->data.data(), launch.module->data.size()))
    return true;
  for (const Activation &activation : thread.calls)
    if (within(activation.frame.get(), activation.function->frameBytes))
      return true;
  return false;
}

/// Runs the thread up to and including its next strong access, fence or barrier.
void Machine::step(Thread &thread) {
  for (unsigned i = 0; i < longestStep && thread.state == Thread::Ready; ++i) {
    Activation &activation = thread.calls.back();
    if (activation.at >= activation.function->code.size())
      throw Unknown("the end of " + activation.function->name + " without ret");
    const Instruction &instruction = activation.function->code[activation.at++];
    ++counts_.instructions;
    if (instruction.guard >= 0 &&
        ((activation.registers[static_cast<std::uint32_t>(instruction.guard)] & 1) != 0) == instruction.guardNegated)
      continue;
    if (execute(thread, activation, instruction))
      return;
  }
}

/// True if the instruction ends the step.
bool Machine::execute(Thread &thread, Activation &activation, const Instruction &i) {
  switch (i.opcode) {
  case Opcode::Bra:
    activation.at = i.target;
    return false;
  case Opcode::Call:
    enter(thread, i);
    return false;
  case Opcode::Ret:
    leave(thread);
    return thread.state == Thread::Done;
  case Opcode::Trap:
    throw Unknown("trap in " + activation.function->name);
  case Opcode::Bar:
    if (!i.has(Modifier::Sync) || i.operands.size() != 1 || i.operands[0][0].kind != Operand::Immediate ||
        i.operands[0][0].value != 0)
      throw Unknown("instruction " + i.text + " but of barrier 0");
    thread.polls.clear();
    arrive(thread);
    return true;
  case Opcode::Membar:
  case Opcode::Fence:
    thread.polls.clear();
    if (!i.has(Modifier::Proxy))
      memory_.fence(thread.number, i.scope, i.opcode == Opcode::Membar || i.order == Order::Sc);
    else if (i.has(Modifier::Alias))
      memory_.fenceAliases(thread.number);
    else
      throw Unknown("instruction " + i.text);
    return true;
  case Opcode::Griddepcontrol: // launch_dependents: nothing, as the next launch has an order only with the end of this
                               // one
    thread.isEarly = thread.isEarly && !i.has(Modifier::Wait);
    return false;
  case Opcode::Ld:
  case Opcode::St:
    return access(thread, activation, i);
  case Opcode::Atom:
  case Opcode::Red:
    return atomic(thread, activation, i);
  case Opcode::Multimem:
    return multicast(thread, activation, i);
  case Opcode::Mov:
    move(thread, activation, i);
    return false;
  case Opcode::Cvta:
    if (i.space == Space::Shared) { // generic addresses are those of the host's memory (ISA 9.7.9.20)
      const std::uint64_t from = value(thread, activation, i.operands.at(1).at(0));
      assign(activation, i.operands.at(0).at(0),
             i.has(Modifier::To) ? from - windowOf(thread) : from + windowOf(thread));
      return false;
    }
    break;
  default:
    break;
  }
  std::uint64_t sources[8];
  std::size_t count = 0;
  Origins origins;
  for (std::size_t operand = 1; operand < i.operands.size(); ++operand) {
    sources[count++] = value(thread, activation, i.operands[operand].at(0));
    origins = joined(origins, originsOf(activation, i.operands[operand][0]));
  }
  const int ulps = i.has(Modifier::Approx) ? static_cast<int>(random_() % 3) - approximateUlps : 0;
  assign(activation, i.operands.at(0).at(0), compute(i, {sources, count}, ulps), origins);
  return false;
}

/// mov: also of a register into several, or of several into one, the first in its low bits.
void Machine::move(const Thread &thread, Activation &activation, const Instruction &i) {
  const std::vector<Operand> &to = i.operands.at(0), &from = i.operands.at(1);
  std::uint64_t all = 0;
  Origins origins;
  for (std::size_t part = 0; part < from.size(); ++part) {
    const std::uint64_t bits = value(thread, activation, from[part]);
    origins = joined(origins, originsOf(activation, from[part]));
    const unsigned each = i.type.bits / static_cast<unsigned>(from.size());
    all |= (from.size() == 1 ? bits : bits & ((std::uint64_t{1} << each) - 1)) << (part * each);
  }
  if (to.size() == 1) {
    const std::uint64_t sources[] = {all};
    assign(activation, to[0], compute(i, sources), origins);
    return;
  }
  const unsigned each = i.type.bits / static_cast<unsigned>(to.size());
  for (std::size_t part = 0; part < to.size(); ++part)
    assign(activation, to[part], all >> (part * each) & ((std::uint64_t{1} << each) - 1), origins);
}

void Machine::enter(Thread &thread, const Instruction &call) {
  const Function &function = thread.grid->launch.module->functions[call.target];
  Activation next = activationOf(function);
  next.results = call.results;
  const Activation &caller = thread.calls.back();
  next.inFrame = caller.inFrame;
  if (call.arguments.size() != function.parameters.size() || call.results.size() != function.results.size())
    throw Unknown("a call of " + function.name + " with other parameters than it has");
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    std::memcpy(next.frame.get() + function.parameters[i].offset, caller.frame.get() + call.arguments[i].offset,
                function.parameters[i].bytes);
  thread.calls.push_back(std::move(next));
}

void Machine::leave(Thread &thread) {
  if (thread.calls.size() == 1) {
    thread.state = Thread::Done;
    --thread.grid->blocks[thread.block].running;
    meetIfComplete(*thread.grid, thread.block);
    return;
  }
  const Activation ended = std::move(thread.calls.back());
  thread.calls.pop_back();
  thread.calls.back().inFrame = joined(thread.calls.back().inFrame, ended.inFrame);
  for (std::size_t i = 0; i < ended.results.size(); ++i)
    std::memcpy(thread.calls.back().frame.get() + ended.results[i].offset,
                ended.frame.get() + ended.function->results[i].offset, ended.results[i].bytes);
}

/// ld and st. True if it is a strong access to shared memory.
bool Machine::access(Thread &thread, Activation &activation, const Instruction &i) {
  const bool isLoad = i.opcode == Opcode::Ld;
  const std::vector<Operand> &data = i.operands.at(isLoad ? 0 : 1);
  const unsigned bytes = i.type.bytes();
  std::uint64_t address = value(thread, activation, i.operands.at(isLoad ? 1 : 0).at(0));
  if (i.space == Space::Shared) { // a window of 32 bits
    address = static_cast<std::uint32_t>(address);
    if (address + std::uint64_t{bytes} * i.vector > thread.grid->launch.module->sharedBytes)
      throw Unknown("instruction " + i.text + " outside of shared memory, at " + std::to_string(address));
    address += windowOf(thread);
  }
  if (data.size() != i.vector || bytes > 8 || i.type.kind == Type::Predicate)
    throw Unknown("instruction " + i.text);
  if (address % (std::uint64_t{bytes} * i.vector) != 0)
    throw Unknown("instruction " + i.text + " of an address that is not aligned");
  const bool isShared = !isPrivate(thread, address);
  Activation *const frame = isShared ? nullptr : ownerOf(thread, address);
  Access each = isShared ? sharedAccess(thread, i, address) : accessOf(thread, i, address);
  for (unsigned element = 0; element < i.vector; ++element) {
    each.address = address + std::uint64_t{element} * bytes;
    if (isLoad) {
      std::uint64_t loaded = 0;
      Origins origins = frame != nullptr ? frame->inFrame : nullptr;
      if (isShared)
        loaded = loadShared(thread, each, origins);
      else
        std::memcpy(&loaded, reinterpret_cast<const void *>(each.address), bytes);
      assign(activation, data[element], extended(i.type, loaded), origins);
    } else {
      std::uint64_t stored = value(thread, activation, data[element]);
      const Origins origins = originsOf(activation, data[element]);
      if (bytes < 8)
        stored &= (std::uint64_t{1} << (8 * bytes)) - 1;
      if (isShared)
        memory_.store(each, stored, origins);
      else
        std::memcpy(reinterpret_cast<void *>(each.address), &stored, bytes);
      if (frame != nullptr)
        frame->inFrame = joined(frame->inFrame, origins);
    }
  }
  if (isShared && !isLoad)
    thread.polls.clear();
  if (isShared && isLoad && each.isStrong())
    polled(thread);
  return isShared && each.isStrong();
}

std::uint64_t Machine::loadShared(Thread &thread, const Access &access, Origins &origins) {
  if (!access.isStrong())
    return memory_.load(access, nullptr, &origins);
  Poll poll{access.by, access.address, memory_.version(access.address), false};
  const std::uint64_t loaded = memory_.load(access, &poll.isNewest, &origins);
  thread.polls.push_back(poll);
  return loaded;
}

/// Parks a thread that polls: in two whole rounds of loads it has seen only values that are still in memory. The first
/// round did not let it continue, so no other round will.
void Machine::polled(Thread &thread) {
  std::vector<Poll> &polls = thread.polls;
  const auto isOutdated = [&](const Poll &poll) {
    return !poll.isNewest || memory_.version(poll.address) != poll.version || memory_.changedByHost(poll.address);
  };
  polls.erase(polls.begin(), std::find_if(polls.rbegin(), polls.rend(), isOutdated).base());
  const auto isSame = [&](const Poll &poll) {
    return poll.by == polls.back().by && poll.address == polls.back().address;
  };
  if (std::ranges::count_if(polls, isSame) > 2)
    thread.state = Thread::Parked;
}

bool Machine::atomic(Thread &thread, Activation &activation, const Instruction &i) {
  const bool returns = i.opcode == Opcode::Atom;
  const std::size_t first = returns ? 1 : 0;
  const std::uint64_t address = value(thread, activation, i.operands.at(first).at(0));
  if (isPrivate(thread, address) || i.space == Space::Shared || i.vector != 1 || address % i.type.bytes() != 0)
    throw Unknown("instruction " + i.text);
  std::uint64_t sources[2];
  std::size_t count = 0;
  for (std::size_t operand = first + 1; operand < i.operands.size() && count < 2; ++operand)
    sources[count++] = value(thread, activation, i.operands[operand].at(0));
  const Access access = sharedAccess(thread, i, address);
  thread.polls.clear();
  const std::uint64_t old =
      memory_.update(access, [&](std::uint64_t before) { return atomicResult(i, before, {sources, count}); });
  if (returns)
    assign(activation, i.operands[0].at(0), old);
  return true;
}

/// multimem.ld_reduce and multimem.st: the same access to the memory of each member.
bool Machine::multicast(Thread &thread, Activation &activation, const Instruction &i) {
  const bool isLoad = i.has(Modifier::LdReduce);
  const std::uint64_t address = value(thread, activation, i.operands.at(isLoad ? 1 : 0).at(0));
  const std::vector<std::uint64_t> members = membersOf_ ? membersOf_(address) : std::vector<std::uint64_t>();
  const std::vector<Operand> &data = i.operands.at(isLoad ? 0 : 1);
  const unsigned bytes = i.type.bytes();
  if (members.empty() || isLoad == i.has(Modifier::StMulti) || data.size() != i.vector ||
      address % (std::uint64_t{bytes} * i.vector) != 0)
    throw Unknown("instruction " + i.text + (members.empty() ? " of an address that is not multicast" : ""));
  thread.polls.clear();
  ++counts_.multicasts;
  for (unsigned element = 0; element < i.vector; ++element) {
    std::vector<std::uint64_t> values;
    Origins origins;
    for (const std::uint64_t member : members) {
      const Access access = sharedAccess(thread, i, member + std::uint64_t{element} * bytes);
      if (isLoad)
        values.push_back(memory_.load(access, nullptr, &origins));
      else
        memory_.store(access, value(thread, activation, data[element]));
    }
    if (isLoad)
      assign(activation, data[element], switchResult(i, values), origins);
  }
  return true;
}

} // namespace mscclc::ptx

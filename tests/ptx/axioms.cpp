// The axioms of the PTX memory model (PTX ISA 9.0, chapter 8) for litmus programs: all executions are enumerated, as
// sets of events with reads-from, coherence and an order of fence.sc, and each is tested.
//
// A relation is a matrix of bits over the events of an execution. What the ISA calls base causality, observation,
// release and acquire patterns is built from these as it is defined there.
#include "arithmetic.h"
#include "litmus.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace mscclc::ptx {
namespace {

constexpr std::size_t mostEvents = 32, mostOfThread = 8;
constexpr std::uint64_t memoryAt = 0x10000, resultsAt = 0x20000, multicastAt = 0x30000;
constexpr unsigned none = ~0u;

struct Event {
  enum Kind : std::uint8_t { Read, Write, Fence, Barrier } kind = Read;
  unsigned thread = none; ///< none: what is there at the beginning
  Order order = Order::Weak;
  Scope scope = Scope::Sys;
  bool isAliasFence = false, isMulticast = false;
  unsigned location = 0;
  std::uint64_t value = 0;
  unsigned pair = none;      ///< of a write: the read of its read-modify-write
  std::uint32_t depends = 0; ///< on these reads of its thread, by data or control
  unsigned instance = 0;     ///< of a barrier: how many its thread passed before
  bool isAccess() const { return kind == Read || kind == Write; }
  bool isStrong() const { return isAccess() ? order != Order::Weak : kind == Fence && !isAliasFence; }
};

/// What a thread may do, if its reads return the values that stand there.
struct Path {
  std::vector<Event> events;
  std::map<unsigned, std::uint64_t> results;
};

class Relation {
public:
  bool operator()(std::size_t a, std::size_t b) const { return (rows_[a] >> b & 1u) != 0; }
  void add(std::size_t a, std::size_t b) { rows_[a] |= 1u << b; }
  Relation operator|(const Relation &other) const {
    return each([&](std::size_t i) { return rows_[i] | other.rows_[i]; });
  }
  Relation operator&(const Relation &other) const {
    return each([&](std::size_t i) { return rows_[i] & other.rows_[i]; });
  }
  /// First this, then `other`.
  Relation then(const Relation &other) const {
    return each([&](std::size_t i) {
      std::uint32_t row = 0;
      for (std::uint32_t rest = rows_[i]; rest != 0; rest &= rest - 1)
        row |= other.rows_[static_cast<std::size_t>(std::countr_zero(rest))];
      return row;
    });
  }
  Relation closure() const {
    Relation all = *this;
    for (std::size_t k = 0; k < mostEvents; ++k)
      for (std::size_t i = 0; i < mostEvents; ++i)
        if (all(i, k))
          all.rows_[i] |= all.rows_[k];
    return all;
  }
  Relation orSame() const {
    return each([&](std::size_t i) { return rows_[i] | 1u << i; });
  }
  Relation inverse() const {
    Relation result;
    for (std::size_t i = 0; i < mostEvents; ++i)
      for (std::size_t j = 0; j < mostEvents; ++j)
        if ((*this)(i, j))
          result.add(j, i);
    return result;
  }
  bool isReflexive() const {
    for (std::size_t i = 0; i < mostEvents; ++i)
      if ((*this)(i, i))
        return true;
    return false;
  }

private:
  template <class F> static Relation each(F rowOf) {
    Relation result;
    for (std::size_t i = 0; i < mostEvents; ++i)
      result.rows_[i] = rowOf(i);
    return result;
  }
  std::array<std::uint32_t, mostEvents> rows_{};
};

// -------------------------------------------------------------------------------------------- what a thread may do

/// Runs a thread for every choice of the values that its reads return.
class Paths {
public:
  Paths(const Module &module, unsigned thread, const std::set<std::uint64_t> &values)
      : function_(module.functions.at(thread)), thread_(thread), values_(values) {
    State state;
    state.registers.resize(function_.registers);
    state.tainted.resize(function_.registers);
    step(std::move(state));
  }
  std::vector<Path> all;
  bool isCut = false;

private:
  struct State {
    std::size_t at = 0;
    std::vector<std::uint64_t> registers;
    std::vector<std::uint32_t> tainted; ///< by reads
    std::uint32_t control = 0;
    unsigned barriers = 0;
    Path path;
  };

  static std::uint64_t valueOf(const State &state, const Operand &operand) {
    if (operand.kind == Operand::Register)
      return state.registers[operand.index];
    if (operand.kind == Operand::Immediate)
      return static_cast<std::uint64_t>(operand.value);
    if (operand.kind == Operand::Memory && operand.base == Operand::Register)
      return state.registers[operand.index] + static_cast<std::uint64_t>(operand.value);
    if (operand.kind == Operand::Memory && operand.base == Operand::Argument)
      return static_cast<std::uint64_t>(operand.value);
    throw Unknown("an operand of a litmus program");
  }
  static std::uint32_t taintOf(const State &state, const Operand &operand) {
    const bool hasRegister =
        operand.kind == Operand::Register || (operand.kind == Operand::Memory && operand.base == Operand::Register);
    return hasRegister ? state.tainted[operand.index] : 0;
  }

  void step(State state) {
    while (state.at < function_.code.size()) {
      const Instruction &i = function_.code[state.at++];
      if (state.path.events.size() > mostOfThread) {
        isCut = true;
        return;
      }
      if (i.guard >= 0) {
        const auto guard = static_cast<std::size_t>(i.guard);
        state.control |= state.tainted[guard];
        if (((state.registers[guard] & 1) != 0) == i.guardNegated)
          continue;
      }
      if (i.opcode == Opcode::Ret)
        break;
      if (!execute(state, i))
        return;
    }
    all.push_back(std::move(state.path));
  }

  /// False where others go on in its place.
  bool execute(State &state, const Instruction &i) {
    Event event;
    event.thread = thread_;
    event.scope = i.scope;
    event.order = i.order;
    switch (i.opcode) {
    case Opcode::Bra:
      state.at = i.target;
      return true;
    case Opcode::Bar:
      event.kind = Event::Barrier;
      event.instance = state.barriers++;
      state.path.events.push_back(event);
      return true;
    case Opcode::Membar:
    case Opcode::Fence:
      event.kind = Event::Fence;
      event.isAliasFence = i.has(Modifier::Proxy);
      event.order = i.opcode == Opcode::Membar ? Order::Sc : i.order;
      state.path.events.push_back(event);
      return true;
    case Opcode::Ld:
    case Opcode::St:
    case Opcode::Atom:
    case Opcode::Red:
    case Opcode::Multimem:
      return access(state, i, event);
    default:
      break;
    }
    std::vector<std::uint64_t> sources;
    std::uint32_t taint = 0;
    for (std::size_t operand = 1; operand < i.operands.size(); ++operand) {
      sources.push_back(valueOf(state, i.operands[operand].at(0)));
      taint |= taintOf(state, i.operands[operand].at(0));
    }
    assign(state, i.operands.at(0).at(0), compute(i, sources), taint);
    return true;
  }
  static void assign(State &state, const Operand &to, std::uint64_t value, std::uint32_t taint) {
    if (to.kind != Operand::Register)
      return;
    state.registers[to.index] = value;
    state.tainted[to.index] = taint;
  }

  bool access(State &state, const Instruction &i, Event event) {
    const bool isAtomic = i.opcode == Opcode::Atom || i.opcode == Opcode::Red;
    const bool isLoad = i.opcode == Opcode::Ld || i.has(Modifier::LdReduce),
               returns = isLoad || i.opcode == Opcode::Atom;
    const Operand &place = i.operands.at(returns ? 1 : 0).at(0);
    const std::uint64_t address = valueOf(state, place);
    if (i.space == Space::Param) {
      const std::uint64_t given[] = {memoryAt, resultsAt, multicastAt};
      assign(state, i.operands[0].at(0), given[address / 8], 0);
      return true;
    }
    if (address >= resultsAt && address < multicastAt) {
      state.path.results[static_cast<unsigned>((address - resultsAt) / 8)] = valueOf(state, i.operands[1].at(0));
      return true;
    }
    if (i.type.bits != 64 || i.vector != 1)
      throw Unknown("an access of a litmus program that is not of 8 bytes");
    event.isMulticast = i.opcode == Opcode::Multimem;
    event.location = static_cast<unsigned>((address - (event.isMulticast ? multicastAt : memoryAt)) / 64);
    event.depends = state.control | taintOf(state, place);
    if (event.order == Order::Volatile || (isAtomic && event.order == Order::Weak))
      event.order = Order::Relaxed;
    if (!isLoad && !isAtomic) {
      event.kind = Event::Write;
      event.value = valueOf(state, i.operands.at(1).at(0));
      event.depends |= taintOf(state, i.operands.at(1).at(0));
      state.path.events.push_back(event);
      return true;
    }
    for (const std::uint64_t value : values_) {
      State next = state;
      readModifyWrite(next, i, event, value, isAtomic, returns);
      step(std::move(next));
    }
    return false;
  }

  static void readModifyWrite(State &state, const Instruction &i, Event event, std::uint64_t value, bool isAtomic,
                              bool returns) {
    const auto number = static_cast<unsigned>(state.path.events.size());
    const Order order = event.order;
    event.value = value;
    event.order = order == Order::AcqRel ? Order::Acquire : order == Order::Release ? Order::Relaxed : order;
    state.path.events.push_back(event);
    if (isAtomic) {
      std::vector<std::uint64_t> sources;
      std::uint32_t taint = event.depends | 1u << number;
      for (std::size_t operand = returns ? 2 : 1; operand < i.operands.size(); ++operand) {
        sources.push_back(valueOf(state, i.operands[operand].at(0)));
        taint |= taintOf(state, i.operands[operand].at(0));
      }
      if (!i.has(Modifier::OpCas) || value == sources.at(0)) {
        event.kind = Event::Write;
        event.value = atomicResult(i, value, sources);
        event.order = order == Order::AcqRel ? Order::Release : order == Order::Acquire ? Order::Relaxed : order;
        event.pair = number;
        event.depends = taint;
        state.path.events.push_back(event);
      }
    }
    if (returns)
      assign(state, i.operands[0].at(0), value, 1u << number);
  }

  const Function &function_;
  const unsigned thread_;
  const std::set<std::uint64_t> &values_;
};

// -------------------------------------------------------------------------------------------------- executions

/// The executions of one choice of paths.
class Executions {
public:
  Executions(const Litmus &litmus, std::vector<const Path *> paths, Allowed &allowed)
      : litmus_(litmus), paths_(std::move(paths)), allowed_(allowed) {
    for (unsigned location = 0; location < litmusLocations; ++location) {
      Event initial;
      initial.kind = Event::Write;
      initial.location = location;
      const auto given = litmus.initial.find(static_cast<char>('a' + location));
      initial.value = given == litmus.initial.end() ? 0 : given->second;
      events_.push_back(initial);
    }
    for (const Path *path : paths_) {
      const auto first = static_cast<unsigned>(events_.size());
      for (Event event : path->events) {
        event.pair = event.pair == none ? none : event.pair + first;
        firstOf_.resize(events_.size() + 1, first);
        firstOf_.back() = first;
        events_.push_back(event);
      }
    }
    if (events_.size() > mostEvents)
      throw Unknown("a litmus program of too many events");
    build();
    chooseReadsFrom(litmusLocations);
  }

private:
  bool includes(const Event &a, const Event &b) const {
    const LitmusThread &mine = litmus_.threads[a.thread], &its = litmus_.threads[b.thread];
    return a.scope == Scope::Sys || (mine.device == its.device && (a.scope == Scope::Gpu || mine.block == its.block));
  }
  bool isAddressSame(const Event &a, const Event &b) const {
    return a.location == b.location && a.isMulticast == b.isMulticast;
  }

  /// What does not depend on the values that reads return.
  void build() {
    for (unsigned a = 0; a < events_.size(); ++a)
      for (unsigned b = 0; b < events_.size(); ++b) {
        const Event &first = events_[a], &second = events_[b];
        if (a == b || first.thread == none || second.thread == none)
          continue;
        const bool together = first.thread == second.thread;
        if (together && a < b)
          order_.add(a, b);
        const bool bothStrong =
            first.isStrong() && second.isStrong() && includes(first, second) && includes(second, first);
        const bool overlap = !first.isAccess() || !second.isAccess() || first.location == second.location;
        if ((together || bothStrong) && overlap)
          strong_.add(a, b);
        if (first.kind == Event::Barrier && second.kind == Event::Barrier && first.instance == second.instance &&
            litmus_.threads[first.thread].device == litmus_.threads[second.thread].device &&
            litmus_.threads[first.thread].block == litmus_.threads[second.thread].block)
          barriers_.add(a, b);
        if (second.pair == a)
          atomic_.add(a, b);
        if ((second.depends >> (a - firstOf_[b]) & 1u) != 0 && together && a < b)
          depends_.add(a, b);
        if (isReleasePattern(a, b))
          releases_.add(a, b);
        if (isAcquirePattern(a, b))
          acquires_.add(a, b);
      }
    for (unsigned a = 0; a < events_.size(); ++a) {
      const Event &event = events_[a];
      if (event.kind == Event::Write && event.order == Order::Release)
        releases_.add(a, a);
      if (event.kind == Event::Read && event.order == Order::Acquire)
        acquires_.add(a, a);
      if (event.kind == Event::Fence && event.order == Order::Sc)
        fencesSc_.push_back(a);
    }
  }
  bool isReleasePattern(unsigned a, unsigned b) const {
    const Event &first = events_[a], &second = events_[b];
    if (!order_(a, b) || second.kind != Event::Write || !second.isStrong())
      return false;
    return (first.kind == Event::Write && first.order == Order::Release && isAddressSame(first, second)) ||
           (first.kind == Event::Fence && !first.isAliasFence);
  }
  bool isAcquirePattern(unsigned a, unsigned b) const {
    const Event &first = events_[a], &second = events_[b];
    if (!order_(a, b) || first.kind != Event::Read || !first.isStrong())
      return false;
    return (second.kind == Event::Read && second.order == Order::Acquire && isAddressSame(first, second)) ||
           (second.kind == Event::Fence && !second.isAliasFence);
  }

  void chooseReadsFrom(unsigned read) {
    while (read < events_.size() && events_[read].kind != Event::Read)
      ++read;
    if (read == events_.size()) {
      if (!(readsFrom_ | depends_).closure().isReflexive())
        chooseFenceOrder();
      return;
    }
    const Relation before = readsFrom_;
    for (unsigned write = 0; write < events_.size(); ++write) {
      if (events_[write].kind != Event::Write || events_[write].location != events_[read].location ||
          events_[write].value != events_[read].value || events_[write].pair == read)
        continue;
      readsFrom_ = before;
      readsFrom_.add(write, read);
      chooseReadsFrom(read + 1);
    }
    readsFrom_ = before;
  }

  void chooseFenceOrder() {
    std::vector<unsigned> fences = fencesSc_;
    do {
      Relation fenceOrder;
      for (std::size_t i = 0; i < fences.size(); ++i)
        for (std::size_t j = i + 1; j < fences.size(); ++j)
          if (strong_(fences[i], fences[j]))
            fenceOrder.add(fences[i], fences[j]);
      const Relation observed = fromWritesToReads(((strong_ & readsFrom_) | atomic_).closure());
      const Relation synchronises = strong_ & releases_.then(observed).then(acquires_);
      const Relation base = (order_ | synchronises | fenceOrder | barriers_).closure();
      bool contradicts = false;
      for (const unsigned a : fences)
        for (const unsigned b : fences)
          contradicts |= fenceOrder(a, b) && base(b, a);
      if (!contradicts)
        chooseCoherence(observed.orSame().then(preserved(base)));
    } while (std::ranges::next_permutation(fences).found);
  }

  Relation fromWritesToReads(const Relation &all) const {
    Relation result;
    for (unsigned a = 0; a < events_.size(); ++a)
      for (unsigned b = 0; b < events_.size(); ++b)
        if (all(a, b) && events_[a].kind == Event::Write && events_[b].kind == Event::Read)
          result.add(a, b);
    return result;
  }

  /// Base causality between accesses by one kind of address, or with a fence of aliases on the way.
  Relation preserved(const Relation &base) const {
    Relation result;
    for (unsigned a = 0; a < events_.size(); ++a)
      for (unsigned b = 0; b < events_.size(); ++b) {
        if (!base(a, b) || !events_[a].isAccess() || !events_[b].isAccess() ||
            events_[a].location != events_[b].location)
          continue;
        bool fenced = isAddressSame(events_[a], events_[b]);
        for (unsigned fence = 0; fence < events_.size(); ++fence)
          fenced |= events_[fence].isAliasFence && base(a, fence) && base(fence, b);
        if (fenced)
          result.add(a, b);
      }
    return result;
  }

  void chooseCoherence(const Relation &causality) {
    Relation coherence;
    for (unsigned a = 0; a < events_.size(); ++a)
      for (unsigned b = 0; b < events_.size(); ++b)
        if (areWritesOfOnePlace(a, b) && (causality(a, b) || events_[a].thread == none))
          coherence.add(a, b);
    chooseCoherence(causality, coherence.closure());
  }
  bool areWritesOfOnePlace(unsigned a, unsigned b) const {
    return a != b && events_[a].kind == Event::Write && events_[b].kind == Event::Write &&
           events_[a].location == events_[b].location && events_[b].thread != none;
  }
  void chooseCoherence(const Relation &causality, const Relation &coherence) {
    if (coherence.isReflexive())
      return;
    for (unsigned a = 0; a < events_.size(); ++a)
      for (unsigned b = 0; b < a; ++b) {
        if (!areWritesOfOnePlace(a, b) || !strong_(a, b) || coherence(a, b) || coherence(b, a))
          continue;
        for (const auto &[first, second] : {std::pair{a, b}, std::pair{b, a}}) {
          Relation more = coherence;
          more.add(first, second);
          chooseCoherence(causality, more.closure());
        }
        return;
      }
    const Relation fromReads = readsFrom_.inverse().then(coherence);
    const Relation torn = (strong_ & fromReads).then(strong_ & coherence) & atomic_;
    for (unsigned a = 0; a < events_.size(); ++a)
      for (unsigned b = 0; b < events_.size(); ++b)
        if (torn(a, b))
          return;
    if (!(readsFrom_ | fromReads).then(causality).isReflexive())
      record(causality, coherence);
  }

  void record(const Relation &causality, const Relation &coherence) {
    ++allowed_.executions;
    const bool isInOrder = !(order_ | readsFrom_ | coherence).closure().isReflexive();
    bool races = false;
    for (unsigned a = litmusLocations; a < events_.size(); ++a)
      for (unsigned b = a + 1; b < events_.size(); ++b) {
        const Event &first = events_[a], &second = events_[b];
        races |= first.isAccess() && second.isAccess() && first.location == second.location &&
                 (first.kind == Event::Write || second.kind == Event::Write) && !strong_(a, b) && !causality(a, b) &&
                 !causality(b, a);
      }
    allowed_.races |= races;
    allowed_.racesInOrder |= races && isInOrder;
    Outcome outcome;
    for (const Path *path : paths_)
      for (const auto &[number, value] : path->results)
        outcome.results.at(number) = value;
    recordMemory(coherence, outcome, 0, isInOrder);
  }
  /// The last writes of each location may stay.
  void recordMemory(const Relation &coherence, Outcome &outcome, unsigned location, bool isInOrder) {
    if (location == litmusLocations) {
      allowed_.outcomes.insert(outcome);
      if (isInOrder)
        allowed_.inOrder.insert(outcome);
      return;
    }
    for (unsigned a = 0; a < events_.size(); ++a) {
      if (events_[a].kind != Event::Write || events_[a].location != location)
        continue;
      bool isLast = true;
      for (unsigned b = 0; b < events_.size(); ++b)
        isLast &= !coherence(a, b);
      if (!isLast)
        continue;
      outcome.memory[location] = events_[a].value;
      recordMemory(coherence, outcome, location + 1, isInOrder);
    }
  }

  const Litmus &litmus_;
  const std::vector<const Path *> paths_;
  Allowed &allowed_;
  std::vector<Event> events_;     ///< those that are there at the beginning first
  std::vector<unsigned> firstOf_; ///< [event]: the first of its thread
  Relation order_, strong_, barriers_, atomic_, depends_, releases_, acquires_;
  std::vector<unsigned> fencesSc_;
  Relation readsFrom_;
};

} // namespace

Allowed enumerate(const Litmus &litmus) {
  std::string text = ".version 9.0\n.target sm_90\n";
  for (std::size_t i = 0; i < litmus.threads.size(); ++i)
    text += litmusEntry(litmus.threads[i], i);
  const Module module = readModule(text);
  // Values that are read are those that are written, if others are read that are written, and so on.
  std::set<std::uint64_t> values{0};
  for (const auto &[location, value] : litmus.initial)
    values.insert(value);
  Allowed allowed;
  std::vector<std::vector<Path>> paths;
  for (unsigned round = 0;; ++round) {
    const std::size_t before = values.size();
    paths.clear();
    for (unsigned thread = 0; thread < litmus.threads.size(); ++thread) {
      Paths all(module, thread, values);
      allowed.isCut |= all.isCut;
      paths.push_back(std::move(all.all));
    }
    for (const std::vector<Path> &some : paths)
      for (const Path &path : some)
        for (const Event &event : path.events)
          if (event.kind == Event::Write)
            values.insert(event.value);
    constexpr unsigned rounds = 4;
    if (values.size() == before || round == rounds)
      break;
  }
  std::vector<const Path *> chosen;
  const std::function<void(std::size_t)> choose = [&](std::size_t thread) {
    if (thread == paths.size()) {
      Executions(litmus, chosen, allowed);
      return;
    }
    for (const Path &path : paths[thread]) {
      chosen.push_back(&path);
      choose(thread + 1);
      chosen.pop_back();
    }
  };
  choose(0);
  return allowed;
}

} // namespace mscclc::ptx

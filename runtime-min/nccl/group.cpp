#include "group.h"

#include "invariant.h"
#include "library.h"
#include "log.h"
#include "real.h"
#include "side_table.h"
#include "team.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace mscclc::nccl {
namespace {

/// A call with its rank's member and the choice of a kernel.
struct Planned {
  Call call;
  std::shared_ptr<Member> member;
  Choice choice;
};
using Plan = std::vector<Planned>;

struct Group {
  int depth = 0;
  Plan plan;                               ///< collectives that kernels may run, at most one for each communicator
  std::vector<Comm> passedOn;              ///< communicators for which NCCL runs the collectives of this group
  std::vector<std::pair<int, Comm>> ended; ///< operations that the program has destroyed within the group
  std::vector<Registration> registrations;
};
thread_local Group group;

/// Returns the first result that is neither Success nor InProgress; otherwise the last one.
int worst(int a, int b) {
  return a != Success && a != InProgress ? a : b;
}

/// Returns InvalidUsage if a call must not go to NCCL (MSCCLC_INVARIANT), otherwise Success. `why` is the reason why no
/// kernel runs it.
int refuse(const Call &call, const std::string &why) {
  if (invariance() == Invariance::Off)
    return Success;
  const std::shared_ptr<Member> member = memberOf(call.comm);
  if (member && isRefused(shapeOf(call, member->ranks, member->ranksPerNode), why))
    return InvalidUsage;
  return Success;
}

/// Passes a collective on, unless it is refused.
int toNccl(const Call &call, const char *why) {
  const int refused = refuse(call, std::string("NCCL runs it, because ") + why);
  return refused != Success ? refused : passOn(call);
}

int passOnAsGroup(const std::vector<Call> &calls) {
  if (calls.size() == 1)
    return passOn(calls.front());
  int result = real().groupStart();
  if (result != Success)
    return result;
  for (const Call &call : calls)
    result = worst(result, passOn(call));
  return worst(result, real().groupEnd());
}

bool hasBuffers(const Planned &planned) {
  const std::optional<Extent> extent = extentOf(shapeOf(planned.call, planned.member->ranks), planned.member->rank);
  return !extent || ((extent->input == 0 || planned.call.send != nullptr) &&
                     (extent->output == 0 || planned.call.recv != nullptr));
}

/// True if the call takes part in the decision about a communicator's collectives. Sends, receives and empty calls do
/// not, because other ranks need not have them in their groups.
bool isCollective(const Call &call) {
  return call.kind != Kind::Send && call.kind != Kind::Recv && call.count != 0;
}

/// Plans a call. If NCCL runs it, returns nothing and sets `why` to the reason. The decision uses only data that all
/// ranks of the communicator share. The kernels of this rank are used only after all ranks are known to have the same
/// kernels.
std::optional<Planned> plan(const Call &call, const char *&why) {
  why = "kernels do not run in this process";
  if (!isCollective(call) || !cudaStarts())
    return std::nullopt;
  why = "the configuration of the call asks for it";
  if (call.foreignConfig != nullptr)
    return std::nullopt;
  why = "kernels do not run in this communicator";
  Planned planned{call, memberOf(call.comm), {}};
  if (!planned.member)
    return std::nullopt;
  const auto isNccls = [&](const char *reason) {
    why = reason;
    if (saysInfo()) // without this condition, every call would build the text
      info(describe(shapeOf(call, planned.member->ranks)) + ": NCCL runs it, because " + why);
    return std::nullopt;
  };
  if (reduces(call.kind) &&
      (!reduceOpOf(shapeOf(call, planned.member->ranks).op) || dtypeOf(call.type) == MSCCLC_ANY_DTYPE))
    return isNccls("kernels do not have this type or operation");
  if (!planned.member->known)
    return planned;
  if (!teamOf(*planned.member))
    return std::nullopt;
  if (!mayServe(call.kind, planned.member->ranks))
    return isNccls("there is no kernel for it");
  return planned;
}

/// The calls of a team's members.
struct Part {
  std::shared_ptr<Team> team;
  std::vector<const Planned *> planned;
};

/// Runs the calls of a team. Passes them on if NCCL has to run them.
int runPart(const Part &part) {
  std::vector<std::pair<Member *, const Call *>> mine;
  std::vector<Call> calls;
  for (const Planned *planned : part.planned) {
    mine.emplace_back(planned->member.get(), &planned->call);
    calls.push_back(planned->call);
  }
  const Planned &first = *part.planned.front();
  const Outcome outcome = part.team->run(mine, first.choice);
  const auto what = [&] { // a function, because most calls do not need the text
    return describe(shapeOf(first.call, first.member->ranks, first.member->ranksPerNode)) + ": ";
  };
  const auto kernel = [&] { return std::string("kernel '") + first.choice.kernel->name; };
  switch (outcome.way) {
  case Outcome::Way::Ours:
    return Success;
  case Outcome::Way::PassOn:
    warn(what() + "NCCL runs it, because " + kernel() + "' did not run: " + outcome.why);
    if (const int refused = refuse(first.call, "NCCL runs it, because " + kernel() + "' did not run");
        refused != Success)
      return refused;
    return passOnAsGroup(calls);
  case Outcome::Way::Failed:
    warn(what() + kernel() + "' failed: " + outcome.why);
    return outcome.result;
  }
  return InternalError;
}

/// Runs the calls of a group. Each communicator's call is decided separately. Teams run in the program's order, because
/// their kernels may wait for each other in one stream.
int run(Plan &plan) {
  std::vector<std::shared_ptr<Member>> members;
  for (const Planned &planned : plan) {
    if (awaitsRegistrations(planned.call.comm))
      endAwaited(planned.call.comm, settled(planned.call.comm, InProgress) == Success);
    members.push_back(planned.member);
    if (!hasBuffers(planned))
      return InvalidArgument;
  }
  if (const int met = meet(members); met != Success) {
    warn("the ranks of a communicator could not meet");
    return met;
  }
  std::vector<Part> parts;
  std::vector<Call> others;
  int result = Success;
  for (Planned &planned : plan) {
    const std::shared_ptr<Team> team = teamOf(*planned.member);
    planned.choice.why = "NCCL runs it, because kernels do not run in this communicator";
    if (team) {
      Shape shape = shapeOf(planned.call, planned.member->ranks, planned.member->ranksPerNode);
      shape.inPlace = worksInPlace(planned.call, shape, *planned.member);
      planned.choice = choose(shape);
    }
    if (planned.choice.kernel == nullptr) {
      const int refused = refuse(planned.call, planned.choice.why);
      result = worst(result, refused);
      if (refused == Success)
        others.push_back(planned.call);
      continue;
    }
    auto part = std::find_if(parts.begin(), parts.end(), [&](const Part &known) { return known.team == team; });
    if (part == parts.end())
      part = parts.insert(part, Part{team, {}});
    part->planned.push_back(&planned);
  }
  if (!others.empty())
    result = worst(result, passOnAsGroup(others));
  for (const Part &part : parts)
    result = worst(result, runPart(part));
  return result;
}

/// Records a collective within a group, or passes it on to NCCL at once. A call that is not recorded cannot be passed
/// on at the end of the group: objects of the call, such as an operation of the program, may be gone by then.
int record(const Call &call) {
  constexpr const char *several = "a group has several calls of the communicator";
  if (std::count(group.passedOn.begin(), group.passedOn.end(), call.comm) != 0)
    return toNccl(call, several);
  const auto before = std::find_if(group.plan.begin(), group.plan.end(),
                                   [&](const Planned &planned) { return planned.call.comm == call.comm; });
  if (before == group.plan.end()) {
    const char *why = nullptr;
    if (std::optional<Planned> planned = plan(call, why)) {
      group.plan.push_back(std::move(*planned));
      return Success;
    }
    group.passedOn.push_back(call.comm);
    return toNccl(call, why);
  }
  info("a group has several calls of a communicator: NCCL runs all of them");
  const Call first = before->call;
  group.plan.erase(before);
  group.passedOn.push_back(call.comm);
  const int result = toNccl(first, several);
  return worst(result, toNccl(call, several));
}

/// Destroys the operations that the program destroyed within the group.
int endOperations() {
  int result = Success;
  for (const auto &[op, comm] : std::exchange(group.ended, {}))
    result = worst(result, real().redOpDestroy(op, comm));
  return result;
}

/// Handles the group's registrations. If `result` is Success, NCCL has completed them. If it is InProgress, NCCL may
/// need this thread for the calls of other ranks, so nothing waits here.
int endRegistrations(int result) {
  for (const Registration &registration : std::exchange(group.registrations, {})) {
    if (result == Success)
      noteRegistration(registration);
    else if (result == InProgress)
      awaitRegistration(registration);
  }
  return result;
}

} // namespace

int registers(const Registration &registration, int result) {
  if (result != Success && result != InProgress)
    return result;
  group.registrations.push_back(registration);
  return group.depth == 0 ? endRegistrations(result) : result;
}

int submit(const Call &call) {
  if (group.depth != 0)
    return isCollective(call) ? record(call) : passOn(call);
  refusedCall().clear();
  const char *why = nullptr;
  std::optional<Planned> planned = plan(call, why);
  if (!planned)
    return toNccl(call, why);
  Plan alone{std::move(*planned)};
  return run(alone);
}

int groupStart() {
  const int result = real().groupStart();
  if (result == Success && group.depth++ == 0)
    refusedCall().clear();
  return result;
}

int groupEnd() {
  group.depth = std::max(0, group.depth - 1);
  if (group.depth != 0)
    return real().groupEnd();
  group.passedOn.clear();
  Plan plan = std::exchange(group.plan, {});
  // The calls that are not in `plan` are for NCCL, and come first.
  const int result = endRegistrations(real().groupEnd());
  const bool isWell = result == Success || result == InProgress;
  const int ran = plan.empty() || !isWell ? result : run(plan);
  const int refused = refusedCall().empty() ? Success : InvalidUsage;
  return worst(refused, worst(ran, endOperations()));
}

int endOperation(int op, Comm comm) {
  if (group.depth == 0)
    return real().redOpDestroy(op, comm);
  group.ended.emplace_back(op, comm);
  return Success;
}

int groupSimulateEnd(void *info) {
  group.depth = std::max(0, group.depth - 1);
  int result = Success;
  if (group.depth == 0) {
    group.passedOn.clear();
    group.registrations.clear();
    for (const Planned &planned : std::exchange(group.plan, {}))
      result = worst(result, passOn(planned.call));
    result = worst(result, endOperations());
  }
  return worst(result, real().groupSimulateEnd(info));
}

} // namespace mscclc::nccl

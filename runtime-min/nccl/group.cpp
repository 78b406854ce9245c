#include "group.h"

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
  std::vector<Comm> passedOn;              ///< communicators whose collectives in this group NCCL runs
  std::vector<std::pair<int, Comm>> ended; ///< operations of the program that it has destroyed within the group
  std::vector<Registration> registrations;
};
thread_local Group group;

/// Returns the first result that is neither Success nor InProgress; otherwise the last one.
int worst(int a, int b) {
  return a != Success && a != InProgress ? a : b;
}

int passOnAll(const std::vector<Call> &calls) {
  int result = Success;
  for (const Call &call : calls)
    result = worst(result, passOn(call));
  return result;
}

int passOnAsGroup(const std::vector<Call> &calls) {
  if (calls.size() == 1)
    return passOn(calls.front());
  int result = real().groupStart();
  if (result != Success)
    return result;
  result = passOnAll(calls);
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

/// Plans a call; none if NCCL runs it. The decision uses only data that all ranks of the communicator share. The
/// kernels of this rank are used only after all ranks are known to have the same kernels.
std::optional<Planned> plan(const Call &call) {
  if (!isCollective(call) || call.foreignConfig != nullptr || !cudaStarts())
    return std::nullopt;
  Planned planned{call, memberOf(call.comm), {}};
  if (!planned.member)
    return std::nullopt;
  const auto isNccls = [&](const char *why) {
    if (saysInfo()) // without this condition, every call would build the text
      info(describe(shapeOf(call, planned.member->ranks)) + ": NCCL, as " + why);
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

/// Runs the calls of a team. Passes on those that NCCL has to run.
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
    warn(what() + "NCCL runs it, as " + kernel() + "' did not: " + outcome.why);
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
  for (Planned &planned : plan) {
    const std::shared_ptr<Team> team = teamOf(*planned.member);
    if (team)
      planned.choice = choose(shapeOf(planned.call, planned.member->ranks, planned.member->ranksPerNode));
    if (planned.choice.kernel == nullptr) {
      others.push_back(planned.call);
      continue;
    }
    auto part = std::find_if(parts.begin(), parts.end(), [&](const Part &known) { return known.team == team; });
    if (part == parts.end())
      part = parts.insert(part, Part{team, {}});
    part->planned.push_back(&planned);
  }
  int result = others.empty() ? int{Success} : passOnAsGroup(others);
  for (const Part &part : parts)
    result = worst(result, runPart(part));
  return result;
}

/// Records a collective within a group, or passes it on at once. It is passed on at once because objects that it refers
/// to, such as an operation of the program, need not exist until the end of the group.
int record(const Call &call) {
  if (std::count(group.passedOn.begin(), group.passedOn.end(), call.comm) != 0)
    return passOn(call);
  const auto before = std::find_if(group.plan.begin(), group.plan.end(),
                                   [&](const Planned &planned) { return planned.call.comm == call.comm; });
  if (before == group.plan.end()) {
    if (std::optional<Planned> planned = plan(call)) {
      group.plan.push_back(std::move(*planned));
      return Success;
    }
    group.passedOn.push_back(call.comm);
    return passOn(call);
  }
  info("a group with several calls of a communicator: NCCL has all of them");
  const Call first = before->call;
  group.plan.erase(before);
  group.passedOn.push_back(call.comm);
  return passOnAll({first, call});
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
  std::optional<Planned> planned = plan(call);
  if (!planned)
    return passOn(call);
  Plan alone{std::move(*planned)};
  return run(alone);
}

int groupStart() {
  const int result = real().groupStart();
  if (result == Success)
    ++group.depth;
  return result;
}

int groupEnd() {
  group.depth = std::max(0, group.depth - 1);
  if (group.depth != 0)
    return real().groupEnd();
  group.passedOn.clear();
  Plan plan = std::exchange(group.plan, {});
  // The rest of the group is for NCCL, and comes first.
  const int result = endRegistrations(real().groupEnd());
  const bool isWell = result == Success || result == InProgress;
  const int ran = plan.empty() || !isWell ? result : run(plan);
  return worst(ran, endOperations());
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

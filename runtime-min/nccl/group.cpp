#include "group.h"

#include "library.h"
#include "log.h"
#include "real.h"
#include "side_table.h"
#include "team.h"

#include <algorithm>
#include <map>
#include <utility>

namespace mscclc::nccl {
namespace {

struct Group {
  int depth = 0;
  std::vector<Call> calls;
  bool isPassedOn = false; ///< NCCL's: nothing is recorded any more
};
thread_local Group group;

/// The first that is no success and no InProgress; else the last.
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

/// A call with what this library knows of it.
struct Planned {
  Call call;
  std::shared_ptr<Member> member;
  Choice choice;
};
using Plan = std::vector<Planned>;

bool hasBuffers(const Planned &planned) {
  const std::optional<Extent> extent = extentOf(shapeOf(planned.call, planned.member->ranks), planned.member->rank);
  return !extent || ((extent->input == 0 || planned.call.send != nullptr) &&
                     (extent->output == 0 || planned.call.recv != nullptr));
}

/// One call for each communicator, all of which may have a kernel. Looks at what all ranks share.
bool mayBeOurs(const std::vector<Call> &calls, Plan &plan) {
  std::vector<Comm> comms;
  for (const Call &call : calls)
    comms.push_back(call.comm);
  std::sort(comms.begin(), comms.end());
  if (std::adjacent_find(comms.begin(), comms.end()) != comms.end()) {
    info("a group of " + std::to_string(calls.size()) + " calls: NCCL, as a communicator has several");
    return false;
  }
  for (const Call &call : calls) {
    Planned planned{call, memberOf(call.comm), {}};
    if (!planned.member || call.count == 0)
      return false;
    const bool known = !reduces(call.kind) || (reduceOpOf(call.op) && dtypeOf(call.type) != MSCCLC_ANY_DTYPE);
    if (!known || !mayServe(call.kind, planned.member->ranks)) {
      info(describe(shapeOf(call, planned.member->ranks)) + ": NCCL, as " +
           (known ? "there is no kernel for it" : "kernels do not have this type or operation"));
      return false;
    }
    if (planned.member->known && !planned.member->team)
      return false;
    plan.push_back(std::move(planned));
  }
  return true;
}

/// The calls of one team. Those of a team that NCCL has to run are passed on.
int runTeam(const std::vector<const Planned *> &all) {
  std::vector<std::pair<Member *, const Call *>> mine;
  std::vector<Call> calls;
  for (const Planned *planned : all) {
    mine.emplace_back(planned->member.get(), &planned->call);
    calls.push_back(planned->call);
  }
  const Planned &first = *all.front();
  const Outcome outcome = first.member->team->run(mine, first.choice);
  const std::string what = describe(shapeOf(first.call, first.member->ranks));
  switch (outcome.way) {
  case Outcome::Way::Ours:
    return Success;
  case Outcome::Way::PassOn:
    warn(what + ": NCCL runs it, as kernel '" + first.choice.kernel->name + "' did not: " + outcome.why);
    return passOnAsGroup(calls);
  case Outcome::Way::Failed:
    warn(what + ": kernel '" + first.choice.kernel->name + "' failed: " + outcome.why);
    return InternalError;
  }
  return InternalError;
}

/// Calls of different teams go in an order that all ranks share: their kernels may wait for each other in one stream.
int run(Plan &plan) {
  std::vector<std::shared_ptr<Member>> members;
  std::vector<Call> calls;
  for (const Planned &planned : plan) {
    members.push_back(planned.member);
    calls.push_back(planned.call);
    if (!hasBuffers(planned))
      return InvalidArgument;
  }
  if (const int met = meet(members); met != Success) {
    warn("the ranks of a communicator could not meet");
    return met;
  }
  std::map<std::string, std::vector<const Planned *>> teams;
  for (Planned &planned : plan) {
    if (planned.member->team)
      planned.choice = choose(shapeOf(planned.call, planned.member->ranks));
    if (planned.choice.kernel == nullptr)
      return passOnAsGroup(calls);
    teams[planned.member->team->meeting()].push_back(&planned);
  }
  int result = Success;
  for (const auto &[meeting, all] : teams)
    result = worst(result, runTeam(all));
  return result;
}

} // namespace

int submit(const Call &call) {
  Plan plan;
  if (group.depth != 0 && !group.isPassedOn) {
    group.calls.push_back(call);
    if (mayBeOurs(group.calls, plan))
      return Success;
    // At once: what the call names, as an operation of the program's own, need not live to the end of the group.
    group.isPassedOn = true;
    return passOnAll(std::exchange(group.calls, {}));
  }
  if (group.depth != 0)
    return passOn(call);
  return mayBeOurs({call}, plan) ? run(plan) : passOn(call);
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
  group.isPassedOn = false;
  const std::vector<Call> calls = std::exchange(group.calls, {});
  Plan plan;
  if (calls.empty() || !mayBeOurs(calls, plan)) {
    const int result = passOnAll(calls);
    return worst(result, real().groupEnd());
  }
  // What else the group has is NCCL's, and comes first.
  const int result = real().groupEnd();
  return result == Success || result == InProgress ? run(plan) : result;
}

int groupSimulateEnd(void *info) {
  group.depth = std::max(0, group.depth - 1);
  int result = Success;
  if (group.depth == 0) {
    result = passOnAll(std::exchange(group.calls, {}));
    group.isPassedOn = false;
  }
  return worst(result, real().groupSimulateEnd(info));
}

} // namespace mscclc::nccl

// The data that this library keeps for each real communicator. The keys are the program's handles.
#pragma once

#include "member.h"
#include "team.h"

namespace mscclc::nccl {

/// Returns the entry of a communicator, and makes it at the first call; null if `comm` is not a communicator.
std::shared_ptr<Member> memberOf(Comm comm);
/// Exchanges the descriptions of new members with the other ranks of their communicators. All ranks reach this at the
/// same call. Returns a Result. If a member has no team afterwards, NCCL runs its calls.
int meet(const std::vector<std::shared_ptr<Member>> &members);
/// Returns the member's current team, for any thread. An abort removes the team. Null: NCCL runs every call.
std::shared_ptr<Team> teamOf(const Member &member);
/// Removes the entry of a communicator that ends, and returns it; null if there is none.
std::shared_ptr<Member> take(Comm comm);
/// Makes the running kernels and the waiting calls of the member's communicator give up.
void abortTeam(Member &member);
/// Ends the member's part in its team. This is collective over processes if they are on several nodes and the team was
/// not aborted.
void leaveTeam(Member &member);
/// Returns the failure of a communicator's kernels, if there is one.
Failure failureOf(Comm comm);

} // namespace mscclc::nccl

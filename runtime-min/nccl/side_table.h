// What this library knows of the real communicators. Their handles are the program's; here they are keys.
#pragma once

#include "member.h"
#include "team.h"

namespace mscclc::nccl {

/// The entry of a communicator, made when it is first asked for; null for what is no communicator.
std::shared_ptr<Member> memberOf(Comm comm);
/// Brings those that are not yet known together with the other ranks of their communicators. All ranks come here at the
/// same call. Returns a Result; a member without a team is then NCCL's.
int meet(const std::vector<std::shared_ptr<Member>> &members);
/// The member's team as it is at this moment, for any thread: an abort takes it away. Null: NCCL runs every call.
std::shared_ptr<Team> teamOf(const Member &member);
/// The communicator ends: takes its entry out; null if there is none.
std::shared_ptr<Member> take(Comm comm);
/// Makes what runs or waits for the member's communicator give up.
void abortTeam(Member &member);
/// Ends the member's part in its team. Collective over processes on several nodes, unless it was aborted.
void leaveTeam(Member &member);
Failure failureOf(Comm comm);

} // namespace mscclc::nccl

#include "side_table.h"

#include "digest.h"
#include "library.h"
#include "log.h"
#include "real.h"
#include "team.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <thread>
#include <unistd.h>
#include <utility>

namespace mscclc::nccl {
namespace {

/// The description of a rank that it sends to all ranks. All bytes are sent, so it must not have padding.
struct RankInfo {
  uint64_t process; ///< unique for each process
  uint64_t host;    ///< equal for processes that can meet at a socket and share memory
  uint64_t kernels; ///< the digest that loadKernels() returned
  char meeting[40]; ///< name of the meeting point; all ranks use the name of rank 0
};
static_assert(sizeof(RankInfo) <= mostToTell, "a description fits into one exchange");

struct Table {
  std::mutex mutex;
  std::map<Comm, std::shared_ptr<Member>> members;
  std::map<std::string, std::weak_ptr<Team>> teams; ///< [name of the meeting point]
};
/// Returns the only instance. It is never destroyed: communicators that a program does not destroy stay until the
/// process ends.
Table &table() {
  static Table *const instance = new Table;
  return *instance;
}

uint64_t hostDigest() {
  char name[256] = {}, network[256] = {};
  const char *const named = std::getenv("NCCL_HOSTID"); // NCCL uses it to distinguish nodes
  ::gethostname(name, sizeof(name) - 1);
  if (::readlink("/proc/self/ns/net", network, sizeof(network) - 1) < 0)
    network[0] = '\0';
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  return digestOf(std::string(name) + "\n" + network + "\n" + boot + "\n" + (named == nullptr ? "" : named));
}

uint64_t processKey() {
  static const uint64_t key = [] {
    std::random_device random;
    return uint64_t{random()} << 32 | random();
  }();
  // After a fork, the child is another process.
  return key ^ (static_cast<uint64_t>(::getpid()) * 0x9e3779b97f4a7c15u);
}

RankInfo infoOf(const Member &member) {
  std::random_device random;
  RankInfo info{};
  info.process = processKey();
  info.host = hostDigest();
  info.kernels = loadKernels(member.ranks);
  std::snprintf(info.meeting, sizeof(info.meeting), "@mscclc-nccl-%08x%08x%08x", random(), random(), random());
  return info;
}

/// True if ranks with equal values of `key` follow each other.
bool areTogether(const std::vector<RankInfo> &infos, uint64_t RankInfo::*key) {
  std::vector<uint64_t> runs;
  for (const RankInfo &info : infos)
    if (runs.empty() || runs.back() != info.*key)
      runs.push_back(info.*key);
  std::sort(runs.begin(), runs.end());
  return std::adjacent_find(runs.begin(), runs.end()) == runs.end();
}

/// Returns the reason why NCCL must run the calls of the ranks that `infos` describes. If kernels can run the calls,
/// returns an empty text, and sets `result` to the layout of the team, as rank `rank` sees it. All ranks get the same
/// answer, because all have the same `infos`.
std::string layOut(const std::vector<RankInfo> &infos, uint32_t rank, Team::Layout &result) {
  for (const RankInfo &info : infos)
    if (info.kernels != infos[0].kernels)
      return "the ranks have different kernels, windows or versions";
  const auto isOther = [&](const RankInfo &info) { return info.host != infos[0].host; };
  const auto perNode = std::find_if(infos.begin(), infos.end(), isOther) - infos.begin();
  bool isEven = areTogether(infos, &RankInfo::host) && infos.size() % static_cast<size_t>(perNode) == 0;
  for (size_t other = 1; other < infos.size(); ++other)
    isEven &= (infos[other].host != infos[other - 1].host) == (other % static_cast<size_t>(perNode) == 0);
  if (!isEven)
    return "the nodes do not have equally many ranks that follow each other";
  result.ranksPerNode = static_cast<uint32_t>(perNode);
  const auto isHere = [&](const RankInfo &info) { return info.process == infos[rank].process; };
  // Every rank checks the ranks of all processes, so that all ranks get the same answer.
  if (!areTogether(infos, &RankInfo::process))
    return "the ranks of a process do not follow each other";
  result.meeting = infos[0].meeting;
  result.ranks = static_cast<uint32_t>(infos.size());
  result.locals = static_cast<uint32_t>(std::count_if(infos.begin(), infos.end(), isHere));
  result.firstLocal = static_cast<uint32_t>(std::find_if(infos.begin(), infos.end(), isHere) - infos.begin());
  return "";
}

void joinTeam(Member &member, const std::string &said) {
  std::vector<RankInfo> infos(member.ranks);
  std::memcpy(infos.data(), said.data(), infos.size() * sizeof(RankInfo));
  for (RankInfo &info : infos)
    info.meeting[sizeof(info.meeting) - 1] = '\0';
  Team::Layout layout;
  const std::string why = layOut(infos, member.rank, layout);
  member.known = true;
  if (!why.empty()) {
    info("a communicator of " + std::to_string(member.ranks) + " ranks: NCCL runs its calls, because " + why);
    return;
  }
  member.ranksPerNode = layout.ranksPerNode;
  Table &all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  std::weak_ptr<Team> &entry = all.teams[layout.meeting];
  member.team = entry.lock();
  if (!member.team) {
    member.team = std::make_shared<Team>(layout);
    entry = member.team;
  }
  member.team->join(member);
}

} // namespace

std::shared_ptr<Member> memberOf(Comm comm) {
  Table &all = table();
  if (comm == nullptr)
    return nullptr;
  {
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (const auto found = all.members.find(comm); found != all.members.end())
      return found->second;
  }
  auto member = std::make_shared<Member>();
  int ranks = 0, rank = 0;
  // A non-blocking communicator may still be in the making, in the background.
  if (settled(comm, InProgress) != Success || real().commCount(comm, &ranks) != Success ||
      real().commUserRank(comm, &rank) != Success || real().commCuDevice(comm, &member->device) != Success ||
      ranks <= 0 || rank < 0 || rank >= ranks)
    return nullptr;
  member->comm = comm;
  member->ranks = static_cast<uint32_t>(ranks);
  member->rank = static_cast<uint32_t>(rank);
  const std::lock_guard<std::mutex> lock(all.mutex);
  return all.members.emplace(comm, member).first->second;
}

int meet(const std::vector<std::shared_ptr<Member>> &members) {
  std::vector<Member *> strangers;
  std::vector<std::string> said;
  for (const std::shared_ptr<Member> &member : members)
    if (!member->known) {
      const RankInfo info = infoOf(*member);
      strangers.push_back(member.get());
      said.emplace_back(reinterpret_cast<const char *>(&info), sizeof(info));
    }
  if (strangers.empty())
    return Success;
  if (const int result = tellAll(strangers, said); result != Success)
    return result;
  for (size_t i = 0; i < strangers.size(); ++i)
    joinTeam(*strangers[i], said[i]);
  return Success;
}

std::shared_ptr<Member> take(Comm comm) {
  Table &all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  for (auto entry = all.teams.begin(); entry != all.teams.end();)
    entry = entry->second.expired() ? all.teams.erase(entry) : std::next(entry);
  const auto found = all.members.find(comm);
  if (found == all.members.end())
    return nullptr;
  std::shared_ptr<Member> member = found->second;
  all.members.erase(found);
  return member;
}

std::shared_ptr<Team> teamOf(const Member &member) {
  const std::lock_guard<std::mutex> lock(table().mutex);
  return member.team;
}

void abortTeam(Member &member) {
  if (const std::shared_ptr<Team> team = teamOf(member))
    team->abort();
}

void leaveTeam(Member &member) {
  std::shared_ptr<Team> team;
  {
    const std::lock_guard<std::mutex> lock(table().mutex);
    team = std::exchange(member.team, nullptr);
  }
  if (team)
    team->leave(member);
}

Failure failureOf(Comm comm) {
  Table &all = table();
  std::shared_ptr<Team> team;
  {
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (const auto found = all.members.find(comm); found != all.members.end())
      team = found->second->team;
  }
  return team ? team->failure() : Failure{};
}

} // namespace mscclc::nccl

#include "meeting_point.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sys/random.h>

namespace mscclc::rt {
namespace {

/// Distinguishes versions of ProcessDescription, all of which have the same size.
constexpr uint32_t infoMagic = 0x4d534344u + MSCCLC_ABI_VERSION;

/// The description of a process, which the process sends by the exchange. Texts end with a zero.
struct ProcessDescription {
  uint32_t magic = 0;
  int32_t code = MSCCLC_OK; ///< code of the failure in `text`; MSCCLC_OK if there is none
  RankRange range;
  char machine[64] = {}; ///< the same for all processes that can meet at a path
  char host[64] = {};
  char text[256] = {};   ///< the reason why the process cannot begin
  Address path, network; ///< the addresses of the hub
  Token token{};
};

template <size_t Size> void putText(char (&to)[Size], const std::string &text) {
  std::memcpy(to, text.data(), std::min(text.size(), Size - 1));
}

/// Returns a name of this machine. Processes with the same name can meet at a path. With `mayBeApart`, different
/// containers of one machine have different names, because they may not see each other's folders.
std::string nameOfMachine(const char *host, bool mayBeApart) {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  char folders[27] = {}; // "mnt:[4026531840]"
  if (mayBeApart && ::readlink("/proc/self/ns/mnt", folders, sizeof(folders) - 1) < 0)
    folders[0] = '\0';
  return (boot.empty() ? host : boot) + folders;
}

/// Finds the index of this process, and the number of processes.
Status countProcesses(const Allgather &allgather, const RankRange &mine, uint32_t ranks, uint32_t &process,
                      uint32_t &processes) {
  process = allgather.process;
  processes = allgather.processes;
  if (processes == 0) {
    if (ranks % mine.count != 0 || mine.first % mine.count != 0)
      return failure(MSCCLC_ERROR_ARGUMENT,
                     "allgather: %s of %u do not determine the index of a process; give `process` and `processes`",
                     nameOf(mine).c_str(), ranks);
    process = mine.first / mine.count;
    processes = ranks / mine.count;
  }
  if (process >= processes || processes > ranks)
    return failure(MSCCLC_ERROR_ARGUMENT, "allgather: no process %u of %u in a communicator of %u ranks", process,
                   processes, ranks);
  return {};
}

/// Returns the first reason why these processes cannot meet at a socket. All of them get the same result.
Status checkInfos(const std::vector<ProcessDescription> &infos, bool mayBeApart) {
  for (size_t i = 0; i < infos.size(); ++i) {
    const ProcessDescription &info = infos[i];
    if (info.magic != infoMagic)
      return failure(MSCCLC_ERROR_RENDEZVOUS, "allgather: nothing came from process %zu, or it is of another version",
                     i);
    if (info.code != MSCCLC_OK)
      return {info.code, info.text};
    if (!mayBeApart && std::strcmp(info.machine, infos[0].machine) != 0)
      return failure(MSCCLC_ERROR_UNSUPPORTED,
                     "%s are on host '%s', %s on host '%s': ranks of different machines cannot share memory; they need "
                     "a communicator on NCCL",
                     nameOf(infos[0].range).c_str(), infos[0].host, nameOf(info.range).c_str(), info.host);
  }
  return {};
}

} // namespace

MeetingPoint::~MeetingPoint() {
  if (!made.empty() && made[0] != '@')
    ::unlink(made.c_str());
  if (!folder.empty())
    ::rmdir(folder.c_str());
}

Status MeetingPoint::take(const std::string &path, bool isHub) {
  MSCCLC_TRY(Address::ofPath(path, address));
  if (!isHub)
    return {};
  MSCCLC_TRY(listenAt(address, listener));
  made = path; // set after listenAt, so that only this process's socket is removed
  return {};
}

Status MeetingPoint::listenInNewFolder() {
  const char *const set = std::getenv("TMPDIR");
  std::string name;
  // A socket's path must be short, so a long TMPDIR is not used.
  for (const std::string &parent : {std::string(set == nullptr ? "" : set), std::string("/tmp")}) {
    name = parent + "/mscclc-XXXXXX";
    if (parent.empty() || parent[0] != '/' || name.size() > 90 || ::mkdtemp(name.data()) == nullptr)
      continue;
    folder = name;
    return take(folder + "/rank0", true);
  }
  return systemFailure("rendezvous: a folder '" + name + "' for the socket");
}

Status MeetingPoint::agree(const Allgather &allgather, const RankRange &mine, uint32_t ranks, FindAddress findAddress) {
  const bool mayBeApart = findAddress != nullptr;
  uint32_t process = 0, processes = 0;
  MSCCLC_TRY(countProcesses(allgather, mine, ranks, process, processes));
  std::vector<ProcessDescription> infos(processes);
  ProcessDescription &own = infos[process];
  own.magic = infoMagic;
  own.range = mine;
  ::gethostname(own.host, sizeof(own.host) - 1);
  putText(own.machine, nameOfMachine(own.host, mayBeApart));
  File onNetwork;
  if (mine.first == 0) {
    Status listening = listenInNewFolder();
    own.path = address;
    if (listening.ok() && mayBeApart)
      listening = findAddress(own.network);
    if (listening.ok() && mayBeApart)
      listening = listenAt(own.network, onNetwork);
    if (listening.ok() && mayBeApart && ::getrandom(own.token.data(), own.token.size(), 0) != sizeof(Token))
      listening = systemFailure("getrandom");
    own.code = listening.code;
    putText(own.text, listening.text);
  }
  if (const int32_t code = allgather.call(allgather.context, infos.data(), sizeof(ProcessDescription)); code != 0)
    return failure(MSCCLC_ERROR_RENDEZVOUS, "the allgather of the communicator's options failed: it returned %d", code);
  for (ProcessDescription &info : infos)
    info.machine[63] = info.host[63] = info.text[255] = '\0';
  MSCCLC_TRY(checkInfos(infos, mayBeApart));
  const auto hub =
      std::find_if(infos.begin(), infos.end(), [](const ProcessDescription &info) { return info.range.first == 0; });
  if (hub == infos.end())
    return failure(MSCCLC_ERROR_RENDEZVOUS, "allgather: no process has rank 0");
  token = hub->token;
  const bool together = std::all_of(infos.begin(), infos.end(), [&](const ProcessDescription &info) {
    return std::strcmp(info.machine, hub->machine) == 0;
  });
  address = together ? hub->path : hub->network;
  if (!together)
    listener = std::move(onNetwork);
  return {};
}

} // namespace mscclc::rt

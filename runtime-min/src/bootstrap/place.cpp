#include "bootstrap/place.h"

#include "bootstrap/tcp.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/random.h>

namespace mscclc::rt {
namespace {

/// Tells apart other versions of the card; they have the same size.
constexpr uint32_t cardMagic = 0x4d534343u + MSCCLC_ABI_VERSION;

/// What a process says of itself through the exchange. Texts end with a zero.
struct Card {
  uint32_t magic = cardMagic;
  int32_t code = MSCCLC_OK; ///< of `text`
  RankRange range{};
  char machine[64] = {}; ///< the same for all processes that can meet at a path
  char host[64] = {};
  char path[112] = {};    ///< the hub's socket
  char address[112] = {}; ///< the hub's on the network
  std::array<uint8_t, 16> token{};
  char text[256] = {}; ///< why the process cannot begin
};

template <size_t Size> void putText(char (&to)[Size], const std::string &text) {
  std::memcpy(to, text.data(), std::min(text.size(), Size - 1));
}
template <size_t Size> std::string textIn(const char (&from)[Size]) {
  return std::string(from, std::find(from, from + Size, '\0'));
}

/// The first line of a file, or "".
std::string lineOf(const char *path) {
  std::array<char, 64> line{};
  std::FILE *const file = std::fopen(path, "re");
  if (file == nullptr)
    return {};
  const bool got = std::fgets(line.data(), static_cast<int>(line.size()), file) != nullptr;
  std::fclose(file);
  const std::string text = got ? line.data() : "";
  return text.substr(0, text.find('\n'));
}

/// "mnt:[4026531840]", the same for processes that see the same folders; or "".
std::string mountNamespace() {
  std::array<char, 27> name{};
  const ssize_t got = ::readlink("/proc/self/ns/mnt", name.data(), name.size());
  return got < 0 ? std::string() : std::string(name.data(), static_cast<size_t>(got));
}

std::string ranksOf(const RankRange &range) {
  return range.local == 1 ? format("rank %u", range.first)
                          : format("ranks %u to %u", range.first, range.first + range.local - 1);
}

/// This process's index, and how many there are.
Status countProcesses(const Allgather &allgather, const RankRange &mine, uint32_t &process, uint32_t &processes) {
  process = allgather.process;
  processes = allgather.processes;
  if (processes == 0) {
    if (mine.ranks % mine.local != 0 || mine.first % mine.local != 0)
      return failure(MSCCLC_ERROR_ARGUMENT,
                     "allgather: %s of %u tell no index of a process; give `process` and `processes`",
                     ranksOf(mine).c_str(), mine.ranks);
    process = mine.first / mine.local;
    processes = mine.ranks / mine.local;
  }
  if (process >= processes || processes > mine.ranks)
    return failure(MSCCLC_ERROR_ARGUMENT, "allgather: no process %u of %u in a communicator of %u ranks", process,
                   processes, mine.ranks);
  return {};
}

/// The first reason why these processes cannot meet at a socket; the same in all of them.
Status checkCards(const std::vector<Card> &cards, bool mayBeApart) {
  const auto hub = std::find_if(cards.begin(), cards.end(), [](const Card &card) { return card.range.first == 0; });
  for (size_t i = 0; i < cards.size(); ++i) {
    const Card &card = cards[i];
    if (card.magic != cardMagic)
      return failure(MSCCLC_ERROR_RENDEZVOUS, "allgather: nothing came from process %zu, or it is of another version",
                     i);
    if (card.code != MSCCLC_OK)
      return {card.code, textIn(card.text)};
    if (!mayBeApart && std::strcmp(card.machine, cards[0].machine) != 0)
      return failure(MSCCLC_ERROR_UNSUPPORTED,
                     "%s are on host '%s', %s on host '%s': ranks of different machines cannot share memory; they need "
                     "a communicator on NCCL",
                     ranksOf(cards[0].range).c_str(), cards[0].host, ranksOf(card.range).c_str(), card.host);
  }
  return hub != cards.end() ? Status{} : failure(MSCCLC_ERROR_RENDEZVOUS, "allgather: no process has rank 0");
}

} // namespace

Place::~Place() {
  if (listener_.valid() && path_[0] != '@')
    ::unlink(path_.c_str());
  if (!folder_.empty())
    ::rmdir(folder_.c_str());
}

Status Place::take(const std::string &path, bool isHub) {
  path_ = path;
  if (!isHub)
    return {};
  // What others have made at this path is not removed.
  File listener;
  MSCCLC_TRY(listenAt(path_, listener));
  listener_ = std::move(listener);
  return {};
}

Status Place::listenInNewFolder() {
  const char *const set = std::getenv("TMPDIR");
  std::string folder;
  // A socket's path is short.
  for (const std::string &parent : {std::string(set == nullptr ? "" : set), std::string("/tmp")}) {
    folder = parent + "/mscclc-XXXXXX";
    if (parent.empty() || parent[0] != '/' || folder.size() > 90 || ::mkdtemp(folder.data()) == nullptr)
      continue;
    folder_ = folder;
    return take(folder_ + "/rank0", true);
  }
  return systemFailure("rendezvous: a folder '" + folder + "' for the socket");
}

Status Place::agree(const Allgather &allgather, const RankRange &mine, bool mayBeApart) {
  uint32_t process = 0, processes = 0;
  MSCCLC_TRY(countProcesses(allgather, mine, process, processes));
  std::vector<Card> cards(processes);
  for (Card &card : cards)
    card.magic = 0;
  Card &own = cards[process] = Card{};
  own.range = mine;
  std::array<char, 64> host{};
  ::gethostname(host.data(), host.size() - 1);
  putText(own.host, host.data());
  const std::string boot = lineOf("/proc/sys/kernel/random/boot_id");
  // Containers of one machine do not see each other's folders.
  putText(own.machine, (boot.empty() ? std::string(host.data()) : boot) + (mayBeApart ? mountNamespace() : ""));
  if (mine.first == 0) {
    Status listening = listenInNewFolder();
    if (listening.ok() && mayBeApart)
      listening = listenOnNetwork(networkListener_, address_);
    if (listening.ok() && mayBeApart && ::getrandom(token_.data(), token_.size(), 0) != ssize_t(token_.size()))
      listening = systemFailure("getrandom");
    own.code = listening.code;
    own.token = token_;
    putText(own.text, listening.text);
    putText(own.path, path_);
    putText(own.address, address_);
  }
  if (const int32_t code = allgather.call(allgather.context, cards.data(), sizeof(Card)); code != 0)
    return failure(MSCCLC_ERROR_RENDEZVOUS, "the allgather of the communicator's options failed: it returned %d", code);
  for (Card &card : cards)
    for (char *end : {&card.machine[63], &card.host[63], &card.path[111], &card.address[111], &card.text[255]})
      *end = '\0';
  MSCCLC_TRY(checkCards(cards, mayBeApart));
  const Card &hub = *std::find_if(cards.begin(), cards.end(), [](const Card &card) { return card.range.first == 0; });
  const bool together = std::all_of(cards.begin(), cards.end(),
                                    [&](const Card &card) { return std::strcmp(card.machine, hub.machine) == 0; });
  token_ = hub.token;
  if (together) {
    path_ = hub.path;
    networkListener_ = File();
    address_.clear();
  } else {
    address_ = hub.address;
    if (networkListener_.valid())
      std::swap(listener_, networkListener_);
  }
  return {};
}

Status Place::connect(Clock::time_point deadline, File &socket) const {
  return address_.empty() ? connectTo(path_, deadline, socket) : connectOnNetwork(address_, deadline, socket);
}

} // namespace mscclc::rt

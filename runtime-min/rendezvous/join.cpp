// The meeting of a communicator's processes. The process of rank 0 waits until all other processes have introduced
// themselves. Then it sends each of them the list of processes, or the reason why they cannot begin.
#include "rendezvous.h"

#include <algorithm>
#include <cstring>
#include <poll.h>

namespace mscclc::rt {
namespace {

/// The introduction of a process.
struct Hello {
  uint32_t ranks;
  ProcessInfo info;
  Token token;
};

/// The limits for connections without an introduction: how long one may wait, and how many may wait at a time.
constexpr std::chrono::seconds patience(5);
constexpr size_t maxStrangers = 64;

/// Compares in constant time.
bool areSame(const Token &a, const Token &b) {
  unsigned different = 0;
  for (size_t i = 0; i < a.size(); ++i)
    different |= static_cast<unsigned>(a[i] ^ b[i]);
  return different == 0;
}

/// Returns the first reason why the processes `here` do not make up the communicator; empty if they do. `here` is in
/// the order of the ranks.
std::string whyIncomplete(const std::vector<ProcessInfo> &here, const MeetingOptions &options) {
  uint32_t next = 0, seen = 0;
  std::string absent; // such as "rank 1, ranks 4 to 7"
  const auto skipTo = [&](uint32_t first) {
    if (first > next)
      absent += (absent.empty() ? "" : ", ") + nameOf(RankRange{next, first - next});
  };
  for (const ProcessInfo &process : here) {
    if (process.range.first < next)
      return format("rendezvous: rank %u comes from two processes", process.range.first);
    skipTo(process.range.first);
    next = process.range.first + process.range.count;
    seen += process.range.count;
  }
  if (next > options.ranks)
    return format("rendezvous: rank %u does not exist in a communicator of %u", next - 1, options.ranks);
  skipTo(options.ranks);
  return absent.empty() ? ""
                        : format("rendezvous: %u of %u ranks came to '%s' in %lld ms; %s did not", seen, options.ranks,
                                 options.path.c_str(), static_cast<long long>(options.timeout.count()), absent.c_str());
}

/// A connection whose process has not introduced itself.
struct Stranger {
  Connection connection;
  Clock::time_point came;
};

struct Guest {
  ProcessInfo info;
  Connection connection;
};

/// Reads introductions. Strangers that introduce themselves become guests. Strangers that do not do so in time are
/// dropped. Returns the reason why the processes cannot begin, or "".
std::string hear(std::vector<Stranger> &strangers, std::vector<Guest> &guests, const MeetingOptions &options,
                 const Token &token) {
  std::vector<Stranger> silent;
  for (Stranger &stranger : strangers) {
    Frame frame;
    const Received received = stranger.connection.receive(frame, sizeof(Hello));
    if (received == Received::Nothing && Clock::now() < stranger.came + patience)
      silent.push_back(std::move(stranger));
    // A connection that begins in another way does not belong to this communicator. It may be a probe for a stale
    // socket.
    if (received != Received::Frame || frame.header.kind != FrameKind::Hello || frame.payload.size() != sizeof(Hello))
      continue;
    Hello hello;
    std::memcpy(&hello, frame.payload.data(), sizeof(hello));
    if (!areSame(hello.token, token))
      continue;
    guests.push_back({hello.info, std::move(stranger.connection)});
    if (hello.ranks != options.ranks)
      return format("rendezvous: process %d joins a communicator of %u ranks, process %d one of %u", hello.info.pid,
                    hello.ranks, static_cast<int>(::getpid()), options.ranks);
  }
  strangers = std::move(silent);
  return "";
}

} // namespace

Status Rendezvous::join(MeetingOptions options, std::unique_ptr<Meeting> &result) {
  std::unique_ptr<Rendezvous> r(new Rendezvous(std::move(options)));
  const MeetingOptions &given = r->options_;
  MeetingPoint point;
  MSCCLC_TRY(given.allgather.call == nullptr ? point.take(given.path, given.mine.first == 0)
                                             : point.agree(given.allgather, given.mine, given.ranks, given.onNetwork));
  r->options_.path = point.address.name();
  const Clock::time_point deadline = Clock::now() + given.timeout;
  MSCCLC_TRY(given.mine.first == 0 ? r->gather(point, deadline) : r->enter(point, deadline));
  r->gone_.assign(r->processes_.size(), 0);
  r->beginWatching();
  result = std::move(r);
  return {};
}

/// Waits, as the hub, for the processes of all other ranks.
Status Rendezvous::gather(const MeetingPoint &point, Clock::time_point deadline) {
  std::vector<Stranger> strangers; // in the order of arrival
  std::vector<Guest> guests;
  std::string refused;
  const auto seen = [&] {
    uint32_t ranks = options_.mine.count;
    for (const Guest &guest : guests)
      ranks += guest.info.range.count;
    return ranks;
  };
  while (seen() < options_.ranks && refused.empty() && Clock::now() < deadline) {
    // If there are too many strangers, new connections wait to be accepted.
    std::vector<pollfd> entries{{strangers.size() < maxStrangers ? point.listener.get() : -1, POLLIN, 0}};
    for (const Stranger &stranger : strangers)
      entries.push_back({stranger.connection.file(), POLLIN, 0});
    const Clock::time_point next = strangers.empty() ? deadline : std::min(deadline, strangers.front().came + patience);
    ::poll(entries.data(), entries.size(), std::max(1, millisecondsUntil(next)));
    refused = hear(strangers, guests, options_, point.token);
    Connection connection;
    if ((entries[0].revents & POLLIN) == 0)
      continue;
    if (Connection::from(point.listener, connection).ok())
      strangers.push_back({std::move(connection), Clock::now()});
    else // a connection that could not be accepted, for lack of descriptors, still waits
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::sort(guests.begin(), guests.end(),
            [](const Guest &a, const Guest &b) { return a.info.range.first < b.info.range.first; });
  connections_.emplace_back();
  for (Guest &guest : guests) {
    processes_.push_back(guest.info);
    connections_.push_back(std::move(guest.connection));
  }
  if (refused.empty())
    refused = whyIncomplete(processes_, options_);
  if (!refused.empty()) {
    send(FrameKind::Refuse, 0, 0, Bytes(refused.begin(), refused.end()));
    return {MSCCLC_ERROR_RENDEZVOUS, refused};
  }
  for (uint32_t process = 1; process < processes_.size(); ++process) {
    FrameHeader header;
    header.kind = FrameKind::Welcome;
    header.process = process;
    if (!connections_[process].send(header, bytesOf(processes_.data(), processes_.size())))
      return failure(MSCCLC_ERROR_RENDEZVOUS, "rendezvous: %s ended", nameOf(process).c_str());
  }
  return {};
}

Status Rendezvous::enter(const MeetingPoint &point, Clock::time_point deadline) {
  connections_.emplace_back();
  MSCCLC_TRY(Connection::to(point.address, deadline, connections_[0]));
  const Hello hello{options_.ranks, processes_[0], point.token};
  Frame frame;
  if (!connections_[0].send({}, bytesOf(&hello, 1)))
    return failure(MSCCLC_ERROR_RENDEZVOUS, "rendezvous: the process at '%s' ended", options_.path.c_str());
  MSCCLC_TRY(connections_[0].await(deadline, frame));
  if (frame.header.kind != FrameKind::Welcome || frame.payload.size() % sizeof(ProcessInfo) != 0)
    return {MSCCLC_ERROR_RENDEZVOUS, std::string(frame.payload.begin(), frame.payload.end())};
  processes_.resize(frame.payload.size() / sizeof(ProcessInfo));
  std::memcpy(processes_.data(), frame.payload.data(), frame.payload.size());
  self_ = frame.header.process;
  return {};
}

namespace {

[[maybe_unused]] const bool isKnown = [] {
  meetOthers = &Rendezvous::join;
  return true;
}();

} // namespace

} // namespace mscclc::rt

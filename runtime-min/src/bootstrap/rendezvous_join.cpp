// How the processes of a communicator find each other: those of other ranks introduce themselves to rank 0's, which
// waits for all of them and then tells each who is there, or why they cannot begin.
#include "bootstrap/rendezvous.h"

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <thread>

namespace mscclc::rt {
namespace {

/// A process as it introduces itself.
struct Hello {
  uint32_t ranks;
  ProcessInfo info;
  std::array<uint8_t, 16> token;
};

/// How long who comes may take to introduce himself, and how many are listened to at a time.
constexpr std::chrono::seconds patience(5);
constexpr size_t maxStrangers = 64;

/// Takes as long whatever the difference.
bool areSame(const std::array<uint8_t, 16> &a, const std::array<uint8_t, 16> &b) {
  unsigned different = 0;
  for (size_t i = 0; i < a.size(); ++i)
    different |= static_cast<unsigned>(a[i] ^ b[i]);
  return different == 0;
}

std::string textOf(const Bytes &bytes) {
  return std::string(bytes.begin(), bytes.end());
}

/// The first reason why these processes do not make up the communicator, or "".
std::string whyIncomplete(const std::vector<ProcessInfo> &sorted, uint32_t ranks) {
  uint32_t next = 0;
  for (const ProcessInfo &process : sorted) {
    if (process.firstRank < next)
      return format("rank %u comes from two processes", process.firstRank);
    next = process.firstRank + process.ranks;
  }
  return next > ranks ? format("rank %u does not exist in a communicator of %u", next - 1, ranks) : std::string();
}

/// "rank 1, ranks 4 to 7": those of the communicator that none of these processes has.
std::string absentRanks(const std::vector<ProcessInfo> &here, uint32_t ranks) {
  std::vector<char> present(ranks, 0);
  for (const ProcessInfo &process : here)
    for (uint32_t i = 0; i < process.ranks && uint64_t{process.firstRank} + i < ranks; ++i)
      present[process.firstRank + i] = 1;
  std::string text;
  for (uint32_t first = 0; first < ranks; ++first) {
    if (present[first] != 0)
      continue;
    uint32_t last = first;
    while (last + 1 < ranks && present[last + 1] == 0)
      ++last;
    text +=
        (text.empty() ? "" : ", ") + (first == last ? format("rank %u", first) : format("ranks %u to %u", first, last));
    first = last;
  }
  return text;
}

/// Waits at a socket for the processes that have the other ranks.
class Gathering {
public:
  Gathering(const Rendezvous::Options &options, const std::array<uint8_t, 16> &token)
      : options_(options), token_(token), seen_(options.localRanks) {}

  struct Guest {
    ProcessInfo info;
    File socket;
  };
  /// In the order of their ranks.
  std::vector<Guest> guests;
  /// Why the processes cannot begin; those that came are to be told.
  Status refused;

  void run(const File &listener, Clock::time_point deadline) {
    while (!done()) {
      // Those that are too many wait to be accepted.
      std::vector<pollfd> entries{{strangers_.size() < maxStrangers ? listener.get() : -1, POLLIN, 0}};
      for (const Stranger &stranger : strangers_)
        entries.push_back({stranger.socket.get(), POLLIN, 0});
      const Clock::time_point next =
          strangers_.empty() ? deadline : std::min(deadline, strangers_.front().came + patience);
      ::poll(entries.data(), entries.size(), std::max(1, millisecondsUntil(next)));
      hear(entries);
      if ((entries[0].revents & POLLIN) != 0)
        accept(listener);
      if (!done() && Clock::now() >= deadline)
        refuseAsLate();
    }
    std::sort(guests.begin(), guests.end(),
              [](const Guest &a, const Guest &b) { return a.info.firstRank < b.info.firstRank; });
  }

private:
  /// Came, and has not said who he is.
  struct Stranger {
    File socket;
    Clock::time_point came;
    Bytes heard;
  };

  bool done() const { return seen_ >= options_.ranks || !refused.ok(); }

  void accept(const File &listener) {
    File socket;
    if (acceptFrom(listener, socket).ok())
      strangers_.push_back({std::move(socket), Clock::now(), {}});
    else // who could not be accepted, for want of descriptors, still waits
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  /// Takes in what strangers say; entries[i + 1] is of stranger i.
  void hear(const std::vector<pollfd> &entries) {
    std::vector<Stranger> silent;
    for (size_t i = 0; i < strangers_.size(); ++i) {
      Frame frame;
      Stranger &stranger = strangers_[i];
      const Received received = entries[i + 1].revents == 0
                                    ? Received::Nothing
                                    : hearFrame(stranger.socket, sizeof(Hello), stranger.heard, frame);
      if (received == Received::Frame && refused.ok())
        welcome(stranger.socket, frame);
      else if (received == Received::Nothing && Clock::now() < stranger.came + patience)
        silent.push_back(std::move(strangers_[i]));
    }
    strangers_ = std::move(silent);
  }

  void welcome(File &socket, const Frame &frame) {
    // Who does not introduce himself is not of this communicator; a probe for a stale socket, for example.
    if (frame.header.kind != FrameKind::Hello || frame.payload.size() != sizeof(Hello))
      return;
    Hello hello;
    std::memcpy(&hello, frame.payload.data(), sizeof(hello));
    if (!areSame(hello.token, token_))
      return;
    if (hello.ranks != options_.ranks)
      refused = failure(MSCCLC_ERROR_RENDEZVOUS,
                        "rendezvous: process %d wants a communicator of %u ranks, process %d one of %u", hello.info.pid,
                        hello.ranks, static_cast<int>(::getpid()), options_.ranks);
    seen_ += hello.info.ranks;
    guests.push_back({hello.info, std::move(socket)});
  }

  void refuseAsLate() {
    std::vector<ProcessInfo> here{{0, options_.localRanks, 0}};
    for (const Guest &guest : guests)
      here.push_back(guest.info);
    refused = failure(MSCCLC_ERROR_RENDEZVOUS, "rendezvous: %u of %u ranks came to '%s' in %lld ms; %s did not", seen_,
                      options_.ranks, options_.path.c_str(), static_cast<long long>(options_.timeout.count()),
                      absentRanks(here, options_.ranks).c_str());
  }

  const Rendezvous::Options &options_;
  const std::array<uint8_t, 16> &token_;
  uint32_t seen_;                   ///< ranks
  std::vector<Stranger> strangers_; ///< in the order in which they came
};

} // namespace

Status Rendezvous::join(const Options &options, Callbacks callbacks, std::unique_ptr<Rendezvous> &result) {
  std::unique_ptr<Rendezvous> r(new Rendezvous(options, std::move(callbacks)));
  if (options.localRanks == options.ranks) {
    r->processes_ = {{0, options.ranks, static_cast<int32_t>(::getpid())}};
    r->gone_.assign(1, 0);
    result = std::move(r);
    return {};
  }
  Place place;
  if (options.allgather.call == nullptr)
    MSCCLC_TRY(place.take(options.path, options.firstRank == 0));
  else
    MSCCLC_TRY(
        place.agree(options.allgather, {options.ranks, options.firstRank, options.localRanks}, options.mayBeApart));
  r->options_.path = place.name();
  const Clock::time_point deadline = Clock::now() + options.timeout;
  MSCCLC_TRY(options.firstRank == 0 ? r->gather(place, deadline) : r->enter(place, deadline));
  r->gone_.assign(r->processes_.size(), 0);
  r->beginWatching();
  result = std::move(r);
  return {};
}

Status Rendezvous::gather(const Place &place, Clock::time_point deadline) {
  Gathering gathering(options_, place.token());
  gathering.run(place.listener(), deadline);
  processes_ = {{0, options_.localRanks, static_cast<int32_t>(::getpid())}};
  sockets_.emplace_back();
  for (Gathering::Guest &guest : gathering.guests) {
    processes_.push_back(guest.info);
    sockets_.push_back(std::move(guest.socket));
  }
  Status refused = std::move(gathering.refused);
  if (const std::string why = whyIncomplete(processes_, options_.ranks); refused.ok() && !why.empty())
    refused = failure(MSCCLC_ERROR_RENDEZVOUS, "rendezvous: %s", why.c_str());
  if (!refused.ok()) {
    send(FrameKind::Refuse, 0, 0, Bytes(refused.text.begin(), refused.text.end()), {}, 0);
    return refused;
  }
  for (uint32_t process = 1; process < processes_.size(); ++process) {
    const Bytes list = bytesOf(processes_.data(), processes_.size());
    FrameHeader header;
    header.kind = FrameKind::Welcome;
    header.process = process;
    header.total = list.size();
    if (!sendFrame(sockets_[process], header, list.data(), list.size()).ok())
      return failure(MSCCLC_ERROR_RENDEZVOUS, "rendezvous: %s ended", nameOf(process).c_str());
  }
  return {};
}

Status Rendezvous::enter(const Place &place, Clock::time_point deadline) {
  sockets_.emplace_back();
  MSCCLC_TRY(place.connect(deadline, sockets_[0]));
  const Hello hello{
      options_.ranks, {options_.firstRank, options_.localRanks, static_cast<int32_t>(::getpid())}, place.token()};
  const Bytes payload = bytesOf(&hello, 1);
  FrameHeader header;
  header.kind = FrameKind::Hello;
  header.total = payload.size();
  if (!sendFrame(sockets_[0], header, payload.data(), payload.size()).ok())
    return failure(MSCCLC_ERROR_RENDEZVOUS, "rendezvous: the process at '%s' ended", options_.path.c_str());
  Frame frame;
  MSCCLC_TRY(awaitFrame(sockets_[0], deadline, frame));
  if (frame.header.kind != FrameKind::Welcome || frame.payload.size() % sizeof(ProcessInfo) != 0)
    return {MSCCLC_ERROR_RENDEZVOUS, textOf(frame.payload)};
  processes_.resize(frame.payload.size() / sizeof(ProcessInfo));
  std::memcpy(processes_.data(), frame.payload.data(), frame.payload.size());
  self_ = frame.header.process;
  return {};
}

} // namespace mscclc::rt

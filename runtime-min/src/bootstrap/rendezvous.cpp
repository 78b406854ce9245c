#include "bootstrap/rendezvous.h"

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>

namespace mscclc::rt {
namespace {

/// A process as it introduces itself.
struct Hello {
  uint32_t worldRanks;
  ProcessInfo info;
};

template <class T> Bytes bytesOf(const T *values, size_t count) {
  const auto *begin = reinterpret_cast<const uint8_t *>(values);
  return Bytes(begin, begin + count * sizeof(T));
}

Bytes textBytes(const std::string &text) {
  return Bytes(text.begin(), text.end());
}
std::string textOf(const Bytes &bytes) {
  return std::string(bytes.begin(), bytes.end());
}

/// A message of a round begins with the round's name.
Bytes withName(const std::string &name, const Bytes &message) {
  const auto length = static_cast<uint32_t>(name.size());
  Bytes all(sizeof(length) + name.size() + message.size());
  std::memcpy(all.data(), &length, sizeof(length));
  std::copy(name.begin(), name.end(), all.begin() + sizeof(length));
  std::copy(message.begin(), message.end(), all.begin() + sizeof(length) + length);
  return all;
}
std::string takeName(Bytes &message) {
  uint32_t length = 0;
  if (message.size() < sizeof(length))
    return {};
  std::memcpy(&length, message.data(), sizeof(length));
  length = std::min<uint32_t>(length, static_cast<uint32_t>(message.size() - sizeof(length)));
  std::string name(message.begin() + sizeof(length), message.begin() + sizeof(length) + length);
  message.erase(message.begin(), message.begin() + sizeof(length) + length);
  return name;
}

/// The first reason why these processes do not make up the communicator, or "".
std::string whyNotAWorld(const std::vector<ProcessInfo> &sorted, uint32_t ranks) {
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

} // namespace

Status Rendezvous::join(const Options &options, Callbacks callbacks, std::unique_ptr<Rendezvous> &result) {
  std::unique_ptr<Rendezvous> r(new Rendezvous(options, std::move(callbacks)));
  if (options.localRanks == options.ranks) {
    r->processes_ = {{0, options.ranks, static_cast<int32_t>(::getpid())}};
    r->gone_.assign(1, 0);
    result = std::move(r);
    return {};
  }
  const Clock::time_point deadline = Clock::now() + options.timeout;
  MSCCLC_TRY(options.firstRank == 0 ? r->gather(deadline) : r->enter(deadline));
  r->gone_.assign(r->processes_.size(), 0);
  r->wakeUp_ = File(::eventfd(0, EFD_CLOEXEC));
  if (!r->wakeUp_.valid())
    return systemFailure("eventfd");
  r->reader_ = std::thread([raw = r.get()] { raw->read(); });
  result = std::move(r);
  return {};
}

Status Rendezvous::gather(Clock::time_point deadline) {
  File listener;
  MSCCLC_TRY(listenAt(options_.path, listener));
  struct Guest {
    ProcessInfo info;
    File socket;
  };
  std::vector<Guest> guests;
  std::vector<File> strangers; // came, and have not said who they are
  Status refused;
  uint32_t seen = options_.localRanks;
  const auto welcome = [&](File &socket, const Frame &frame) {
    // Who does not introduce himself is not of this communicator; a probe for a stale socket, for example.
    if (frame.header.kind != FrameKind::Hello || frame.payload.size() != sizeof(Hello))
      return;
    Hello hello;
    std::memcpy(&hello, frame.payload.data(), sizeof(hello));
    if (hello.worldRanks != options_.ranks)
      refused = failure(MSCCLC_ERROR_RENDEZVOUS,
                        "rendezvous: process %d wants a communicator of %u ranks, process %d one of %u", hello.info.pid,
                        hello.worldRanks, static_cast<int>(::getpid()), options_.ranks);
    seen += hello.info.ranks;
    guests.push_back({hello.info, std::move(socket)});
  };
  while (seen < options_.ranks && refused.ok()) {
    std::vector<pollfd> entries{{listener.get(), POLLIN, 0}};
    for (const File &stranger : strangers)
      entries.push_back({stranger.get(), POLLIN, 0});
    ::poll(entries.data(), entries.size(), std::max(1, millisecondsUntil(deadline)));
    std::vector<File> silent;
    for (size_t i = 0; i < strangers.size(); ++i) {
      Frame frame;
      const Received received = entries[i + 1].revents == 0 ? Received::Nothing : receiveFrame(strangers[i], frame);
      if (received == Received::Frame && refused.ok())
        welcome(strangers[i], frame);
      else if (received == Received::Nothing)
        silent.push_back(std::move(strangers[i]));
    }
    strangers = std::move(silent);
    if ((entries[0].revents & POLLIN) != 0) {
      File socket;
      if (acceptFrom(listener, socket).ok())
        strangers.push_back(std::move(socket));
    } else if (seen < options_.ranks && refused.ok() && Clock::now() >= deadline) {
      std::vector<ProcessInfo> here{{0, options_.localRanks, 0}};
      for (const Guest &guest : guests)
        here.push_back(guest.info);
      refused = failure(MSCCLC_ERROR_RENDEZVOUS, "rendezvous: %u of %u ranks came to '%s' in %lld ms; %s did not", seen,
                        options_.ranks, options_.path.c_str(), static_cast<long long>(options_.timeout.count()),
                        absentRanks(here, options_.ranks).c_str());
    }
  }
  std::sort(guests.begin(), guests.end(),
            [](const Guest &a, const Guest &b) { return a.info.firstRank < b.info.firstRank; });
  processes_ = {{0, options_.localRanks, static_cast<int32_t>(::getpid())}};
  sockets_.emplace_back();
  for (Guest &guest : guests) {
    processes_.push_back(guest.info);
    sockets_.push_back(std::move(guest.socket));
  }
  if (const std::string why = whyNotAWorld(processes_, options_.ranks); refused.ok() && !why.empty())
    refused = failure(MSCCLC_ERROR_RENDEZVOUS, "rendezvous: %s", why.c_str());
  if (options_.path[0] != '@')
    ::unlink(options_.path.c_str());
  if (!refused.ok()) {
    send(FrameKind::Refuse, 0, 0, textBytes(refused.text), {}, 0);
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

Status Rendezvous::enter(Clock::time_point deadline) {
  sockets_.emplace_back();
  MSCCLC_TRY(connectTo(options_.path, deadline, sockets_[0]));
  const Hello hello{options_.ranks, {options_.firstRank, options_.localRanks, static_cast<int32_t>(::getpid())}};
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

Rendezvous::~Rendezvous() {
  if (!reader_.joinable())
    return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  const uint64_t one = 1;
  if (::write(wakeUp_.get(), &one, sizeof(one)) == sizeof(one))
    reader_.join();
}

uint32_t Rendezvous::processOf(uint32_t rank) const {
  const auto after = std::upper_bound(processes_.begin(), processes_.end(), rank,
                                      [](uint32_t r, const ProcessInfo &process) { return r < process.firstRank; });
  return static_cast<uint32_t>(after - processes_.begin()) - 1;
}

std::string Rendezvous::nameOf(uint32_t process) const {
  const ProcessInfo &info = processes_[process];
  if (info.ranks == 1)
    return format("process %d (rank %u)", info.pid, info.firstRank);
  return format("process %d (ranks %u to %u)", info.pid, info.firstRank, info.firstRank + info.ranks - 1);
}

/// The hub sends to all but `except`, the others to the hub.
void Rendezvous::send(FrameKind kind, uint32_t process, uint32_t round, const Bytes &payload,
                      const std::vector<int> &files, uint32_t except) {
  const std::lock_guard<std::mutex> lock(sending_);
  for (uint32_t to = 0; to < sockets_.size(); ++to) {
    if (!sockets_[to].valid() || (isHub() && to == except))
      continue;
    FrameHeader header;
    header.kind = kind;
    header.process = process;
    header.round = round;
    header.total = payload.size();
    size_t at = 0;
    do {
      const size_t part = std::min(payload.size() - at, maxPayload);
      // The reader finds out about an end that is gone.
      if (!sendFrame(sockets_[to], header, payload.data() + at, part, at == 0 ? files : std::vector<int>()).ok())
        break;
      at += part;
    } while (at < payload.size());
  }
}

Status Rendezvous::exchange(const std::string &what, Bytes message, const std::vector<int> &files,
                            std::vector<Message> &all) {
  all.clear();
  all.resize(processes_.size());
  if (processes_.size() == 1) {
    all[0].bytes = std::move(message);
    return {};
  }
  const uint32_t round = round_++;
  send(FrameKind::Data, self_, round, withName(what, message), files, self_);
  std::unique_lock<std::mutex> lock(mutex_);
  const auto all_here = [&] {
    for (uint32_t process = 0; process < processes_.size(); ++process) {
      const auto found = incoming_.find({round, process});
      if (process != self_ && (found == incoming_.end() || !found->second.complete))
        return false;
    }
    return true;
  };
  const auto stuck = [&] { return !lost_.ok() || std::count(gone_.begin(), gone_.end(), 0) != int(gone_.size()); };
  const bool in_time = changed_.wait_for(lock, options_.timeout, [&] { return all_here() || stuck(); });
  if (!all_here()) {
    if (!lost_.ok())
      return lost_;
    return failure(MSCCLC_ERROR_RENDEZVOUS, "%s: %s %s", what.c_str(), missing(round).c_str(),
                   in_time ? "left the communicator" : "did not come in time");
  }
  Status mismatch;
  for (uint32_t process = 0; process < processes_.size(); ++process) {
    if (process == self_) {
      all[process].bytes = std::move(message);
      continue;
    }
    const auto found = incoming_.find({round, process});
    all[process].bytes = std::move(found->second.bytes);
    all[process].files = std::move(found->second.files);
    incoming_.erase(found);
    if (const std::string theirs = takeName(all[process].bytes); theirs != what && mismatch.ok())
      mismatch = failure(MSCCLC_ERROR_RENDEZVOUS, "collective calls differ: %s here, %s in %s", what.c_str(),
                         theirs.c_str(), nameOf(process).c_str());
  }
  return mismatch;
}

std::string Rendezvous::missing(uint32_t round) const {
  std::string names;
  for (uint32_t process = 0; process < processes_.size(); ++process) {
    const auto found = incoming_.find({round, process});
    if (process != self_ && (found == incoming_.end() || !found->second.complete))
      names += (names.empty() ? "" : ", ") + nameOf(process);
  }
  return names;
}

void Rendezvous::abort(const Status &reason) {
  if (processes_.size() == 1)
    return;
  Bytes payload = bytesOf(&reason.code, 1);
  const std::string text = reason.text.substr(0, maxPayload - sizeof(reason.code));
  payload.insert(payload.end(), text.begin(), text.end());
  send(FrameKind::Abort, self_, 0, payload, {}, self_);
}

void Rendezvous::leave() {
  if (processes_.size() == 1)
    return;
  send(FrameKind::Leave, self_, 0, {}, {}, self_);
  std::unique_lock<std::mutex> lock(mutex_);
  gone_[self_] = 1;
  changed_.wait_for(lock, options_.timeout, [&] { return std::count(gone_.begin(), gone_.end(), 0) == 0; });
}

void Rendezvous::read() {
  std::vector<char> open(sockets_.size(), 1);
  Frame frame;
  for (;;) {
    std::vector<pollfd> entries{{wakeUp_.get(), POLLIN, 0}};
    std::vector<uint32_t> owners{0};
    for (uint32_t i = 0; i < sockets_.size(); ++i)
      if (sockets_[i].valid() && open[i] != 0) {
        entries.push_back({sockets_[i].get(), POLLIN, 0});
        owners.push_back(i);
      }
    ::poll(entries.data(), entries.size(), -1);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_)
        return;
    }
    for (size_t i = 1; i < entries.size(); ++i) {
      if (entries[i].revents == 0)
        continue;
      switch (receiveFrame(sockets_[owners[i]], frame)) {
      case Received::Frame:
        handle(frame);
        break;
      case Received::Closed:
        open[owners[i]] = 0;
        lose(owners[i]);
        break;
      case Received::Nothing:
        break;
      }
    }
  }
}

void Rendezvous::handle(Frame &frame) {
  const FrameHeader &header = frame.header;
  if (header.process >= processes_.size())
    return;
  if (isHub() && header.kind != FrameKind::Lost) {
    std::vector<int> files;
    for (const File &file : frame.files)
      files.push_back(file.get());
    const std::lock_guard<std::mutex> lock(sending_);
    for (uint32_t to = 1; to < sockets_.size(); ++to)
      if (to != header.process)
        static_cast<void>(sendFrame(sockets_[to], header, frame.payload.data(), frame.payload.size(), files).ok());
  }
  switch (header.kind) {
  case FrameKind::Data: {
    const std::lock_guard<std::mutex> lock(mutex_);
    Incoming &in = incoming_[{header.round, header.process}];
    in.bytes.insert(in.bytes.end(), frame.payload.begin(), frame.payload.end());
    for (File &file : frame.files)
      in.files.push_back(std::move(file));
    in.complete = in.bytes.size() >= header.total;
    changed_.notify_all();
    break;
  }
  case FrameKind::Abort: {
    Status status;
    if (frame.payload.size() < sizeof(status.code))
      break;
    std::memcpy(&status.code, frame.payload.data(), sizeof(status.code));
    status.text = nameOf(header.process) +
                  " says: " + std::string(frame.payload.begin() + sizeof(status.code), frame.payload.end());
    callbacks_.failed(status);
    break;
  }
  case FrameKind::Leave: {
    const std::lock_guard<std::mutex> lock(mutex_);
    gone_[header.process] = 1;
    changed_.notify_all();
    break;
  }
  case FrameKind::Lost:
    lose(header.process);
    break;
  case FrameKind::Hello:
  case FrameKind::Welcome:
  case FrameKind::Refuse: // only before all have come
    break;
  }
}

void Rendezvous::lose(uint32_t process) {
  Status status;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    // Without the hub nobody hears of anybody any more.
    if (process == 0)
      std::fill(gone_.begin() + 1, gone_.end(), 1);
    const bool expected = gone_[process] != 0 || stopping_;
    gone_[process] = 1;
    if (!expected) {
      status = failure(MSCCLC_ERROR_PEER_LOST, "%s ended", nameOf(process).c_str());
      if (lost_.ok())
        lost_ = status;
    }
    changed_.notify_all();
  }
  if (status.ok())
    return;
  if (isHub())
    send(FrameKind::Lost, process, 0, {}, {}, process);
  callbacks_.failed(status);
}

} // namespace mscclc::rt

#include "bootstrap/rendezvous.h"

#include <algorithm>
#include <cstring>
#include <sys/socket.h>

namespace mscclc::rt {
namespace {

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

} // namespace

Rendezvous::~Rendezvous() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  for (const Watcher::Key key : watched_)
    watcher_->remove(key);
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

Status Rendezvous::exchangeBytes(const std::string &what, Bytes message, std::vector<Bytes> &all) {
  std::vector<Message> messages;
  MSCCLC_TRY(exchange(what, std::move(message), {}, messages));
  for (Message &one : messages)
    all.push_back(std::move(one.bytes));
  return {};
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
  const std::lock_guard<std::mutex> lock(mutex_);
  gone_[self_] = 1;
  changed_.notify_all();
}

void Rendezvous::awaitLeave() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (processes_.size() != 1)
    changed_.wait_for(lock, options_.timeout, [&] { return std::count(gone_.begin(), gone_.end(), 0) == 0; });
}

Rendezvous::Others Rendezvous::others() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (isDeaf_)
    return Others::Unknown;
  for (uint32_t process = 0; process < processes_.size(); ++process)
    if (process != self_ && gone_[process] == 0)
      return Others::Here;
  return Others::Gone;
}

void Rendezvous::beginWatching() {
  watcher_ = ofProcess<Watcher>();
  ends_ = ofProcess<ProcessEnds>();
  for (uint32_t i = 0; i < sockets_.size(); ++i) {
    if (!sockets_[i].valid())
      continue;
    watched_.push_back(watcher_->watch(sockets_[i].get(), [this, i] {
      const bool isOpen = read(i) != Received::Closed;
      if (!isOpen)
        lose(processOn(i));
      return isOpen;
    }));
    const pid_t process = processAt(sockets_[i]);
    const std::shared_ptr<const File> file = process == 0 ? nullptr : ends_->of(process);
    if (!file)
      continue;
    processFiles_.push_back(file);
    watched_.push_back(watcher_->watch(file->get(), [this, i] {
      seeEnd(i);
      return false;
    }));
  }
}

/// A frame, if there is one.
Received Rendezvous::read(uint32_t socket) {
  Frame frame;
  const Received received = receiveFrame(sockets_[socket], frame);
  if (received == Received::Frame)
    handle(frame);
  return received;
}

/// The process has ended; a child of its may hold the socket.
void Rendezvous::seeEnd(uint32_t socket) {
  while (read(socket) == Received::Frame) // what it said before
    continue;
  ::shutdown(sockets_[socket].get(), SHUT_RDWR); // nobody reads what is sent there
  lose(processOn(socket));
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
    const bool expected = gone_[process] != 0 || stopping_;
    gone_[process] = 1;
    // Without the hub nobody hears of anybody any more.
    if (process == 0) {
      isDeaf_ = isDeaf_ || (expected && std::count(gone_.begin(), gone_.end(), 0) > (gone_[self_] != 0 ? 0 : 1));
      std::fill(gone_.begin() + 1, gone_.end(), 1);
    }
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

#include "rendezvous.h"

#include <algorithm>
#include <cstring>

namespace mscclc::rt {
namespace {

/// Removes the name of a round, which ends with a zero, from the beginning of a message, and returns it.
std::string takeName(Bytes &message) {
  const auto end = std::find(message.begin(), message.end(), uint8_t{0});
  const std::string name(message.begin(), end);
  message.erase(message.begin(), end == message.end() ? end : end + 1);
  return name;
}

/// Returns the bytes of a status: its code, and then its text if it is a failure, or else `message`.
Bytes bytesOf(const Status &status, const Bytes &message) {
  Bytes bytes = rt::bytesOf(&status.code, 1);
  if (status.ok())
    bytes.insert(bytes.end(), message.begin(), message.end());
  else
    bytes.insert(bytes.end(), status.text.begin(), status.text.end());
  return bytes;
}

/// Reads a status from `bytes`, as bytesOf has written it, and removes its code. The message stays in `bytes`.
Status takeStatus(Bytes &bytes) {
  Status status;
  if (bytes.size() < sizeof(status.code))
    return {MSCCLC_ERROR_RENDEZVOUS, "a message of another form came"};
  std::memcpy(&status.code, bytes.data(), sizeof(status.code));
  bytes.erase(bytes.begin(), bytes.begin() + sizeof(status.code));
  if (!status.ok())
    status.text = std::string(bytes.begin(), bytes.end());
  return status;
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

std::string Rendezvous::nameOf(uint32_t process) const {
  return format("process %d (%s)", processes_[process].pid, rt::nameOf(processes_[process].range).c_str());
}

void Rendezvous::send(FrameKind kind, uint32_t process, uint32_t round, const Bytes &payload,
                      const std::vector<int> &files) {
  const std::lock_guard<std::mutex> lock(sending_);
  for (uint32_t to = 0; to < connections_.size(); ++to) {
    if (!connections_[to].valid() || (isHub() && to == process))
      continue;
    FrameHeader header;
    header.kind = kind;
    header.process = process;
    header.round = round;
    // A failed send is not reported here: the thread that reads notices the closed connection.
    connections_[to].send(header, payload, files);
  }
}

Status Rendezvous::await(const std::string &what, uint32_t round, std::vector<Message> &all) {
  std::string missing;
  const auto isOver = [&] {
    missing.clear();
    for (uint32_t process = 0; process < processes_.size(); ++process)
      if (process != self_ && incoming_.count({round, process}) == 0)
        missing += (missing.empty() ? "" : ", ") + nameOf(process);
    return missing.empty() || !lost_.ok() || std::count(gone_.begin(), gone_.end(), 1) != 0;
  };
  std::unique_lock<std::mutex> lock(mutex_);
  const bool inTime = changed_.wait_for(lock, options_.timeout, isOver);
  if (!missing.empty() && !lost_.ok())
    return lost_;
  if (!missing.empty())
    return failure(MSCCLC_ERROR_RENDEZVOUS, "%s: %s %s", what.c_str(), missing.c_str(),
                   inTime ? "left the communicator" : "did not come in time");
  all.resize(processes_.size());
  for (uint32_t process = 0; process < processes_.size(); ++process)
    if (process != self_)
      all[process] = std::move(incoming_.extract({round, process}).mapped());
  return {};
}

Status Rendezvous::agree(const std::string &what, const Status &mine, const Bytes &message, std::vector<Message> &all,
                         const std::vector<int> &files) {
  const uint32_t round = round_++;
  Bytes named(what.begin(), what.end());
  named.push_back(0);
  const Bytes said = bytesOf(mine, message);
  named.insert(named.end(), said.begin(), said.end());
  all.clear();
  send(FrameKind::Data, self_, round, named, files);
  Status result = await(what, round, all);
  if (!result.ok())
    return mine.ok() ? result : mine;
  all[self_].bytes = message;
  Status failed;
  for (uint32_t process = 0; process < processes_.size(); ++process) {
    if (process == self_)
      continue;
    Bytes &bytes = all[process].bytes;
    if (const std::string theirs = takeName(bytes); theirs != what && result.ok())
      result = failure(MSCCLC_ERROR_RENDEZVOUS, "collective calls differ: %s here, %s in %s", what.c_str(),
                       theirs.c_str(), nameOf(process).c_str());
    if (const Status status = takeStatus(bytes); !status.ok() && failed.ok())
      failed = {status.code, "in another process: " + status.text};
  }
  if (!result.ok())
    all.clear();
  return !mine.ok() ? mine : !result.ok() ? result : failed;
}

void Rendezvous::abort(const Status &reason) {
  send(FrameKind::Abort, self_, 0, bytesOf(reason, {}));
}

void Rendezvous::leave() {
  send(FrameKind::Leave, self_);
  const std::lock_guard<std::mutex> lock(mutex_);
  gone_[self_] = 1;
  changed_.notify_all();
}

void Rendezvous::awaitLeave() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, options_.timeout, [&] { return here() == 0; });
}

Meeting::Others Rendezvous::awaitOthers() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return isDeaf_ || here() <= (gone_[self_] == 0 ? 1 : 0); });
  return isDeaf_ ? Others::Unknown : Others::Gone;
}

std::vector<uint32_t> Rendezvous::lostRanks() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<uint32_t> ranks;
  for (const uint32_t process : lostProcesses_)
    for (uint32_t i = 0; i < processes_[process].range.count; ++i)
      ranks.push_back(processes_[process].range.first + i);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

void Rendezvous::beginWatching() {
  watcher_ = ofProcess<Watcher>();
  for (uint32_t i = 0; i < connections_.size(); ++i) {
    if (!connections_[i].valid())
      continue;
    watched_.push_back(watcher_->add(connections_[i].file(), [this, i] {
      const bool isOpen = read(i) != Received::Closed;
      if (!isOpen)
        lose(processOn(i));
      return isOpen ? Watcher::never : Watcher::done;
    }));
    const pid_t process = connections_[i].process();
    const std::shared_ptr<const File> end = process == 0 ? nullptr : watcher_->endOf(process);
    if (!end)
      continue;
    processFiles_.push_back(end);
    // Called when the process has ended, even if a child of it still holds the socket.
    watched_.push_back(watcher_->add(end->get(), [this, i] {
      while (read(i) == Received::Frame) // reads the messages from before the process's end
        continue;
      ::shutdown(connections_[i].file(), SHUT_RDWR); // messages to the process would not be read
      lose(processOn(i));
      return Watcher::done;
    }));
  }
}

Received Rendezvous::read(uint32_t connection) {
  Frame frame;
  const Received received = connections_[connection].receive(frame);
  if (received == Received::Frame)
    handle(frame);
  return received;
}

void Rendezvous::handle(Frame &frame) {
  const FrameHeader &header = frame.header;
  if (header.process >= processes_.size())
    return;
  if (isHub() && header.kind != FrameKind::Lost) {
    std::vector<int> files;
    for (const File &file : frame.files)
      files.push_back(file.get());
    send(header.kind, header.process, header.round, frame.payload, files);
  }
  switch (header.kind) {
  case FrameKind::Data: {
    const std::lock_guard<std::mutex> lock(mutex_);
    incoming_[{header.round, header.process}] = {std::move(frame.payload), std::move(frame.files)};
    changed_.notify_all();
    break;
  }
  case FrameKind::Abort: {
    Status status = takeStatus(frame.payload);
    status.text = nameOf(header.process) + " says: " + status.text;
    options_.failed(status);
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
  case FrameKind::Refuse: // only before all have joined
    break;
  }
}

void Rendezvous::lose(uint32_t process) {
  Status status;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool expected = gone_[process] != 0 || stopping_;
    gone_[process] = 1;
    // Without the hub, processes cannot exchange anything.
    if (process == 0) {
      isDeaf_ = isDeaf_ || (expected && here() > (gone_[self_] != 0 ? 0 : 1));
      std::fill(gone_.begin() + 1, gone_.end(), 1);
    }
    if (!expected) {
      status = failure(MSCCLC_ERROR_PEER_LOST, "%s ended", nameOf(process).c_str());
      lostProcesses_.push_back(process);
      if (lost_.ok())
        lost_ = status;
    }
    changed_.notify_all();
  }
  if (status.ok())
    return;
  if (isHub())
    send(FrameKind::Lost, process);
  options_.failed(status);
}

} // namespace mscclc::rt

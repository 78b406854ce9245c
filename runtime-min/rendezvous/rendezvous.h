// The connection of a communicator's processes.
//
// The process of rank 0 is the hub. The other processes connect to it, and it forwards the messages of each to all
// others. A thread (watcher.h) reads the sockets of each process, and watches the processes at the other ends. So all
// processes notice at once if one ends or aborts the communicator.
#pragma once

#include "meeting_point.h"
#include "process/watcher.h"

#include <algorithm>

namespace mscclc::rt {

class Rendezvous final : public Meeting {
public:
  /// Makes the meeting of several processes. Collective.
  static Status join(MeetingOptions options, std::unique_ptr<Meeting> &result);
  ~Rendezvous() override;

  Status agree(const std::string &what, const Status &mine, const Bytes &message, std::vector<Message> &all,
               const std::vector<int> &files = {}) override;
  void alignRounds() override { round_ = (round_ / roundsBetween + 1) * roundsBetween; }
  void abort(const Status &reason) override;
  void leave() override;
  void awaitLeave() override;
  Others awaitOthers() override;
  std::vector<uint32_t> lostRanks() const override;

private:
  explicit Rendezvous(MeetingOptions options) : Meeting(options.mine), options_(std::move(options)) {}
  Status gather(const MeetingPoint &point, Clock::time_point deadline);
  Status enter(const MeetingPoint &point, Clock::time_point deadline);
  void beginWatching();
  /// Returns the process at the other end of a connection. The hub's connections are indexed by process.
  uint32_t processOn(uint32_t connection) const { return isHub() ? connection : 0; }
  /// Reads and handles what has arrived on a connection.
  Received read(uint32_t connection);
  void handle(Frame &frame);
  void lose(uint32_t process);
  /// Sends a message from or about `process`. The hub sends it to all processes except for that one. The other
  /// processes send it to the hub.
  void send(FrameKind kind, uint32_t process, uint32_t round = 0, const Bytes &payload = {},
            const std::vector<int> &files = {});
  /// Waits for the messages of a round. Each message begins with the name of its round.
  Status await(const std::string &what, uint32_t round, std::vector<Message> &all);
  std::string nameOf(uint32_t process) const;
  /// A number of rounds that is larger than the number in any collective call.
  static constexpr uint32_t roundsBetween = 1u << 12;

  bool isHub() const { return self_ == 0; }
  /// Returns the number of processes that have neither left nor ended.
  std::ptrdiff_t here() const { return std::count(gone_.begin(), gone_.end(), 0); }

  MeetingOptions options_;
  std::vector<Connection> connections_; ///< in the hub, indexed by process; other processes have only [0]
  std::mutex sending_;
  std::shared_ptr<Watcher> watcher_;
  std::vector<std::shared_ptr<const File>> processFiles_;
  std::vector<Watcher::Key> watched_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<uint32_t, uint32_t>, Message> incoming_; ///< by round and process
  std::vector<char> gone_;                                    ///< by process: left or lost
  bool isDeaf_ = false; ///< the hub's process has left and ended, so this process cannot learn who else leaves
  Status lost_;
  std::vector<uint32_t> lostProcesses_;
  uint32_t round_ = 0;
  bool stopping_ = false;
};

} // namespace mscclc::rt

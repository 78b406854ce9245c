// The meeting of a communicator's processes, and their connection afterwards.
//
// The process of rank 0 is the hub. The others connect to it, and it forwards what each sends. Collective steps are
// rounds: every process sends one message and receives those of all. A thread (watcher.h) reads the sockets of each
// process, and watches the processes at the other ends. So all processes notice at once if one ends or aborts the
// communicator.
#pragma once

#include "bootstrap/place.h"
#include "bootstrap/watcher.h"

#include <algorithm>

namespace mscclc::rt {

/// The message of a process in a round. The entry of the own process has no files.
struct Message {
  Bytes bytes;
  std::vector<File> files;
};

struct ProcessInfo {
  RankRange range;
  int32_t pid = 0;
};

class Rendezvous {
public:
  struct Options {
    std::string path;    ///< used without an allgather, where there are several processes
    Allgather allgather; ///< tells the processes the path, if it is there
    /// Says where other machines reach this one, where the processes may be on different machines. They have an
    /// allgather then, and exchange no files.
    FindAddress onNetwork = nullptr;
    uint32_t ranks = 0;
    RankRange mine;
    std::chrono::milliseconds timeout{60000};
    /// Called by the watching thread if a process was lost or aborted the communicator.
    std::function<void(const Status &)> failed;
  };

  /// Collective.
  static Status join(Options options, std::unique_ptr<Rendezvous> &result);
  ~Rendezvous();

  const std::vector<ProcessInfo> &processes() const { return processes_; } ///< in the order of their ranks
  uint32_t self() const { return self_; }

  /// Makes the rounds of all processes agree again. A collective call may have failed in one process only, and then the
  /// others have done more rounds in it. All processes call this equally often.
  void alignRounds() { round_ = (round_ / roundsBetween + 1) * roundsBetween; }
  /// One round. `what` names it: processes that come to different rounds fail, and say so.
  Status exchange(const std::string &what, Bytes message, std::vector<Message> &all,
                  const std::vector<int> &files = {});
  /// The same, if all is well in every process (`mine`: in this one). Else the failure of this process, or that of
  /// another. So none of them waits for one that cannot go on. `all` is empty if the processes did not come.
  Status agree(const std::string &what, const Status &mine, const Bytes &message, std::vector<Message> &all,
               const std::vector<int> &files = {});
  /// Tells all other processes.
  void abort(const Status &reason);
  /// Announces to the others that this process ends its part.
  void leave();
  /// Waits until all living processes have left, too.
  void awaitLeave();
  enum class Others {
    Gone,   ///< none is here that lives
    Unknown ///< nobody says any more who has left
  };
  /// Waits until one of these is so.
  Others awaitOthers();
  /// The ranks of processes that have ended before they left, ascending.
  std::vector<uint32_t> lostRanks() const;

private:
  explicit Rendezvous(Options options) : options_(std::move(options)) {}
  Status gather(const Place &place, Clock::time_point deadline);
  Status enter(const Place &place, Clock::time_point deadline);
  void beginWatching();
  /// Returns the process at the other end of a connection. The hub's connections are indexed by process.
  uint32_t processOn(uint32_t connection) const { return isHub() ? connection : 0; }
  /// Reads and handles what has arrived on a connection.
  Received read(uint32_t connection);
  void handle(Frame &frame);
  void lose(uint32_t process);
  void send(FrameKind kind, uint32_t process, uint32_t round = 0, const Bytes &payload = {},
            const std::vector<int> &files = {});
  std::string nameOf(uint32_t process) const;
  /// More than the rounds that a process may miss of a collective call.
  static constexpr uint32_t roundsBetween = 1u << 12;

  bool isHub() const { return self_ == 0; }
  /// Processes that have neither left nor ended.
  std::ptrdiff_t here() const { return std::count(gone_.begin(), gone_.end(), 0); }

  Options options_;
  std::vector<ProcessInfo> processes_;
  uint32_t self_ = 0;
  std::vector<Connection> connections_; ///< the hub's are indexed by process; others have only [0]
  std::mutex sending_;
  std::shared_ptr<Watcher> watcher_;
  std::vector<std::shared_ptr<const File>> processFiles_;
  std::vector<Watcher::Key> watched_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<uint32_t, uint32_t>, Message> incoming_; ///< by round and process
  std::vector<char> gone_;                                    ///< by process: left or lost
  bool isDeaf_ = false; ///< the hub's process has ended after it left: nobody says any more who else has left
  Status lost_;
  std::vector<uint32_t> lostProcesses_;
  uint32_t round_ = 0;
  bool stopping_ = false;
};

} // namespace mscclc::rt

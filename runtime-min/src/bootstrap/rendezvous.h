// How the processes of a communicator find each other and stay in touch.
//
// Rank 0's process is the hub: the others connect to it, and it passes on what each sends. Collective steps are rounds:
// every process sends one message and gets all of them. The thread that watches (watcher.h) reads the sockets of each
// process, and sees the processes at their other ends, so that one that ends, or aborts the communicator, is noticed at
// once by all.
#pragma once

#include "bootstrap/place.h"
#include "bootstrap/watcher.h"

#include <algorithm>

namespace mscclc::rt {

/// What one process sent in a round. The own process's entry has no files.
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
    /// Called from the thread that watches: a process was lost, or aborted the communicator.
    std::function<void(const Status &)> failed;
  };

  /// Collective.
  static Status join(Options options, std::unique_ptr<Rendezvous> &result);
  ~Rendezvous();

  const std::vector<ProcessInfo> &processes() const { return processes_; } ///< in the order of their ranks
  uint32_t self() const { return self_; }

  /// One round. `what` names it: processes that come to different rounds fail, and say so.
  Status exchange(const std::string &what, Bytes message, std::vector<Message> &all,
                  const std::vector<int> &files = {});
  /// The same, if all is well in every process (`mine`: in this one). Else the failure of this process, or that of
  /// another. So none of them waits for one that cannot go on. `all` is empty if the processes did not come.
  Status agree(const std::string &what, const Status &mine, const Bytes &message, std::vector<Message> &all,
               const std::vector<int> &files = {});
  /// Tells all other processes.
  void abort(const Status &reason);
  /// Tells them that this process ends its part.
  void leave();
  /// Waits until all processes that live have left too.
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
  /// The process at the other end of a connection: the hub's are by process.
  uint32_t processOn(uint32_t connection) const { return isHub() ? connection : 0; }
  /// Takes in what is there.
  Received read(uint32_t connection);
  void handle(Frame &frame);
  void lose(uint32_t process);
  void send(FrameKind kind, uint32_t process, uint32_t round = 0, const Bytes &payload = {},
            const std::vector<int> &files = {});
  std::string nameOf(uint32_t process) const;
  bool isHub() const { return self_ == 0; }
  /// Processes that have neither left nor ended.
  std::ptrdiff_t here() const { return std::count(gone_.begin(), gone_.end(), 0); }

  Options options_;
  std::vector<ProcessInfo> processes_;
  uint32_t self_ = 0;
  std::vector<Connection> connections_; ///< the hub's: by process; others': only [0]
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

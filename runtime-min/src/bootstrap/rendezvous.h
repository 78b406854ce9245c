// How the processes of a communicator find each other and stay in touch.
//
// Rank 0's process is the hub: the others connect to it, and it passes on what each sends. Collective steps are rounds:
// every process sends one message and gets all of them. A thread of each process reads its sockets, so that a process
// that ends, or aborts the communicator, is noticed at once by all.
#pragma once

#include "bootstrap/place.h"
#include "bootstrap/socket.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace mscclc::rt {

/// What one process sent in a round. The own process's entry has no files.
struct Message {
  Bytes bytes;
  std::vector<File> files;
};

struct ProcessInfo {
  uint32_t firstRank = 0;
  uint32_t ranks = 0;
  int32_t pid = 0;
};

class Rendezvous {
public:
  struct Options {
    std::string path;    ///< not used where all ranks are in one process
    Allgather allgather; ///< tells the processes the path, if it is there
    /// The processes may be on different machines. They have an allgather, and exchange no files.
    bool mayBeApart = false;
    uint32_t ranks = 0;
    uint32_t firstRank = 0;
    uint32_t localRanks = 0;
    std::chrono::milliseconds timeout{60000};
  };
  /// Called from the reading thread.
  struct Callbacks {
    std::function<void(const Status &)> failed; ///< a process was lost, or aborted the communicator
  };

  static Status join(const Options &options, Callbacks callbacks, std::unique_ptr<Rendezvous> &result);
  ~Rendezvous();

  const std::vector<ProcessInfo> &processes() const { return processes_; } ///< in the order of their ranks
  uint32_t self() const { return self_; }
  uint32_t processOf(uint32_t rank) const;

  /// One round. `what` names it: processes that come to different rounds fail, and say so.
  Status exchange(const std::string &what, Bytes message, const std::vector<int> &files, std::vector<Message> &all);
  /// The same without files.
  Status exchangeBytes(const std::string &what, Bytes message, std::vector<Bytes> &all);
  /// Tells all other processes.
  void abort(const Status &reason);
  /// Waits until all processes that live have left too.
  void leave();

private:
  explicit Rendezvous(Options options, Callbacks callbacks)
      : options_(std::move(options)), callbacks_(std::move(callbacks)) {}
  Status gather(const Place &place, Clock::time_point deadline);
  Status enter(const Place &place, Clock::time_point deadline);
  void read();
  void handle(Frame &frame);
  void lose(uint32_t process);
  void send(FrameKind kind, uint32_t process, uint32_t round, const Bytes &payload, const std::vector<int> &files,
            uint32_t except);
  std::string missing(uint32_t round) const;
  std::string nameOf(uint32_t process) const;
  bool isHub() const { return self_ == 0; }

  struct Incoming {
    Bytes bytes;
    std::vector<File> files;
    bool complete = false;
  };

  Options options_;
  Callbacks callbacks_;
  std::vector<ProcessInfo> processes_;
  uint32_t self_ = 0;
  std::vector<File> sockets_; ///< the hub's: by process; others': only [0]
  File wakeUp_;
  std::thread reader_;
  std::mutex sending_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<uint32_t, uint32_t>, Incoming> incoming_; ///< by round and process
  std::vector<char> gone_;                                     ///< by process: left or lost
  Status lost_;
  uint32_t round_ = 0;
  bool stopping_ = false;
};

} // namespace mscclc::rt

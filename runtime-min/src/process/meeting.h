// The processes of a communicator, and the one way in which they exchange messages.
//
// Collective steps are rounds: every process sends one message and receives those of all. A process with all ranks
// receives its own message alone. Several processes meet at sockets, which is a part of its own (../../rendezvous).
#pragma once

#include "bytes.h"
#include "process/file.h"
#include "status.h"

#include <chrono>
#include <functional>
#include <memory>

namespace mscclc::rt {

/// The caller's exchange; see MscclcCommunicatorOptions::allgather.
struct Allgather {
  int32_t (*call)(void *context, void *all, uint64_t each) = nullptr;
  void *context = nullptr;
  uint32_t process = 0;
  uint32_t processes = 0; ///< 0: all processes have the same number of ranks
};

/// Ranks of a process.
struct RankRange {
  uint32_t first = 0;
  uint32_t count = 0;
};
/// "rank 1", "ranks 4 to 7".
std::string nameOf(const RankRange &range);

struct Address;
/// Finds where other machines reach this one, at any port.
using FindAddress = Status (*)(Address &result);

struct MeetingOptions {
  std::string path;    ///< where several processes meet without an allgather
  Allgather allgather; ///< exchanges the path between processes
  /// Set if the processes may be on different machines. They have an allgather then, and exchange no files.
  FindAddress onNetwork = nullptr;
  uint32_t ranks = 0;
  RankRange mine;
  std::chrono::milliseconds timeout{60000};
  /// Called by the watching thread if a process was lost or aborted the communicator.
  std::function<void(const Status &)> failed;
};

/// The message of a process in a round. The entry of the own process has no files.
struct Message {
  Bytes bytes;
  std::vector<File> files;
};

struct ProcessInfo {
  RankRange range;
  int32_t pid = 0;
};

/// The meeting of one process, and the interface to that of several.
class Meeting {
public:
  explicit Meeting(const RankRange &mine);
  virtual ~Meeting() = default;
  Meeting(const Meeting &) = delete;

  /// Collective.
  static Status join(MeetingOptions options, std::unique_ptr<Meeting> &result);

  const std::vector<ProcessInfo> &processes() const { return processes_; } ///< in the order of their ranks
  uint32_t self() const { return self_; }

  /// One round. `what` names it: processes that come to different rounds fail, and the error names both. If a process
  /// comes with a failure (`mine`: of this one), all fail: this one with its own failure, else with that of another.
  /// So no process waits for one that cannot go on. `all` is empty if the processes did not come.
  virtual Status agree(const std::string &what, const Status &mine, const Bytes &message, std::vector<Message> &all,
                       const std::vector<int> &files = {});
  /// The same, of a process without a failure.
  Status exchange(const std::string &what, const Bytes &message, std::vector<Message> &all,
                  const std::vector<int> &files = {}) {
    return agree(what, {}, message, all, files);
  }
  /// Makes the rounds of all processes agree again. A collective call may have failed in one process only, and then the
  /// others have done more rounds in it. All processes call this equally often.
  virtual void alignRounds() {}
  /// Sends the failure to all other processes.
  virtual void abort(const Status &) {}
  /// Announces to the others that this process ends its part.
  virtual void leave() {}
  /// Waits until all living processes have left, too.
  virtual void awaitLeave() {}
  enum class Others {
    Gone,   ///< each other process has left or has ended
    Unknown ///< no process announces any more who has left
  };
  /// Waits until one of these holds.
  virtual Others awaitOthers() { return Others::Gone; }
  /// The ranks of processes that have ended before they left, ascending.
  virtual std::vector<uint32_t> lostRanks() const { return {}; }

protected:
  std::vector<ProcessInfo> processes_;
  uint32_t self_ = 0;
};

/// Meets other processes. The rendezvous sets it (../../rendezvous), if it is part of the library.
extern Status (*meetOthers)(MeetingOptions options, std::unique_ptr<Meeting> &result);

} // namespace mscclc::rt

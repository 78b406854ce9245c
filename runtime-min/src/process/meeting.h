// The processes of a communicator, and the one way in which they exchange messages.
//
// Collective steps are rounds: every process sends one message, and receives the messages of all. A process that has
// all ranks receives only its own message. Several processes meet at sockets, in a separate part (../../rendezvous).
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
/// Returns "rank 1" or "ranks 4 to 7".
std::string nameOf(const RankRange &range);

struct Address;
/// Finds the address at which other machines reach this one, with port 0 (any port).
using FindAddress = Status (*)(Address &result);

struct MeetingOptions {
  std::string path;    ///< path at which several processes meet without an allgather
  Allgather allgather; ///< exchanges the path between processes
  /// Set if the processes may be on different machines. Such processes have an allgather, and exchange no files.
  FindAddress onNetwork = nullptr;
  uint32_t ranks = 0;
  RankRange mine;
  std::chrono::milliseconds timeout{60000};
  /// Called by the watching thread if a process was lost or aborted the communicator.
  std::function<void(const Status &)> failed;
};

/// The message of a process in a round. A process does not get the files of its own message.
struct Message {
  Bytes bytes;
  std::vector<File> files;
};

struct ProcessInfo {
  RankRange range;
  int32_t pid = 0;
};

/// The meeting of a single process, and the interface to a meeting of several processes.
class Meeting {
public:
  explicit Meeting(const RankRange &mine);
  virtual ~Meeting() = default;
  Meeting(const Meeting &) = delete;

  /// Collective.
  static Status join(MeetingOptions options, std::unique_ptr<Meeting> &result);

  const std::vector<ProcessInfo> &processes() const { return processes_; } ///< in the order of their ranks
  uint32_t self() const { return self_; }

  /// Does one round. `what` is its name. Processes that come to different rounds fail, and the error has both names.
  /// `mine` is this process's status. If a process comes with a failure, all processes fail, each with its own failure
  /// or else with another's. So no process waits for a process that cannot go on. `all` is empty if a process did not
  /// come to this round.
  virtual Status agree(const std::string &what, const Status &mine, const Bytes &message, std::vector<Message> &all,
                       const std::vector<int> &files = {});
  /// Does one round as a process without a failure.
  Status exchange(const std::string &what, const Bytes &message, std::vector<Message> &all,
                  const std::vector<int> &files = {}) {
    return agree(what, {}, message, all, files);
  }
  /// Gives the next round the same number in all processes. A collective call may have failed in one process only, and
  /// then the others have done more rounds in it. All processes call this equally often.
  virtual void alignRounds() {}
  /// Sends the failure to all other processes.
  virtual void abort(const Status &) {}
  /// Announces to the other processes that this process leaves the communicator.
  virtual void leave() {}
  /// Waits until all living processes have left, too.
  virtual void awaitLeave() {}
  enum class Others {
    Gone,   ///< every other process has left or has ended
    Unknown ///< no process announces any more who has left
  };
  /// Waits until the other processes are gone, or until this process cannot learn any more who has left.
  virtual Others awaitOthers() { return Others::Gone; }
  /// Returns the ranks of processes that ended without leaving, ascending.
  virtual std::vector<uint32_t> lostRanks() const { return {}; }

protected:
  std::vector<ProcessInfo> processes_;
  uint32_t self_ = 0;
};

/// Makes a meeting of several processes. The function is set by ../../rendezvous; null if that is not part of the
/// library.
extern Status (*meetOthers)(MeetingOptions options, std::unique_ptr<Meeting> &result);

} // namespace mscclc::rt

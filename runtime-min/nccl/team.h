// The ranks of a communicator in this process, with a communicator of the runtime beside the real one.
#pragma once

#include "direct.h"
#include "library.h"
#include "member.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>

namespace mscclc::nccl {

/// The way in which a call ends.
struct Outcome {
  enum class Way {
    Ours,   ///< a kernel runs it
    PassOn, ///< the real NCCL runs it; all ranks decide this
    Failed  ///< it cannot run: ranks of other processes may have started it, so NCCL cannot run it either
  } way = Way::PassOn;
  std::string why;
  int result = InternalError; ///< result for the program, if the call failed
};

/// A failed launch that the program must be informed of.
struct Failure {
  int result = Success; ///< Success: there is no failure
  std::string why;
};

/// The local ranks of a communicator. They make their calls together.
class Team {
public:
  /// The ranks of a team, and the local ranks among them.
  struct Layout {
    std::string meeting; ///< the same on all ranks, and unique to this team
    uint32_t ranks = 0;
    uint32_t ranksPerNode = 0;
    uint32_t firstLocal = 0;
    uint32_t locals = 0;
  };

  explicit Team(Layout layout);
  ~Team();
  Team(const Team &) = delete;
  Team &operator=(const Team &) = delete;

  void join(Member &member);
  /// Ends a member's part when its communicator ends. The last member ends the team. But if the team uses the real
  /// communicators, the first member ends it, collectively over processes. After an abort, this must be called after
  /// the real communicator has ended.
  void leave(Member &member);
  /// Makes running kernels and waiting calls give up, so that the real communicator can end. Waits for at most a
  /// second. May be called from any thread.
  void abort();
  Failure failure();

  /// Runs a call of each of these members, which are in this process. Waits until other threads have made the calls of
  /// the other members. The last thread launches for all.
  Outcome run(const std::vector<std::pair<Member *, const Call *>> &calls, const Choice &choice);

private:
  Outcome launchAll(const Choice &choice);
  /// A kernel that has been called, and its windows: data is copied to `input` before and from `output` afterwards. A
  /// kernel that works in place has no `input`.
  struct Prepared {
    MscclcInstance *instance = nullptr;
    MscclcBuffer *input = nullptr;
    MscclcBuffer *output = nullptr;
    std::string why; ///< the reason why it cannot run; empty: it can
  };
  Outcome launch(const Prepared &prepared, const Choice &choice);
  Outcome afterFailure(const std::string &why, bool keepsInput);
  Outcome fails(const std::string &why);
  Failure failureOfRuntime() const;
  std::string orderAll();
  MscclcStaging stagingOf(uint32_t localIndex) const;
  std::string placeData(const Prepared &prepared, const Choice &choice, MscclcCall &call, bool &isDirect);
  bool keepsInput() const;
  Shape shapeOfCall(uint32_t localIndex) const;
  std::string mark();
  std::string order(Member &member, cudaStream_t stream);
  std::string makeCommunicator();
  Prepared prepare(const MscclcKernel &kernel);
  std::string findWindow(uint64_t bytes, const MscclcBuffer *besides, MscclcBuffer *&window);
  std::string agree(const std::string &why);
  bool capturing() const;
  bool isOnNccl() const { return layout_.ranksPerNode != layout_.ranks; }
  void awaitLast(Member &member);
  void awaitAborted();
  void endOnNccl();

  const Layout layout_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Member *> members_;   ///< by local index
  std::vector<const Call *> calls_; ///< the calls of this round, by local index
  uint32_t arrived_ = 0;
  uint64_t round_ = 0;
  Outcome outcome_; ///< result of the last round

  /// Transitions: New → Open or Refused. Open → Refused, Failed or Ended. Failed → Ended. Any → Aborted, which is
  /// final.
  enum class State {
    New,     ///< there was no call yet
    Open,    ///< kernels run
    Refused, ///< NCCL runs all calls; refused_ has the reason
    Failed,  ///< a call was lost; lost_ has the failure
    Ended,   ///< the communicator of the runtime has ended, before the real ones
    Aborted  ///< the program aborted it
  };
  bool is(State state) const { return state_ == state; }
  void become(State next);

  std::atomic<State> state_{State::New}; ///< changed only with handle_ held
  std::string refused_;
  std::mutex handle_; ///< protects communicator_ for readers without mutex_; writers hold both
  MscclcCommunicator *communicator_ = nullptr;
  std::vector<MscclcBuffer *> windows_; ///< shared by all kernels, because calls follow each other
  OwnMemory own_;
  std::map<const MscclcKernel *, Prepared> instances_;
  bool earlierRuns_ = false; ///< an earlier call was still running when the round began
  Failure lost_;             ///< the first failure; changed only with handle_ held
};

} // namespace mscclc::nccl

// The ranks of a communicator that are in this process, with a communicator of the runtime beside the real one.
#pragma once

#include "direct.h"
#include "library.h"
#include "member.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>

namespace mscclc::nccl {

/// How a call ended.
struct Outcome {
  enum class Way {
    Ours,   ///< a kernel runs it
    PassOn, ///< the real NCCL is to run it: on all ranks, as all came to the same
    Failed  ///< nobody runs it: ranks of other processes may have started, so NCCL cannot either
  } way = Way::PassOn;
  std::string why;
  int result = InternalError; ///< for the program, where the call failed
};

/// A launch of ours that failed in a way that the program must hear of.
struct Failure {
  int result = Success; ///< if there is none
  std::string why;
};

class Team {
public:
  /// Where the ranks of a team are in relation to this process.
  struct Place {
    std::string meeting; ///< the same on all ranks, and of this team alone
    uint32_t ranks = 0;
    uint32_t ranksPerNode = 0;
    uint32_t firstLocal = 0;
    uint32_t locals = 0;
  };

  explicit Team(Place place);
  ~Team();
  Team(const Team &) = delete;
  Team &operator=(const Team &) = delete;

  void join(Member &member);
  /// A member's communicator ends. The last one takes the team down; where the team uses the real communicators, the
  /// first one does, which is collective over processes. After an abort: once the real communicator has ended.
  void leave(Member &member);
  /// Makes kernels that run, and calls that wait, give up; the real communicator may end then. Waits for a second at
  /// most. From any thread.
  void abort();
  Failure failure();

  /// Runs a call of each of these members, which are in this process. Waits until the members of other threads have
  /// come with theirs; the last one launches for all.
  Outcome run(const std::vector<std::pair<Member *, const Call *>> &calls, const Choice &choice);

private:
  Outcome launchAll(const Choice &choice);
  /// A kernel that has been called, and where calls are copied to and from. One that works in place has no input.
  struct Prepared {
    MscclcInstance *instance = nullptr;
    MscclcBuffer *input = nullptr;
    MscclcBuffer *output = nullptr;
    std::string why; ///< it cannot run
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
  bool isOnNccl() const { return place_.ranksPerNode != place_.ranks; }
  void awaitLast(Member &member);
  void awaitAborted();
  void endOnNccl();

  const Place place_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Member *> members_;   ///< by local index
  std::vector<const Call *> calls_; ///< of the round, by local index
  uint32_t arrived_ = 0;
  uint64_t round_ = 0;
  Outcome outcome_; ///< of the last round

  /// New → Open or Refused. Open → Refused, Failed or Ended. Failed → Ended. Any → Aborted, which lasts.
  enum class State {
    New,     ///< no call has come
    Open,    ///< kernels run
    Refused, ///< NCCL has all calls: refused_
    Failed,  ///< a call was lost: lost_
    Ended,   ///< the communicator of the runtime has ended, before the real ones
    Aborted  ///< by the program
  };
  bool is(State state) const { return state_ == state; }
  void become(State next);

  std::atomic<State> state_{State::New}; ///< whoever changes it holds handle_
  std::string refused_;
  std::mutex handle_; ///< for communicator_ without the other lock; whoever changes it holds both
  MscclcCommunicator *communicator_ = nullptr;
  std::vector<MscclcBuffer *> windows_; ///< kernels share them, as calls follow each other
  OwnMemory own_;
  std::map<const MscclcKernel *, Prepared> instances_;
  bool earlierRuns_ = false; ///< an earlier call was not done when the round began
  Failure lost_;             ///< the first; whoever changes it holds handle_
};

} // namespace mscclc::nccl

// A rank of the fake NCCL's communicator, and what it does in a stream.
#pragma once

#include "nccl.h"
#include "shared.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fake {

enum class Kind { AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, AllToAll, Gather, Scatter, Send, Recv };

/// The factor of an operation from ncclNumOps on.
struct Scalar {
  std::vector<char> bytes;
  const void *at = nullptr; ///< or its address when the operation runs
  bool ended = false;
};

struct Operation {
  Kind kind;
  const void *send;
  void *recv;
  size_t count;
  ncclDataType_t type;
  int op;
  int root;      ///< or the peer
  Scalar scalar; ///< its value at the time of the call
};

/// Work in a stream. It is kept until its communicator ends, because a graph may repeat it.
struct Work {
  ncclComm *comm;
  std::vector<Operation> operations; ///< a collective, or any number of sends and receives
};

} // namespace fake

struct ncclComm {
  fake::Shared *shared = nullptr;
  std::string name;
  int ranks = 0, rank = 0, device = 0;
  bool blocking = true;
  int polls = 0;                                        ///< of the state until a call that does not block is done
  uint32_t registered = 0;                              ///< windows, where it does not block
  std::vector<std::pair<ncclWindow_t *, void *>> begun; ///< those that are not there yet, with their memory
  uint64_t splits = 0;
  std::mutex running; ///< held by what runs
  std::mutex adding;  ///< of works
  std::vector<std::unique_ptr<fake::Work>> works;
  std::vector<fake::Scalar> scalars; ///< of operations from ncclNumOps on
};

namespace fake {

/// Runs in stream order, together with all other ranks.
void run(Work &work);

} // namespace fake

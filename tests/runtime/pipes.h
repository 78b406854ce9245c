// An exchange between the processes of a test, over pipes that exist before the processes. It takes the place of mpirun
// or torchrun.
#pragma once

#include "processes.h"

#include <vector>

namespace testing {

/// Returns the options for ranks that are spread over processes without a common meeting place.
inline CommunicatorOptions withoutPlace(uint32_t ranks, uint32_t processes, uint32_t process) {
  CommunicatorOptions options = spread(ranks, processes, process, {});
  options.rendezvous = nullptr;
  return options;
}

class Pipes {
public:
  explicit Pipes(uint32_t processes) : processes_(processes), ends_(processes * processes) {
    for (Ends &ends : ends_)
      REQUIRE(::pipe(ends.file) == 0);
  }
  ~Pipes() {
    for (const Ends &ends : ends_) {
      ::close(ends.file[0]);
      ::close(ends.file[1]);
    }
  }
  Pipes(const Pipes &) = delete;

  /// `all` has one part for each process; that of `process` is filled in before. A part must fit into a pipe.
  bool exchange(uint32_t process, void *all, uint64_t each) {
    const auto part = [&](uint32_t of) { return static_cast<char *>(all) + of * each; };
    for (uint32_t to = 0; to < processes_; ++to)
      if (::write(ends_[process * processes_ + to].file[1], part(process), each) != static_cast<ssize_t>(each))
        return false;
    for (uint32_t from = 0; from < processes_; ++from)
      if (::read(ends_[from * processes_ + process].file[0], part(from), each) != static_cast<ssize_t>(each))
        return false;
    return true;
  }

private:
  struct Ends {
    int file[2];
  };
  uint32_t processes_;
  std::vector<Ends> ends_; ///< by writer, then reader
};

/// Runs one AllReduce of packets4. Returns whether every local rank has the sum.
inline bool reduces(Communicator &communicator, Instance &instance, Buffer &input, Buffer &output) {
  const std::vector<float> expected(64, 1 + 2 + 3 + 4);
  for (uint32_t i = 0; i < communicator.localRanks(); ++i) {
    const uint32_t rank = communicator.firstLocalRank() + i;
    input.write(rank, std::vector<float>(64, static_cast<float>(rank + 1)));
  }
  instance.launch(Call().on(input, output).of(256, MSCCLC_F32));
  communicator.synchronize();
  for (uint32_t i = 0; i < communicator.localRanks(); ++i)
    if (output.read<float>(communicator.firstLocalRank() + i, 64) != expected)
      return false;
  return true;
}

} // namespace testing

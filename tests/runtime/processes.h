// Runs the parts of a test in processes of their own.
#pragma once

#include "fixture.h"

#include <csignal>
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

namespace testing {

/// Returns the options for ranks that are spread over processes, which meet at `place`.
inline CommunicatorOptions spread(uint32_t ranks, uint32_t processes, uint32_t process, const std::string &place) {
  CommunicatorOptions options = onHost(ranks);
  options.first_local_rank = ranks * process / processes;
  options.local_ranks = ranks * (process + 1) / processes - options.first_local_rank;
  options.rendezvous = place.c_str();
  options.setup_timeout_ms = 20000;
  useNccl(options, place);
  return options;
}

/// Runs `part` in each of the processes. Returns their results: -1 for a process that was killed, 99 for one that
/// threw. A part that hangs is killed after a minute.
inline std::vector<int> inProcesses(uint32_t processes, const std::function<int(uint32_t)> &part) {
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (uint32_t process = 0; process < processes; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      int code = 99;
      try {
        code = part(process);
      } catch (const std::exception &error) {
        std::fprintf(stderr, "process %u: %s\n", process, error.what());
      }
      std::fflush(nullptr);
      ::_exit(code);
    }
    children.push_back(child);
  }
  std::vector<int> codes;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    codes.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  }
  return codes;
}

} // namespace testing

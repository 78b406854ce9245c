// mscclc-perf runs kernels that mscclc emitted, and checks their results. It prints their times, or fits the parameters
// of a machine to these times.
#include "bench.h"
#include "calibrate.h"
#include "device.h"
#include "manifest_times.h"
#include "nccl_ranks.h"
#include "options.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

/// Does the work of process number `process`. Returns its exit code.
int runProcess(const mscclc::perf::Options &options, uint32_t process, const std::string &rendezvous) {
  return options.manifest.empty() ? mscclc::perf::run(options, process, rendezvous)
                                  : mscclc::perf::measureManifest(options, process, rendezvous);
}

/// Starts all processes, and waits for them. Returns the largest of their exit codes.
int runProcesses(const mscclc::perf::Options &options) {
  const std::string rendezvous = "@mscclc-perf-" + std::to_string(::getpid());
  std::vector<pid_t> children;
  for (uint32_t process = 0; process < options.processes; ++process) {
    const pid_t child = ::fork();
    if (child < 0) {
      std::perror("mscclc-perf: fork");
      for (const pid_t started : children)
        ::kill(started, SIGTERM);
      break;
    }
    if (child == 0) {
      // The child must end with its parent, because nothing else would end a child that hangs.
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      std::exit(runProcess(options, process, rendezvous));
    }
    children.push_back(child);
  }
  int worst = children.size() == options.processes ? 0 : 1;
  for (size_t process = 0; process < children.size(); ++process) {
    const pid_t child = children[process];
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status))
      std::fprintf(stderr, "mscclc-perf: process %zu (%d) was ended by signal %d\n", process, static_cast<int>(child),
                   WTERMSIG(status));
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    worst = code > worst ? code : worst;
  }
  return worst;
}

} // namespace

int main(int argc, char **argv) {
  mscclc::perf::Options options;
  if (const int code = mscclc::perf::parseOptions(argc, argv, options); code >= 0)
    return code;
  mscclc::perf::prepareProcess();
  if (!options.nccl.empty())
    mscclc::perf::prepareNccl();
  if (options.calibrate)
    return mscclc::perf::calibrate(options);
  return options.processes == 1 ? runProcess(options, 0, "") : runProcesses(options);
}

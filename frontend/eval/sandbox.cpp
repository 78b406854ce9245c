#include "frontend/eval/sandbox.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mscclc::frontend {

std::optional<SharedMemory> SharedMemory::create(std::uint64_t bytes, std::uint64_t least) {
  for (; bytes >= least && bytes != 0; bytes /= 2) {
    void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at != MAP_FAILED)
      return SharedMemory({static_cast<std::byte *>(at), bytes});
  }
  return std::nullopt;
}

SharedMemory::~SharedMemory() {
  if (!bytes_.empty())
    munmap(bytes_.data(), bytes_.size());
}

namespace {

/// leave() adds this mark to its exit status. The parent sees only the last byte of the status. The sandbox sees the
/// whole status, so it can distinguish leave() from other exits.
constexpr int ownStatus = 0x4d530000;

int handOverPipe = -1; ///< a child's end of the pipe to its parent

/// The results of waiting for a child: it sent a word, its end of the pipe was closed, or neither.
enum class Reply { Word, Close, Nothing };

/// Waits until a word comes or the other end is closed, for at most `seconds`.
Reply listen(int fd, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    const auto left = std::chrono::duration<double, std::milli>(end - Clock::now()).count();
    if (left <= 0)
      return Reply::Nothing;
    pollfd p{fd, POLLIN, 0};
    const int ready = poll(&p, 1, static_cast<int>(std::min(left + 1, 1e9)));
    if (ready < 0 && errno != EINTR)
      return Reply::Close; // waitpid will give the reason
    if (ready <= 0)
      continue;
    char word = 0;
    const ssize_t bytes = read(fd, &word, 1);
    if (bytes >= 0 || errno != EINTR)
      return bytes == 1 ? Reply::Word : Reply::Close;
  }
}

void setLimit(int what, rlim_t value) {
  rlimit limit{};
  if (getrlimit(static_cast<decltype(RLIMIT_AS)>(what), &limit) != 0)
    return;
  limit.rlim_cur = std::min(value, limit.rlim_max);
  setrlimit(static_cast<decltype(RLIMIT_AS)>(what), &limit);
}

/// Bytes of address space in use; 0 where /proc is not mounted.
std::uint64_t addressSpaceInUse() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool addressSpaceIsOurs = false; // the sanitizer maps terabytes
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool addressSpaceIsOurs = false;
#else
constexpr bool addressSpaceIsOurs = true;
#endif
#else
constexpr bool addressSpaceIsOurs = true;
#endif

/// Returns a condition: argument `index` of a system call, counted from 0, equals `value`. Unlike SCMP_A0 and the like,
/// this sets the field for masks.
constexpr scmp_arg_cmp isEqual(unsigned index, scmp_datum_t value) {
  return {index, SCMP_CMP_EQ, value, 0};
}

/// A filter of system calls. It is loaded at the end, or dropped if the kernel has no filters.
class Filter {
public:
  explicit Filter(std::uint32_t otherwise) : context_(seccomp_init(otherwise)) {}
  ~Filter() {
    if (context_)
      seccomp_release(context_);
  }
  Filter(const Filter &) = delete;
  Filter &operator=(const Filter &) = delete;

  template <typename... Conditions> void rule(std::uint32_t action, int call, Conditions... conditions) {
    if (context_ && call != __NR_SCMP_ERROR)
      seccomp_rule_add(context_, action, call, sizeof...(conditions), conditions...);
  }
  bool load() { return context_ && seccomp_load(context_) == 0; }

private:
  scmp_filter_ctx context_;
};

/// Denies changes of the system. Clang only reads files, and starts threads if its stack is nearly full.
void denyChanges() {
  Filter filter(SCMP_ACT_ALLOW);
  const std::uint32_t deny = SCMP_ACT_ERRNO(EPERM);
  for (const int call :
       {SCMP_SYS(execve),   SCMP_SYS(execveat),  SCMP_SYS(fork),     SCMP_SYS(vfork),     SCMP_SYS(ptrace),
        SCMP_SYS(socket),   SCMP_SYS(creat),     SCMP_SYS(unlink),   SCMP_SYS(unlinkat),  SCMP_SYS(rename),
        SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(mkdir),    SCMP_SYS(mkdirat),   SCMP_SYS(rmdir),
        SCMP_SYS(link),     SCMP_SYS(linkat),    SCMP_SYS(symlink),  SCMP_SYS(symlinkat), SCMP_SYS(mknod),
        SCMP_SYS(mknodat),  SCMP_SYS(chmod),     SCMP_SYS(fchmod),   SCMP_SYS(fchmodat),  SCMP_SYS(chown),
        SCMP_SYS(fchown),   SCMP_SYS(fchownat),  SCMP_SYS(lchown),   SCMP_SYS(truncate),  SCMP_SYS(ftruncate),
        SCMP_SYS(mount),    SCMP_SYS(utimensat), SCMP_SYS(setxattr), SCMP_SYS(openat2),   SCMP_SYS(io_uring_setup)})
    filter.rule(deny, call);
  for (const int flag : {O_WRONLY, O_RDWR, O_CREAT, O_TRUNC}) {
    const auto set = static_cast<scmp_datum_t>(flag);
    filter.rule(deny, SCMP_SYS(open), SCMP_A1(SCMP_CMP_MASKED_EQ, set, set));
    filter.rule(deny, SCMP_SYS(openat), SCMP_A2(SCMP_CMP_MASKED_EQ, set, set));
  }
  filter.load();
}

} // namespace

Child::Child(const std::function<int()> &body) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    end_.code = errno;
    return;
  }
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0)
    end_.code = errno;
  if (pid_ == 0) {
    close(ends[0]);
    handOverPipe = ends[1];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      leave(1);
    leave(body());
  }
  close(ends[1]);
  resultPipe_ = ends[0];
}

Child::~Child() {
  end();
  if (resultPipe_ >= 0)
    close(resultPipe_);
}

void Child::wait(double seconds, double foreignSeconds) {
  if (pid_ <= 0)
    return;
  Reply reply = listen(resultPipe_, seconds);
  if (reply == Reply::Word) { // a child sends only one word
    using Clock = std::chrono::steady_clock;
    const Clock::time_point since = Clock::now();
    runsForeignCode_ = true;
    reply = listen(resultPipe_, foreignSeconds);
    foreignSeconds_ = std::chrono::duration<double>(Clock::now() - since).count();
  }
  isLate_ = reply == Reply::Nothing;
}

ChildEnd Child::end() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL); // has no effect on a child that is ending
    reap();
  }
  return end_;
}

void Child::reap() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0)
    if (errno != EINTR) {
      end_ = {ChildEnd::NotStarted, errno};
      pid_ = -1;
      return;
    }
  pid_ = -1;
  if (isLate_)
    end_ = {ChildEnd::TimedOut, 0};
  else if (WIFSIGNALED(status))
    end_ = {ChildEnd::Signalled, WTERMSIG(status)};
  else
    end_ = {ChildEnd::Exited, WEXITSTATUS(status)};
}

void announceForeignCode() {
  while (::write(handOverPipe, "!", 1) < 0 && errno == EINTR) {
  }
}

void handOver() {
  close(handOverPipe);
}

void leave(int status) {
  _exit(ownStatus | (status & 0xff));
}

void limitAddressSpace(std::uint64_t bytes) {
  if (const std::uint64_t inUse = addressSpaceInUse(); addressSpaceIsOurs && inUse != 0)
    setLimit(RLIMIT_AS, inUse + bytes);
}

void limitProcess(double seconds, std::uint64_t bytes) {
  if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
  }
  limitAddressSpace(bytes);
  setLimit(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(seconds)) + 2);
  setLimit(RLIMIT_FSIZE, 0);
  setLimit(RLIMIT_CORE, 0);
  std::signal(SIGXFSZ, SIG_IGN);
  prctl(PR_SET_DUMPABLE, 0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  denyChanges();
}

bool enterSandbox() {
  Filter filter(SCMP_ACT_TRAP);
  for (const int call :
       {SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(madvise),
        SCMP_SYS(mremap), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(sched_yield)})
    filter.rule(SCMP_ACT_ALLOW, call);
  filter.rule(SCMP_ACT_ALLOW, SCMP_SYS(exit_group),
              SCMP_A0(SCMP_CMP_MASKED_EQ, static_cast<scmp_datum_t>(~0xff), static_cast<scmp_datum_t>(ownStatus)));
  filter.rule(SCMP_ACT_ALLOW, SCMP_SYS(close), isEqual(0, static_cast<scmp_datum_t>(handOverPipe)));
  // abort() raises its signal this way. Any other signal could stop the process forever.
  filter.rule(SCMP_ACT_ALLOW, SCMP_SYS(tgkill), isEqual(0, static_cast<scmp_datum_t>(getpid())), isEqual(2, SIGABRT));
  // Of futex calls, only wake-ups are allowed. The process has only one thread, so nothing could end a wait for a lock.
  constexpr scmp_datum_t command = 0x7f; // selects the command without its flags, like FUTEX_CMD_MASK
  filter.rule(SCMP_ACT_ALLOW, SCMP_SYS(futex), SCMP_A1(SCMP_CMP_MASKED_EQ, command, FUTEX_WAKE));
  // A sanitizer warns about a change of stacks on standard error, which leads nowhere. The sanitizer also looks up the
  // stack before an exit.
  if (!addressSpaceIsOurs) {
    filter.rule(SCMP_ACT_ALLOW, SCMP_SYS(write), isEqual(0, static_cast<scmp_datum_t>(STDERR_FILENO)));
    filter.rule(SCMP_ACT_ALLOW, SCMP_SYS(openat), SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT, O_RDONLY));
    for (const int call : {SCMP_SYS(read), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(prlimit64),
                           SCMP_SYS(sched_getaffinity), SCMP_SYS(futex), SCMP_SYS(sigaltstack), SCMP_SYS(exit_group)})
      filter.rule(SCMP_ACT_ALLOW, call);
  }
  const auto executable = static_cast<scmp_datum_t>(PROT_EXEC);
  const auto anonymous = static_cast<scmp_datum_t>(MAP_ANONYMOUS);
  filter.rule(SCMP_ACT_ALLOW, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, executable, 0),
              SCMP_A3(SCMP_CMP_MASKED_EQ, anonymous, anonymous));
#ifdef PR_SET_TSC
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
#endif
  return filter.load();
}

} // namespace mscclc::frontend

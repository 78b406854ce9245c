#include "bootstrap/process_end.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace mscclc::rt {
namespace {

/// pidfd_open(2), of Linux 5.3 and newer.
File openProcess([[maybe_unused]] pid_t process) {
#ifdef SYS_pidfd_open
  return File(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
#else
  return {};
#endif
}

bool hasEnded(const File &process) {
  pollfd entry{process.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) != 0;
}

} // namespace

pid_t processAt(const File &socket) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.pid > 0 ? peer.pid : 0;
}

std::shared_ptr<const File> ProcessEnds::of(pid_t process) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::weak_ptr<const File> &known = known_[process];
  // Numbers are given again.
  if (std::shared_ptr<const File> file = known.lock(); file && !hasEnded(*file))
    return file;
  auto made = std::make_shared<const File>(openProcess(process));
  if (!made->valid())
    return nullptr;
  known = made;
  return made;
}

} // namespace mscclc::rt

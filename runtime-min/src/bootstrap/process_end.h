// Notices that a process has ended by the process itself: a socket to it stays open while a child of its fork lives.
#pragma once

#include "bootstrap/file.h"

#include <map>
#include <memory>
#include <mutex>
#include <sys/types.h>

namespace mscclc::rt {

/// The process at the other end of a socket, by its number here; 0 where that is not known: on another machine, or in
/// a namespace that cannot be seen from here.
pid_t processAt(const File &socket);

/// Descriptors of processes (ofProcess): one for each, however many communicators it is in.
class ProcessEnds {
public:
  /// Can be read once the process has ended. Null where the system has no such descriptor.
  std::shared_ptr<const File> of(pid_t process);

private:
  std::mutex mutex_;
  std::map<pid_t, std::weak_ptr<const File>> known_;
};

} // namespace mscclc::rt

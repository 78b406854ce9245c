// A child process with limits: it cannot exceed its time and its memory, and cannot change anything outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace mscclc::frontend {

/// Anonymous memory that child processes share. Pages take memory only after their first use.
class SharedMemory {
public:
  /// Returns memory of `bytes` zeros. If the system does not give as much address space, returns less, but at least
  /// `least` bytes.
  static std::optional<SharedMemory> create(std::uint64_t bytes, std::uint64_t least);
  SharedMemory(SharedMemory &&other) noexcept : bytes_(other.bytes_) { other.bytes_ = {}; }
  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;
  SharedMemory &operator=(SharedMemory &&) = delete;
  ~SharedMemory();

  std::span<std::byte> bytes() const { return bytes_; }

private:
  explicit SharedMemory(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

/// The way in which a child ended.
struct ChildEnd {
  enum Kind { Exited, Signalled, TimedOut, NotStarted } kind;
  int code; ///< exit status, signal, or errno of the failed start
};

/// A child process that runs a function.
class Child {
public:
  /// Starts the child. The result of `body` is its exit status. The child does not run exit handlers or flush buffers.
  explicit Child(const std::function<int()> &body);
  /// Ends the child.
  ~Child();
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;

  /// Waits until the child has called handOver() or ended, for at most `seconds`. If it announces foreign code, waits
  /// for at most `foreignSeconds` after this.
  void wait(double seconds, double foreignSeconds);
  /// Returns true if the child has announced foreign code. Its later reports may be forged.
  bool runsForeignCode() const { return runsForeignCode_; }
  /// Returns the seconds that the parent has waited since the child announced foreign code.
  double foreignSeconds() const { return foreignSeconds_; }
  /// Kills the child unless it is ending by itself, and returns how it ended.
  ChildEnd end();

private:
  void reap();

  int pid_ = -1;
  int resultPipe_ = -1; ///< the child closes the other end when the result is complete
  bool isLate_ = false, runsForeignCode_ = false;
  double foreignSeconds_ = 0;
  ChildEnd end_{ChildEnd::NotStarted, 0};
};

/// In a child: announces to the parent that untrusted code follows. Called before enterSandbox().
void announceForeignCode();

/// In a child: lets the parent continue. After this the child only ends, which takes the system a while.
void handOver();

/// Limits the calling process from now on. It prints nothing, writes no files, dumps no core and gains no privileges.
/// It has at most `seconds` of processor time and `bytes` of additional address space. System calls that change files,
/// start programs or open connections fail. If the system refuses a limit, the others still hold.
void limitProcess(double seconds, std::uint64_t bytes);

/// Limits address space from now on to `bytes` more than the current size. Without /proc the current size is unknown,
/// and the limit stays as it was.
void limitAddressSpace(std::uint64_t bytes);

/// Ends a child. In the sandbox there is no other way out.
[[noreturn]] void leave(int status);

/// From now on, only memory management, signal return, abort(), handOver() and leave() work. Any other system call
/// raises SIGSYS, and so does waiting for a lock. Reading the time-stamp counter raises SIGSEGV. False if the system
/// has no such filter.
bool enterSandbox();

} // namespace mscclc::frontend

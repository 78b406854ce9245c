// A child process with limits: what runs in it cannot outlive, outgrow or outlast what it is given, nor touch anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace mscclc::frontend {

/// Anonymous memory that child processes share. Pages take up room only once touched.
class SharedMemory {
public:
  /// `bytes` of zeros, or less where the system does not give as much address space, but at least `least`.
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

/// How a child ended.
struct ChildEnd {
  enum Kind { Exited, Signalled, TimedOut, NotStarted } kind;
  int code; ///< exit status, signal, or errno of the failed start
};

/// A child process that runs a function.
class Child {
public:
  /// Starts it. What `body` returns is the exit status; the child's exit handlers and buffers are left alone.
  explicit Child(const std::function<int()> &body);
  /// Ends it.
  ~Child();
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;

  /// Waits until it has called handOver() or ended: at most `seconds`, and once it has announced foreign code at most
  /// `foreignSeconds` more.
  void wait(double seconds, double foreignSeconds);
  /// Whether it has announced foreign code. What it has said since then may be forged.
  bool runsForeignCode() const { return runsForeignCode_; }
  /// For how many seconds it was waited for since then.
  double foreignSeconds() const { return foreignSeconds_; }
  /// Kills it if it is not ending by itself, and tells how it ended.
  ChildEnd end();

private:
  void reap();

  int pid_ = -1;
  int resultPipe_ = -1; ///< closed at the other end when the result is there
  bool isLate_ = false, runsForeignCode_ = false;
  double foreignSeconds_ = 0;
  ChildEnd end_{ChildEnd::NotStarted, 0};
};

/// In a child: tells the parent that it goes on with code that is not trusted. Called before enterSandbox().
void announceForeignCode();

/// In a child: lets the parent go on, as there is nothing to come but the end, which takes the system a while.
void handOver();

/// Limits of the calling process from now on: nothing printed, nothing written to files, no core dump, no privileges
/// gained, at most `seconds` of processor time and `bytes` more address space than now. System calls that change files,
/// start programs or open connections fail. Where the system refuses a limit, the others still hold.
void limitProcess(double seconds, std::uint64_t bytes);

/// Address space from now on: `bytes` more than there is.
void limitAddressSpace(std::uint64_t bytes);

/// Ends a child. Once it is in the sandbox there is no other way out.
[[noreturn]] void leave(int status);

/// Leaves only what memory management, signal return, abort(), handOver() and leave() need. Any other system call
/// raises SIGSYS, waiting for a lock among them; reading the time-stamp counter raises SIGSEGV. False where the system
/// has no such filter.
bool enterSandbox();

} // namespace mscclc::frontend

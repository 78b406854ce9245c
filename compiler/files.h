// Reading and writing of files. An output is written completely or not at all.
#pragma once

#include "ir/diagnostics.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

namespace mscclc::driver {

/// An output that is being written. A regular file is written beside its place and renamed by commit(). Standard
/// output, devices and pipes are written directly.
class OutputFile {
public:
  /// Opens `path` ("-": standard output). After a failure, error() gives the reason.
  explicit OutputFile(const std::string &path);
  ~OutputFile(); ///< removes a file that was not committed
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  std::ostream &stream();
  /// Flushes and moves the file to its place. After a failure, returns false, sets error() and leaves no file.
  bool commit();
  const std::string &error() const { return error_; }

private:
  class Buffer;
  void fail(const char *what, int number);
  std::string path_, target_, temporary_, error_;
  int fd_ = -1;
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<std::ostream> stream_;
};

/// Writes `text` to standard output. If that fails, reports an error and returns false.
bool writeOut(const std::string &text, ir::DiagnosticEngine &diags);

/// Returns true if both paths lead to the same file, which may not exist yet. "-" is not a file.
bool isSameFile(const std::string &a, const std::string &b);

/// The largest input, in bytes. A plan of five million operations has about a quarter of it.
inline constexpr std::uint64_t maxInputBytes = std::uint64_t{4} << 30;
inline constexpr std::uint64_t maxStreamBytes = std::uint64_t{1} << 30;

/// Returns true if the last block of `read` contains no NUL. Plans and IR text contain no NULs. If there is one, the
/// parser reports an error, so reading on (perhaps through gigabytes of zeros) would not help.
bool looksLikeText(std::string_view read);

/// Reads all of `path` ("-": standard input) into `text`. Before each block, calls `goOn` with the text read so far,
/// and stops if that returns false. After a failure, returns false and sets `error`. It is a failure if a file has more
/// than maxInputBytes, or a pipe more than maxStreamBytes.
bool readWhole(const std::string &path, std::string &text, std::string &error,
               const std::function<bool(std::string_view)> &goOn = {});

} // namespace mscclc::driver

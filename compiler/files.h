// Reading and writing of files: an output appears whole or not at all.
#pragma once

#include "ir/diagnostics.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

namespace mscclc::driver {

/// An output being written. A regular file is written beside its place and renamed on commit(); standard output,
/// devices and pipes are written as they are.
class OutputFile {
public:
  /// Opens `path` ("-": standard output). On failure error() says why.
  explicit OutputFile(const std::string &path);
  ~OutputFile(); ///< drops what was not committed
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  std::ostream &stream();
  /// Flushes and puts the file in place. False on failure, with error() set and no file left.
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

/// Writes `text` to standard output. False, and an error, if that fails.
bool writeOut(const std::string &text, ir::DiagnosticEngine &diags);

/// Whether both paths lead to one file, there already or not. "-" names none.
bool isSameFile(const std::string &a, const std::string &b);

/// The largest input: a plan of five million operations is about a quarter of it.
inline constexpr std::uint64_t maxInputBytes = std::uint64_t{4} << 30;
inline constexpr std::uint64_t maxStreamBytes = std::uint64_t{1} << 30;

/// True if what was read last of `read` holds no NUL. No plan and no IR text does, so that there the reader of the text
/// finds an error: reading on, through gigabytes of zeros perhaps, would not help.
bool looksLikeText(std::string_view read);

/// Reads all of `path` ("-": standard input), or until `goOn`, asked about what is read so far, says no. On failure
/// returns false and sets `error`; more than maxInputBytes is one, or more than maxStreamBytes from a pipe.
bool readWhole(const std::string &path, std::string &text, std::string &error,
               const std::function<bool(std::string_view)> &goOn = {});

} // namespace mscclc::driver

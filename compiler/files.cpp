#include "compiler/files.h"

#include "compiler/diagnostics.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <streambuf>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mscclc::driver {
namespace {

/// While a file is written, these signals first remove it and then end the process.
constexpr std::array endingSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
std::array<char, PATH_MAX> fileUnderWay{};

void onEndingSignal(int signal) {
  if (fileUnderWay[0] != '\0')
    ::unlink(fileUnderWay.data());
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

/// Blocks the signals of `endingSignals` while the object exists.
class SignalsHeld {
public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : endingSignals)
      sigaddset(&held, signal);
    ::pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld &) = delete;
  SignalsHeld &operator=(const SignalsHeld &) = delete;

private:
  sigset_t before_;
};

/// Makes a temporary file in the folder of the final file. Returns -1 and sets errno after a failure. If a signal of
/// `endingSignals` ends the process later, it first removes the file.
int makeTemporary(std::string &name) {
  const SignalsHeld held;
  const int fd = ::mkstemp(name.data());
  if (fd < 0)
    return -1;
  if (name.size() < fileUnderWay.size())
    std::memcpy(fileUnderWay.data(), name.c_str(), name.size() + 1);
  for (const int signal : endingSignals) {
    struct sigaction action{};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) {
      action.sa_handler = onEndingSignal;
      ::sigaction(signal, &action, nullptr);
    }
  }
  return fd;
}

/// Returns a path with its symbolic links followed, also for a file that does not exist yet. If the links form a
/// circle, returns an empty path and sets errno.
std::string followLinks(const std::string &path) {
  namespace fs = std::filesystem;
  fs::path at = path;
  std::error_code error;
  for (int links = 0; links < 40; ++links) {
    const fs::path target = fs::read_symlink(at, error);
    if (error)
      return at.string();
    at = at.parent_path() / target;
  }
  errno = ELOOP;
  return {};
}

} // namespace

/// A buffer for a file descriptor. It keeps the first error. Pieces at least as large as the buffer are written
/// directly.
class OutputFile::Buffer : public std::streambuf {
public:
  explicit Buffer(int fd) : fd_(fd), storage_(std::make_unique_for_overwrite<char[]>(capacity)) {
    setp(storage_.get(), storage_.get() + capacity);
  }
  int error() const { return error_; }

protected:
  int overflow(int c) override {
    if (!drain())
      return traits_type::eof();
    if (c != traits_type::eof()) {
      *pptr() = static_cast<char>(c);
      pbump(1);
    }
    return 0;
  }
  std::streamsize xsputn(const char *data, std::streamsize size) override {
    if (size > epptr() - pptr() && (!drain() || size >= static_cast<std::streamsize>(capacity)))
      return !error_ && writeAll(data, static_cast<std::size_t>(size)) ? size : 0;
    std::memcpy(pptr(), data, static_cast<std::size_t>(size));
    pbump(static_cast<int>(size));
    return size;
  }
  int sync() override { return drain() ? 0 : -1; }

private:
  bool drain() {
    const bool ok = writeAll(pbase(), static_cast<std::size_t>(pptr() - pbase()));
    setp(storage_.get(), storage_.get() + capacity);
    return ok;
  }
  bool writeAll(const char *data, std::size_t size) {
    while (size != 0 && error_ == 0) {
      const ssize_t n = ::write(fd_, data, size);
      if (n < 0) {
        if (errno != EINTR)
          error_ = errno;
        continue;
      }
      data += n;
      size -= static_cast<std::size_t>(n);
    }
    return error_ == 0;
  }
  static constexpr std::size_t capacity = std::size_t{1} << 15;

  int fd_;
  int error_ = 0;
  std::unique_ptr<char[]> storage_;
};

void OutputFile::fail(const char *what, int number) {
  if (error_.empty())
    error_ = std::string(what) + " '" + path_ + "': " + std::strerror(number);
}

OutputFile::OutputFile(const std::string &path) : path_(path) {
  if (path == "-") {
    path_ = "standard output";
    fd_ = STDOUT_FILENO;
  } else {
    struct stat status{};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) {
      fail("cannot write", EISDIR);
    } else if (exists && !S_ISREG(status.st_mode)) {
      fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (fd_ < 0)
        fail("cannot write", errno);
    } else {
      // If a symbolic link leads to a file, the file is replaced, not the link.
      target_ = followLinks(path);
      if (target_.empty() || (exists && ::access(path.c_str(), W_OK) != 0)) {
        fail("cannot write", errno);
        return;
      }
      if (const std::string folder = std::filesystem::path(target_).parent_path(); !exists && !folder.empty()) {
        std::error_code failed; // ignored, because opening the file reports a better error
        std::filesystem::create_directories(folder, failed);
      }
      temporary_ = target_ + ".XXXXXX";
      fd_ = makeTemporary(temporary_);
      if (fd_ < 0) {
        const int number = errno;
        temporary_.clear();
        fail("cannot write", number);
        return;
      }
      ::fcntl(fd_, F_SETFD, FD_CLOEXEC);
      const mode_t mask = ::umask(0);
      ::umask(mask);
      ::fchmod(fd_, exists ? status.st_mode & 07777 : 0666 & ~mask);
    }
  }
  if (fd_ >= 0) {
    buffer_ = std::make_unique<Buffer>(fd_);
    stream_ = std::make_unique<std::ostream>(buffer_.get());
  }
}

OutputFile::~OutputFile() {
  if (fd_ > STDERR_FILENO)
    ::close(fd_);
  if (!temporary_.empty())
    ::unlink(temporary_.c_str());
  fileUnderWay[0] = '\0';
}

std::ostream &OutputFile::stream() {
  return *stream_;
}

bool OutputFile::commit() {
  if (!error_.empty() || !stream_)
    return false;
  stream_->flush();
  if (buffer_->error() != 0)
    fail("cannot write", buffer_->error());
  if (fd_ > STDERR_FILENO) {
    const int result = ::close(fd_);
    fd_ = -1;
    if (result != 0)
      fail("cannot write", errno);
  }
  if (error_.empty() && !temporary_.empty()) {
    const SignalsHeld held;
    fileUnderWay[0] = '\0';
    if (::rename(temporary_.c_str(), target_.c_str()) != 0)
      fail("cannot write", errno);
    else
      temporary_.clear();
  }
  return error_.empty();
}

bool writeOut(const std::string &text, ir::DiagnosticEngine &diags) {
  OutputFile output("-");
  output.stream() << text;
  if (output.commit())
    return true;
  return diags.report(diag::cannot_write, {}, {output.error()});
}

bool isSameFile(const std::string &a, const std::string &b) {
  namespace fs = std::filesystem;
  if (a == "-" || b == "-")
    return false;
  std::error_code error;
  if (fs::equivalent(a, b, error))
    return true;
  // Compares the paths, because one of the files may not exist yet.
  const auto whole = [&](const std::string &path) {
    const fs::path absolute = fs::absolute(followLinks(path), error);
    return error ? fs::path() : fs::weakly_canonical(absolute, error);
  };
  const fs::path one = whole(a);
  return !error && one == whole(b) && !error;
}

static constexpr std::size_t blockBytes = std::size_t{1} << 16;

bool looksLikeText(std::string_view read) {
  return read.substr(read.size() - std::min(read.size(), blockBytes)).find('\0') == read.npos;
}

bool readWhole(const std::string &path, std::string &text, std::string &error,
               const std::function<bool(std::string_view)> &goOn) {
  const bool standardInput = path == "-";
  const int fd = standardInput ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto failedAs = [&](const char *reason) {
    error = std::string("cannot read '") + (standardInput ? "standard input" : path) + "': " + reason;
    if (!standardInput && fd >= 0)
      ::close(fd);
    return false;
  };
  const auto failed = [&](int number) { return failedAs(std::strerror(number)); };
  if (fd < 0)
    return failed(errno);
  struct stat status{};
  if (::fstat(fd, &status) != 0)
    return failed(errno);
  if (S_ISDIR(status.st_mode))
    return failed(EISDIR);
  // A device may be endless, so an input must be a file or a pipe.
  if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && !standardInput))
    return failedAs("it is neither a file nor a pipe");
  const bool regular = S_ISREG(status.st_mode);
  if (regular && static_cast<std::uint64_t>(status.st_size) > maxInputBytes)
    return failed(EFBIG);
  const std::uint64_t most = regular ? maxInputBytes : maxStreamBytes;
  std::vector<char> chunk(blockBytes);
  while (!goOn || goOn(text)) {
    if (text.size() > most)
      return failed(EFBIG);
    if (regular && !text.empty()) // reserves memory only after the first block, because `goOn` may stop there
      text.reserve(static_cast<std::size_t>(status.st_size));
    const ssize_t n = ::read(fd, chunk.data(), chunk.size());
    if (n == 0)
      break;
    if (n < 0) {
      if (errno == EINTR)
        continue;
      return failed(errno);
    }
    text.append(chunk.data(), static_cast<std::size_t>(n));
  }
  if (!standardInput)
    ::close(fd);
  return true;
}

} // namespace mscclc::driver

#include "frontend/clang/source_files.h"

#include "frontend/limits.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/VirtualFileSystem.h"

using llvm::vfs::File;
using llvm::vfs::FileSystem;
using llvm::vfs::Status;

namespace mscclc::frontend {
namespace {

/// The files on disk. Only plain files can be opened, because a device or a pipe might block or never end. A file that
/// may not be read seems to be absent. Folders are visible, but this does not reveal their contents.
class PlainFiles : public llvm::vfs::ProxyFileSystem {
public:
  PlainFiles(llvm::IntrusiveRefCntPtr<FileSystem> below, const std::optional<ir::ReadableFiles> &readable)
      : ProxyFileSystem(std::move(below)), readable_(readable) {}

  llvm::ErrorOr<Status> status(const llvm::Twine &path) override {
    auto status = ProxyFileSystem::status(path);
    if (status && !status->isDirectory() && !mayRead(path))
      return std::make_error_code(std::errc::no_such_file_or_directory);
    return status;
  }
  bool exists(const llvm::Twine &path) override { return static_cast<bool>(status(path)); }
  llvm::ErrorOr<std::unique_ptr<File>> openFileForRead(const llvm::Twine &path) override {
    const auto status = this->status(path);
    if (!status)
      return status.getError();
    if (!status->isRegularFile() && !status->isDirectory())
      return std::make_error_code(std::errc::operation_not_supported);
    if (status->getSize() > maxSourceBytes)
      return std::make_error_code(std::errc::file_too_large);
    return ProxyFileSystem::openFileForRead(path);
  }

private:
  bool mayRead(const llvm::Twine &path) const { return !readable_ || readable_->holds(path.str()); }

  const std::optional<ir::ReadableFiles> &readable_;
};

/// Adds a second name to a folder.
class Mount : public llvm::vfs::ProxyFileSystem {
public:
  Mount(llvm::IntrusiveRefCntPtr<FileSystem> below, std::string name, std::string directory)
      : ProxyFileSystem(std::move(below)), name_(std::move(name)), directory_(std::move(directory)) {}

  llvm::ErrorOr<Status> status(const llvm::Twine &path) override {
    std::string real;
    if (!resolve(path, real))
      return ProxyFileSystem::status(path);
    auto found = ProxyFileSystem::status(real);
    return found ? Status::copyWithNewName(*found, path) : found;
  }
  bool exists(const llvm::Twine &path) override { return static_cast<bool>(status(path)); }
  llvm::ErrorOr<std::unique_ptr<File>> openFileForRead(const llvm::Twine &path) override {
    std::string real;
    if (!resolve(path, real))
      return ProxyFileSystem::openFileForRead(path);
    return File::getWithPath(ProxyFileSystem::openFileForRead(real), path);
  }

private:
  bool resolve(const llvm::Twine &path, std::string &real) const {
    llvm::SmallString<128> storage;
    const llvm::StringRef text = path.toStringRef(storage);
    if (text != name_ && !isBelow(text, name_))
      return false;
    real = directory_ + text.substr(name_.size()).str();
    return true;
  }

  std::string name_, directory_;
};

} // namespace

bool isBelow(llvm::StringRef path, llvm::StringRef directory) {
  return path.consume_front(directory) && path.starts_with("/");
}

llvm::IntrusiveRefCntPtr<FileSystem> sourceFiles(const FrontendOptions &options, const std::string &dslDirectory,
                                                 const std::optional<ir::ReadableFiles> &readable) {
  const auto plain = llvm::makeIntrusiveRefCnt<PlainFiles>(llvm::vfs::getRealFileSystem(), readable);
  const auto mounted = llvm::makeIntrusiveRefCnt<Mount>(plain, dslMount, dslDirectory);
  if (!options.stdinText)
    return mounted;
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  if (const auto folder = plain->getCurrentWorkingDirectory())
    memory->setCurrentWorkingDirectory(*folder);
  memory->addFile(stdinName, 0, llvm::MemoryBuffer::getMemBuffer(*options.stdinText, stdinName));
  auto both = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(mounted);
  both->pushOverlay(memory);
  return both;
}

} // namespace mscclc::frontend

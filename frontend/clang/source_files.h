// The files that Clang can see.
#pragma once

#include "frontend/frontend.h"

#include "ir/readable_files.h"

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace llvm::vfs {
class FileSystem;
}

namespace mscclc::frontend {

/// The name of standard input. For Clang it is a file of the current folder.
inline constexpr const char *stdinName = "<stdin>";

/// Clang's name for the folder of the DSL's headers. It is the same wherever the folder really is, so headers that are
/// precompiled in one place can be used in another.
inline constexpr const char *dslMount = "/mscclc-dsl";

/// Returns a file system with plain files, the text of standard input, and the DSL's headers at dslMount. Devices,
/// pipes and huge files cannot be opened. Once `readable` is set, all files outside it are hidden. `readable` must
/// outlive the result.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> sourceFiles(const FrontendOptions &options,
                                                            const std::string &dslDirectory,
                                                            const std::optional<ir::ReadableFiles> &readable);

/// Returns true if `path` is inside `directory`.
bool isBelow(llvm::StringRef path, llvm::StringRef directory);

} // namespace mscclc::frontend

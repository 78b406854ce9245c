// The files that Clang sees.
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

/// The name of standard input, a file of the current folder to Clang.
inline constexpr const char *stdinName = "<stdin>";

/// The folder of the DSL's headers to Clang, wherever they are: headers precompiled in one place serve in another.
inline constexpr const char *dslMount = "/mscclc-dsl";

/// Plain files as they are, the text of standard input, and the DSL's headers at dslMount. Devices, pipes and huge
/// files cannot be opened; from when `readable` is set, no other files than those are there. It must outlive the files.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> sourceFiles(const FrontendOptions &options,
                                                            const std::string &dslDirectory,
                                                            const std::optional<ir::ReadableFiles> &readable);

/// Whether `path` names something inside of `directory`.
bool isBelow(llvm::StringRef path, llvm::StringRef directory);

} // namespace mscclc::frontend

// The texts of the files that a program's places are in.
#pragma once

#include "ir/readable_files.h"
#include "ir/source_map.h"

#include <string>

namespace mscclc::ir {

/// Returns the contents of file `index` that `sources` keeps. Otherwise reads the file, if it is one of `readable`
/// (null: no file is). Returns no text for a device, a pipe or a huge file, because the input may have invented the
/// name.
std::string sourceText(const SourceMap &sources, std::uint32_t index, const ReadableFiles *readable);

} // namespace mscclc::ir

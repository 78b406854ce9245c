// The texts of the files to which a program's locations refer.
#pragma once

#include "ir/readable_files.h"
#include "ir/source_map.h"

#include <string>

namespace mscclc::ir {

/// Returns the contents that `sources` keeps for file `index`. If there are none, reads the file if `readable` has it
/// (null: it has no file). Returns no text for a device, a pipe or a huge file, because the input may have invented the
/// name.
std::string sourceText(const SourceMap &sources, std::uint32_t index, const ReadableFiles *readable);

} // namespace mscclc::ir

// The texts of the files that a program's places are in.
#pragma once

#include "ir/readable_files.h"
#include "ir/source_map.h"

#include <string>

namespace mscclc::ir {

/// What `sources` keeps as the contents of file `index`, else what the file holds, if it is one of `readable` (null: no
/// file is). The name may be the input's invention, so a device, a pipe or a huge file has no text.
std::string sourceText(const SourceMap &sources, std::uint32_t index, const ReadableFiles *readable);

} // namespace mscclc::ir

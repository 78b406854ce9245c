#include "ir/source_text.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace mscclc::ir {
namespace {

constexpr std::uintmax_t maxFileBytes = std::uintmax_t{32} << 20;

std::string textOf(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > maxFileBytes || error)
    return {};
  // Skip files of size 0, because files in /proc have this size and may block.
  if (std::filesystem::file_size(path, error) == 0)
    return {};
  std::ifstream in(path, std::ios::binary);
  std::ostringstream buffer;
  buffer << in.rdbuf();
  return std::move(buffer).str();
}

} // namespace

std::string sourceText(const SourceMap &sources, std::uint32_t index, const ReadableFiles *readable) {
  if (const std::string *kept = sources.contents(index))
    return *kept;
  const std::string &path = sources.files()[index];
  return readable && readable->holds(path) ? textOf(path) : std::string();
}

} // namespace mscclc::ir

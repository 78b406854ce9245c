#include "kernels/library_file.h"

#include "process/file.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace mscclc::rt {
namespace {

bool readAt(int file, void *to, size_t bytes, uint64_t from) {
  return ::pread(file, to, bytes, static_cast<off_t>(from)) == static_cast<ssize_t>(bytes);
}

/// Returns the least size of an ELF file, in bytes: the end of its tables, and of all parts that they describe.
/// UINT64_MAX if a table is incomplete.
uint64_t endOfTables(int file, const ElfW(Ehdr) & header) {
  uint64_t end = header.e_shoff + uint64_t{header.e_shnum} * header.e_shentsize;
  std::vector<ElfW(Phdr)> parts(header.e_phnum);
  if (header.e_phentsize != sizeof(ElfW(Phdr)) ||
      !readAt(file, parts.data(), parts.size() * sizeof(ElfW(Phdr)), header.e_phoff))
    return UINT64_MAX;
  for (const ElfW(Phdr) &part : parts)
    end = std::max<uint64_t>(end, part.p_offset + part.p_filesz);
  return end;
}

} // namespace

Status checkWhole(const char *path) {
  const File file(::open(path, O_RDONLY | O_CLOEXEC));
  struct stat facts{};
  ElfW(Ehdr) header{};
  if (file.get() < 0 || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      !readAt(file.get(), &header, sizeof(header), 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return {};
  if (endOfTables(file.get(), header) <= static_cast<uint64_t>(facts.st_size))
    return {};
  return failure(MSCCLC_ERROR_LOAD, "%s: the file is not whole: of its parts some lie beyond its %llu bytes", path,
                 wide(facts.st_size));
}

} // namespace mscclc::rt

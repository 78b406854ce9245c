// A file descriptor that closes itself.
#pragma once

#include <unistd.h>
#include <utility>

namespace mscclc::rt {

class File {
public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File &&other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File &operator=(File &&other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
  }

  int get() const { return descriptor_; }
  bool valid() const { return descriptor_ >= 0; }

private:
  int descriptor_ = -1;
};

} // namespace mscclc::rt

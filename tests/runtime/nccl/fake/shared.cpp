#include "shared.h"

#include <chrono>
#include <fcntl.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace fake {

void pause() {
  std::this_thread::sleep_for(std::chrono::microseconds(20));
}

bool Shared::barrier(uint32_t ranks) {
  const uint32_t mine = round;
  if (++arrived == ranks) {
    arrived = 0;
    ++round;
  }
  while (round == mine && aborted == 0)
    pause();
  return aborted == 0;
}

Shared *attach(const std::string &name, uint32_t ranks) {
  const int file = ::shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0)
    return nullptr;
  void *memory = MAP_FAILED;
  if (::ftruncate(file, sizeof(Shared)) == 0)
    memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED)
    return nullptr;
  auto *const shared = static_cast<Shared *>(memory);
  if (++shared->attached == ranks)
    ::shm_unlink(name.c_str());
  return shared;
}

void detach(Shared *shared) {
  ::munmap(shared, sizeof(Shared));
}

} // namespace fake

#include "device.h"

namespace mscclc::perf {

std::unique_ptr<Graphs> capture(const runtime::Communicator &, const std::function<void()> &) {
  throw runtime::Error(MSCCLC_ERROR_UNSUPPORTED, "this build has no CUDA, and so no graphs");
}
double copyBandwidth(int, uint64_t) {
  return 0;
}
uint32_t deviceCount() {
  return 0;
}
uint32_t multiprocessors(int) {
  return 0;
}
void useDevice(int) {}
std::string deviceName(int) {
  return "host";
}
void prepareProcess() {}

} // namespace mscclc::perf

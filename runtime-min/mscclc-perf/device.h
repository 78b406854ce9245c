// What the tool asks of the device itself, beside the runtime: graphs, and how fast it copies.
#pragma once

#include "mscclc/runtime.hpp"

#include <functional>
#include <memory>

namespace mscclc::perf {

/// Launches captured once and replayed, on the communicator's own streams.
class Graphs {
public:
  virtual ~Graphs() = default;
  virtual void replay() = 0;
};

/// Captures what `launches` starts. Throws runtime::Error where there are no graphs.
std::unique_ptr<Graphs> capture(const runtime::Communicator &communicator, const std::function<void()> &launches);

/// Bytes a second that the device copies from itself to itself, with copies of this size; 0 where there is no device.
double copyBandwidth(int device, uint64_t bytes);
/// Devices of this machine.
uint32_t deviceCount();
/// Multiprocessors of a device; 0 where that is not known.
uint32_t multiprocessors(int device);
/// What this thread asks of CUDA is of this device from now on. Throws runtime::Error where there is no such device.
void useDevice(int device);
/// "NVIDIA H100 80GB HBM3", or "host".
std::string deviceName(int device);
/// To be called before anything else uses the device.
void prepareProcess();

} // namespace mscclc::perf

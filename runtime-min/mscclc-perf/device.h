// The device functions that the tool needs beside the runtime: graphs, and the speed of copies.
#pragma once

#include "mscclc/runtime.hpp"

#include <functional>
#include <memory>

namespace mscclc::perf {

/// Launches that were captured once and are replayed, on the communicator's own streams.
class Graphs {
public:
  virtual ~Graphs() = default;
  virtual void replay() = 0;
};

/// Captures the launches that `launches` starts. Throws runtime::Error if the platform has no graphs.
std::unique_ptr<Graphs> capture(const runtime::Communicator &communicator, const std::function<void()> &launches);

/// Returns the rate, in bytes a second, of copies of `bytes` bytes within the device; 0 if there is no device.
double copyBandwidth(int device, uint64_t bytes);
/// Returns the number of devices of this machine.
uint32_t deviceCount();
/// Returns the number of multiprocessors of a device; 0 if it is not known.
uint32_t multiprocessors(int device);
/// Makes `device` the current device of this thread. Throws runtime::Error if there is no such device.
void useDevice(int device);
/// Returns "NVIDIA H100 80GB HBM3", or "host".
std::string deviceName(int device);
/// Sets up the process. Must be called before anything else uses the device.
void prepareProcess();

} // namespace mscclc::perf

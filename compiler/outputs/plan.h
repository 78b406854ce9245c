#pragma once

#include "compiler/outputs/outputs.h"

namespace mscclc::driver {

/// Writes the job's program as an MSCCL++ plan to `path`.
bool writePlanTo(Job &job, const std::string &path);

} // namespace mscclc::driver

// Diagnostics of the reader of MSCCL schedules in XML.
#pragma once

#include "ir/diagnostics.h"

namespace mscclc::xml::diag {
#define DIAGNOSTICS_FILE "frontend/xml/diagnostics.def"
#include "ir/declare_diagnostics.h"
} // namespace mscclc::xml::diag

// Decides by a call's configuration whether a kernel may run the call. The configuration is ncclCollConfig_t, a
// parameter of the functions whose names end in Config.
#pragma once

#include "call.h"

namespace mscclc::nccl {

/// Returns the call with its configuration. `config` is the program's configuration, or null. A kernel may run the call
/// if the configuration only limits the number of blocks. Such a configuration is copied into the call, because the
/// call may be passed on after the program's configuration is gone. NCCL runs a call whose configuration names an
/// algorithm, a policy, an event or an extension, or has an unknown version. Such a call is passed on before the
/// program's call returns. All ranks decide the same, because NCCL requires the same configuration on all of them.
Call withConfig(Call call, const void *config);

} // namespace mscclc::nccl

// What a call's configuration (ncclCollConfig_t, of NCCL's functions that end in Config) means for who runs it.
#pragma once

#include "call.h"

namespace mscclc::nccl {

/// The call with its configuration, null or of the program's. A kernel may run it if the configuration asks for no more
/// than a largest number of blocks: that is kept with the call, which may be passed on after the program's is gone. One
/// that names an algorithm, a policy, an event or an extension is NCCL's, and so is one of a version that is not known:
/// such a call is passed on before it returns. All ranks come to the same, as NCCL demands the same of them.
Call withConfig(Call call, const void *config);

} // namespace mscclc::nccl

// The language's header and the device headers go into one file: each name means one thing in its own namespace.
#include "mscclc/chunks.hpp"

#include "mscclc/device.cuh"

#include <type_traits>

using namespace mscclc;

static_assert(!std::is_same_v<Chunk, device::Chunk>);

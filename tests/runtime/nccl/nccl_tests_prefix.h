// What nvcc gives nccl-tests without an include.
#pragma once

#include <algorithm>
#include <cstring>
#include <cuda_runtime.h>

using std::max;
using std::min;

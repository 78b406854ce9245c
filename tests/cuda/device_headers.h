// What is precompiled for kernels on the CPU stand-in.
#include "mscclc/device.cuh"

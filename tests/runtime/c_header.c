/* The C interface is C. */
#include "mscclc/runtime.h"

int32_t create_nothing(void) {
  MscclcCommunicatorOptions options;
  mscclc_communicator_options_init(&options);
  return mscclc_communicator_create(&options, (MscclcCommunicator **)0);
}

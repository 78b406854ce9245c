/* The C interface is C. */
#include "mscclc/runtime.h"

int32_t create_nothing(void) {
  MscclcWorldOptions options;
  mscclc_world_options_init(&options);
  return mscclc_world_create(&options, (MscclcWorld **)0);
}

#define BEFORE
#include <mscclc/dsl.hpp>

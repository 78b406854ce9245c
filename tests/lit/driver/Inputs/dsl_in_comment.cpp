// A comment that goes on: \
#include <mscclc/dsl.hpp>
struct Chunk;
#include <mscclc/dsl.hpp>

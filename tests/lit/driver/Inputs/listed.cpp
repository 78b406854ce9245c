#include <mscclc/dsl.hpp>
using namespace mscclc;
enum class Mode { Fast, Slow };

/// Does nothing.
MSCCLC_ALGORITHM void listed(int ranks = 4, Mode mode = Mode::Slow) {}

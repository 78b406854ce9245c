// Catch2 v2 needs its main compiled once; v3 brings its own.
#ifndef MSCCLC_CATCH2_V3
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#else
namespace {
[[maybe_unused]] int keepsTheLibraryNonEmpty;
}
#endif

// Read before an algorithm when mscclc evaluates it, and by nobody else.
//
// libstdc++ keeps code of std::string and its allocator in its shared library, which an algorithm cannot call; with its
// assertions on, it does so for the allocator whatever -D_GLIBCXX_EXTERN_TEMPLATE says.
#pragma once
#pragma GCC system_header

#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
#endif

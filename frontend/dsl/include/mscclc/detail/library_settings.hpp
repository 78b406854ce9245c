// Included before an algorithm when mscclc evaluates it, and at no other time.
//
// libstdc++ keeps code of std::string and its allocator in its shared library, which an algorithm cannot call. With
// assertions on, it does so for the allocator whatever -D_GLIBCXX_EXTERN_TEMPLATE says.
#pragma once
#pragma GCC system_header

#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
#endif

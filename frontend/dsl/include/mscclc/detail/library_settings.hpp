// mscclc includes this header before an algorithm that it evaluates, and at no other time.
//
// libstdc++ keeps code of std::string and its allocator in its shared library, which an algorithm cannot call. With
// assertions on, it keeps the allocator's code there whatever -D_GLIBCXX_EXTERN_TEMPLATE says.
#pragma once
#pragma GCC system_header

#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
#endif

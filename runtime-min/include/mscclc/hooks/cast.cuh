// Copies of elements in another type.
#pragma once

#include "mscclc/hooks.cuh"

namespace mscclc::hooks {

/// A hook of elements. It writes the elements of the output to "cast", as floats of type To. The output is unchanged.
template <class To> struct Cast {
  template <class V> static MSCCLC_DEVICE V apply(V value, uint64_t index, To *cast) {
    using namespace device;
    const typename detail::Number<To>::Sum wide[1] = {static_cast<typename detail::Number<To>::Sum>(value)};
    To narrow[1];
    detail::Number<To>::narrow(wide, narrow);
    detail::storeAs<To>(cast + index, narrow[0]);
    return value;
  }
};

} // namespace mscclc::hooks

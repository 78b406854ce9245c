// Multiplication by one number.
#pragma once

#include "mscclc/hooks.cuh"

namespace mscclc::hooks {

/// A hook of elements. It multiplies them by "factor", one number of the type in which elements are added up. Integers
/// wrap around.
struct Scale {
  template <class V> static MSCCLC_DEVICE V apply(V value, uint64_t, const V *factor) {
    return device::Prod::apply(value, device::detail::loadAs<V>(factor));
  }
};

} // namespace mscclc::hooks
